#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig model observe: the services of running processes are counted, and their demands are those
# that the program knows. Also of ranks of MPI, and of several threads.
# timeout: 150
. tests/system/lib.sh
program=$B/tests/system/demands
[ -x "$program" ] || skip_all 'no program with services'
own_host

# serves NAME [THREADS]: job NAME, in the background, until $TMPDIR/NAME.end
serves() {
	rm -f "$TMPDIR/$1.end"
	omig run --job "$1" -- "$program" "$TMPDIR/$1.end" "${2:-1}" </dev/null \
		>"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err" &
	job=$!
}
has_probes() { # NAME
	omig tree --job "$1" >"$TMPDIR/tree" && grep -q demands "$TMPDIR/tree" &&
		omig probes --list | grep -q loop_start
}
# has_demands NAME FILE: compares the last line of JSON in FILE with the mean CPU times that the
# program printed. Each interval contains its mean, and is not wide.
has_demands() {
	python3 -c '
import json, sys
known = {}
for line in open(sys.argv[1]):
    name, n, mean = line.split()
    known[name] = float(mean)
last = json.loads(open(sys.argv[2]).read().splitlines()[-1])
process = last["processes"][0]
sys.stdout.write(json.dumps(process["estimate"]) + "\n" + json.dumps(known))
services = process["estimate"]["services"]
assert sorted(s["service"] for s in services) == sorted(known)
for s in services:
    assert s["low"] < known[s["service"]] < s["high"], s
    assert s["high"] - s["low"] < max(known.values()), s' "$TMPDIR/$1.out" "$2"
}

serves one
check 'the program is watched' until_true 30 has_probes one
check 'a service that no process has is named' says \
	"no process has two probes of the region 'buy'" \
	omig model observe --region loop --region buy --for 1s
check 'which is status 4' status_is 4 omig model observe --region buy --for 1s
check 'too many services are refused' status_is 2 omig model observe --region 1 --region 2 \
	--region 3 --region 4 --region 5 --region 6 --region 7 --region 8 --region 9 --region 10 \
	--region 11
check 'it takes no file' status_is 2 omig model observe "$TMPDIR/file.csv"
check 'periods are observed' omig model observe --job one --every 300ms --for 15s --level 0.9999 \
	--json -o "$TMPDIR/one.csv"
cp "$TMPDIR/check.out" "$TMPDIR/one.json"
check 'a chosen service alone has counts' says '^loop  *[0-9]+  *[0-9]+  *0.0' \
	omig model observe --job one --region loop --every 300ms --for 2s
check 'and is named without its probes, too' says '^loop_start..loop_stop  *[0-9]+  *[0-9]+  *0.0' \
	omig model observe --job one --region loop_start..loop_stop --every 300ms --for 2s
: >"$TMPDIR/one.end"
wait $job
check 'demands are those of the program' has_demands one "$TMPDIR/one.json"
check 'by a method for one thread' grep -q '"method":"gls"' "$TMPDIR/one.json"
check 'the file is one of omig model estimate' says \
	'^compute takes most of the busy time, .*: a call of it needs 0.00' \
	omig model estimate "$TMPDIR/one.csv"
check 'the first period has no estimate, with the reason' says '"estimate":null,"unknown":"' \
	head -n 1 "$TMPDIR/one.json"

serves three 3
check 'a program with threads is watched' until_true 30 has_probes three
check 'its periods are observed' omig model observe --job three --every 300ms --for 9s \
	--level 0.9999 --json
cp "$TMPDIR/check.out" "$TMPDIR/three.json"
ends() { # omig model observe ends with the program
	omig model observe --job three --every 200ms >"$TMPDIR/ends.out" 2>"$TMPDIR/ends.err" &
	observe=$!
	until_true 30 grep -q COMPLETED "$TMPDIR/ends.out"
	: >"$TMPDIR/three.end"
	wait $job
	wait $observe && grep 'the processes have ended' "$TMPDIR/ends.err"
}
check 'it ends with the processes' ends
check 'demands of several threads are those of the program' has_demands three "$TMPDIR/three.json"

ranks=$B/examples/loops.openmpi
if [ -x "$ranks" ]; then
	omig run --job ranks -- mpirun.openmpi --oversubscribe -n 2 "$ranks" --passes 100000 \
		--work 1000 --from "$TMPDIR/begin" --log "$TMPDIR/log" >"$TMPDIR/out" \
		2>"$TMPDIR/err" </dev/null &
	: >"$TMPDIR/begin"
	check 'ranks are watched' until_true 30 ranks_are 2
	check 'each of them has its file' says 'ranks.rank1@.*csv has the periods of rank1@' \
		omig model observe --job ranks --every 300ms --for 4s -o "$TMPDIR/ranks.csv"
	check 'which has its services' grep -l 'begun:compute,.*completed:compute' \
		"$TMPDIR"/ranks.rank0@*.csv "$TMPDIR"/ranks.rank1@*.csv
else
	skip 'ranks are watched' 'no example program with probes'
fi
tap_end
