#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig run --summary: its values are those of an independent count. Output, status and signals of
# the program are unchanged. Data that the monitor lost are reported, and shown with the last values
# before.
# timeout: 300
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
need python3
F=$B/tests/system/foreign

# of FILE EXPRESSION: of the summary s; w is its first section, p the processes of that by rank
of() {
	python3 - "$@" <<'END'
import json, sys
s = json.load(open(sys.argv[1]))
assert s["format"] == "omig-summary" and s["version"] == 1
w = s["sections"][0] if s["sections"] else {"processes": []}
p = w["processes"]
value = eval("(" + sys.argv[2] + ")")
print(json.dumps(value))
sys.exit(0 if value else 1)
END
}

# --- figures
# shellcheck disable=SC2016 # of that shell
echo 'LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$TALLY_LIBRARY exec "$@"' >"$TMPDIR/beside"
tallied() { # FLAVOUR: the same calls and bytes in the summary
	cat "$TMPDIR/tally.$1".* | sort >"$TMPDIR/tallied"
	python3 - "$TMPDIR/$1.json" >"$TMPDIR/summed" <<'END'
import json, sys
for p in json.load(open(sys.argv[1]))["sections"][0]["processes"]:
    assert p["final"]
    for c in p["calls"]:
        print("call", p["rank"], c["name"], "count", c["count"], "out", c["bytes_out"], "in",
              c["bytes_in"])
END
	sort -o "$TMPDIR/summed" "$TMPDIR/summed"
	awk '{ print $3 }' "$TMPDIR/summed" | sort -u >"$TMPDIR/names"
	[ "$(wc -l <"$TMPDIR/names")" -gt 2 ] &&
		grep -wFf "$TMPDIR/names" "$TMPDIR/tallied" | diff - "$TMPDIR/summed"
}
for f in $flavours; do
	run() {
		TALLY=$TMPDIR/tally.$f TALLY_LIBRARY=$F/libtally.$f.so \
			timeout $((60 * PATIENCE)) omig run --job "steady.$f" \
			--summary="$TMPDIR/$f.json" -- "mpirun.$f" -n 3 sh \
			"$TMPDIR/beside" "$T/steady.$f" --rounds 200 \
			>"$TMPDIR/$f.out" 2>"$TMPDIR/$f.err"
	}
	check "$f: the program ends" run
	steady "$f" 3 --rounds 200 >"$TMPDIR/$f.plain" 2>/dev/null
	check "$f: the output is the program's" diff "$TMPDIR/$f.plain" "$TMPDIR/$f.out"
	who="job steady\.$f: steady[.a-z]*, 3 ranks on 1 host"
	check "$f: the first line answers" grep -Eq \
		"^omig: $who, .*: [0-9.]+ % in MPI, imbalance [0-9.]+ % \(rank [0-2] computes" \
		"$TMPDIR/$f.err"
	check "$f: its calls have their sizes" of "$TMPDIR/$f.json" \
		'sum(v["count"] for v in s["sizes"] if v["name"] == "MPI_Allreduce") ==
		 sum(c["count"] for q in p for c in q["calls"] if c["name"] == "MPI_Allreduce") > 0
		 and all(v["count"] * v["from"] <= v["bytes"] and (v["to"] < 0 or
		 v["bytes"] <= v["count"] * v["to"]) for v in s["sizes"])'
	check "$f: which are a table" grep -q \
		"^Calls by the size of their messages, of all ranks" "$TMPDIR/$f.err"
	check "$f: nothing is missing" of "$TMPDIR/$f.json" 's["missing"] == []'
	if [ -e "$F/libtally.$f.so" ]; then
		check "$f: calls and bytes are those of another count" tallied "$f"
	else
		skip "$f: calls and bytes are those of another count" 'make faults-tools builds it'
	fi
	check "$f: bytes between ranks are those of the calls" of "$TMPDIR/$f.json" \
		'all(sum(a["bytes_out"] for a in r["partners"]) ==
			sum(c["bytes_out"] for c in r["calls"] if c["name"] == "MPI_Sendrecv") > 0
			for r in p)'
	check "$f: no rank is in MPI for longer than it lives" of "$TMPDIR/$f.json" \
		'all(0 < sum(c["seconds"] for c in r["calls"]) < r["seconds"] for r in p)'
	check "$f: efficiencies are products" of "$TMPDIR/$f.json" \
		'abs(w["efficiency"]["parallel"] - w["efficiency"]["load_balance"] *
			w["efficiency"]["communication"]) < 1e-9'
	check "$f: slices have the time of the ranks" of "$TMPDIR/$f.json" \
		'abs(sum(x["rank_seconds"] for x in w["slices"]) /
			sum(r["seconds"] for r in p) - 1) < 0.01'
	sed 's/^omig: //; /^details:/d' "$TMPDIR/$f.err" >"$TMPDIR/said"
	omig show "$TMPDIR/$f.json" >"$TMPDIR/shown"
	check "$f: omig show has the same text" diff "$TMPDIR/said" "$TMPDIR/shown"
done
f=$one_flavour
check 'the file is written again as it is' sh -c \
	"omig show --json $TMPDIR/$f.json | diff $TMPDIR/$f.json -"
check 'a page needs no other file' says '<h1>Summary of job steady' omig show --html \
	"$TMPDIR/$f.json"
# shellcheck disable=SC2317
has_no_address() { ! omig show --html "$TMPDIR/$f.json" | grep -Ei 'https?://|<script|src='; }
check 'and names none' has_no_address
head -c 300 "$TMPDIR/$f.json" >"$TMPDIR/cut.json"
check 'a cut file is refused with the place' says 'cut.json:1:[0-9]+: unexpected end' omig show \
	"$TMPDIR/cut.json"
check 'with status 2' status_is 2 omig show "$TMPDIR/cut.json"
check 'a file that is not there has status 4' status_is 4 omig show "$TMPDIR/none.json"

# --- call sites
line_of() { # PATTERN: its line in the program
	grep -n "$1" tests/system/sites.c | head -n 1 | cut -d : -f 1
}
for f in $flavours; do
	rm -f "$TMPDIR/sites.end"
	timeout $((60 * PATIENCE)) omig run --job "sites-$f" --callsites \
		--summary="$TMPDIR/sites-$f.json" -- "mpirun.$f" -n 2 "$T/sites.$f" \
		"$TMPDIR/sites.end" >"$TMPDIR/out" 2>"$TMPDIR/sites-$f.err" &
	job=$!
	check "$f: places are counted from the start" until_true 30 says '^MPI_Allreduce +leaf ' \
		omig calls --job "sites-$f" --callsites --total
	: >"$TMPDIR/sites.end"
	check "$f: a program with call sites ends well" wait $job
	cat "$TMPDIR/sites-$f.err"
	check "$f: its sites have functions and lines" of "$TMPDIR/sites-$f.json" \
		"[v for v in s['sites'] if v['name'] == 'MPI_Allreduce' and
		v['function'] == 'leaf' and v['source'] == 'sites.c:$(line_of 'MPI_Allreduce(')' and
		v['ranks'] == 2]"
	check "$f: with all calls of the function" of "$TMPDIR/sites-$f.json" \
		'sum(v["count"] for v in s["sites"] if v["name"] == "MPI_Allreduce") ==
		 sum(c["count"] for q in p for c in q["calls"] if c["name"] == "MPI_Allreduce") > 0'
	check "$f: a sentence has the place with most time" grep -Eq \
		'^omig: most time in MPI: MPI_[A-Za-z_]+ in .*sites\.c:[0-9]+ [0-9]+ %' \
		"$TMPDIR/sites-$f.err"
	check "$f: they are a table" grep -Eq '^MPI_Allreduce +leaf sites\.c:[0-9]+ ' \
		"$TMPDIR/sites-$f.err"
done
f=$one_flavour
check 'they are shown again, and in the page' says 'leaf sites\.c:' omig show --html \
	"$TMPDIR/sites-$f.json"
check 'they are compared by function and file' says \
	'"call":"MPI_Allreduce","function":"leaf","file":"sites.c","line":[0-9]+,"line_base"' \
	omig compare --json "$TMPDIR/sites-$f.json" "$TMPDIR/sites-$f.json"
check 'what was not counted has no comparison' says 'first summary has no sites: omig run' \
	omig compare --by site "$TMPDIR/$f.json" "$TMPDIR/sites-$f.json"
check 'with status 4' status_is 4 omig compare --by site "$TMPDIR/$f.json" "$TMPDIR/$f.json"
check 'call sites need times' status_is 2 omig run --callsites --measure=count -- true

# --- comparing
rounds() { # NAME RANKS ROUNDS
	omig run --job "$1" --summary="$TMPDIR/$1.json" -- "mpirun.$f" -n "$2" "$T/steady.$f" \
		--rounds "$3" >/dev/null 2>&1
}
rounds few 2 100
rounds many 2 20000
rounds more 3 100
check 'a run is like itself' comes_out 0 'no call surely changed, of [0-9]+$' omig compare \
	"$TMPDIR/few.json" "$TMPDIR/few.json"
check 'the counts of both are shown' says \
	'^(more|not sure|small) +MPI_Sendrecv .* 40k +200$' omig compare "$TMPDIR/few.json" \
	"$TMPDIR/many.json"
check 'other numbers of ranks are compared' says '; 3 ranks, was 2: ' omig compare \
	"$TMPDIR/few.json" "$TMPDIR/more.json"
check 'sizes of both are beside each other' says \
	'^MPI_Sendrecv +[0-9]+-[0-9]+ .* 40k +200 ' omig compare "$TMPDIR/few.json" \
	"$TMPDIR/many.json"
check 'as CSV, too' says '^MPI_Sendrecv,[0-9]+,[0-9]+,[0-9.e-]+,[0-9.e-]+,40000,200,' \
	omig compare --by size --csv "$TMPDIR/few.json" "$TMPDIR/many.json"
check 'as CSV' says '^1,[a-z ]+,MPI_Sendrecv,[0-9.e-]+,' omig compare --csv "$TMPDIR/few.json" \
	"$TMPDIR/many.json"
omig compare --json "$TMPDIR/few.json" "$TMPDIR/many.json" >"$TMPDIR/compared.json"
check 'as JSON' python3 -c "import json
c = json.load(open('$TMPDIR/compared.json'))
p = c['programs'][0]
r = {x['call']: x for x in p['rows']}
assert p['ranks'] == 2 and r['MPI_Sendrecv']['calls'] == 40000
assert r['MPI_Sendrecv']['half'] > 0 and c['level'] == 0.95
assert [x['calls_base'] for x in c['sizes'] if x['call'] == 'MPI_Sendrecv'] == [200]
assert 'sites' not in c"

# --- the program is unchanged
check 'a status is the program'"'"'s' status_is 7 omig run --summary -- sh -c 'exit 7'
check 'a signal is, too' status_is 137 omig run --summary -- sh -c 'kill -9 $$'
check 'a program that is not there has status 127' status_is 127 omig run --summary -- \
	"$TMPDIR/none"
cat >"$TMPDIR/traps" <<'END'
trap 'echo TERM; terms=$((terms + 1))' TERM
trap 'echo INT' INT
terms=0
echo ready
until [ -e "$1" ]; do sleep 0.1; done
echo terms $terms
END
is_ready() { grep -q '^ready' "$TMPDIR/traps.out"; }
has_word() { grep -q "^$1" "$TMPDIR/traps.out"; }
omig run --summary -- sh "$TMPDIR/traps" "$TMPDIR/traps.go" >"$TMPDIR/traps.out" \
	2>"$TMPDIR/traps.err" &
traps=$!
until_true 20 is_ready
kill -TERM $traps
check 'a signal to omig run reaches the program' until_true 20 has_word TERM
: >"$TMPDIR/traps.go"
wait $traps
check 'once' has_word 'terms 1'
rm -f "$TMPDIR/traps.go"
cat >"$TMPDIR/group" <<'END'
import os, signal, subprocess, sys, time
out = open(sys.argv[1], "w")
p = subprocess.Popen(sys.argv[3:], stdout=out, start_new_session=True)
while "ready" not in open(sys.argv[1]).read(): time.sleep(0.05)
os.killpg(p.pid, signal.SIGTERM)
while "TERM" not in open(sys.argv[1]).read(): time.sleep(0.05)
open(sys.argv[2], "w").close()
sys.exit(p.wait())
END
check 'the end is the program'"'"'s after a signal to the group' timeout $((60 * PATIENCE)) \
	python3 "$TMPDIR/group" "$TMPDIR/traps.out" "$TMPDIR/traps.go" omig run --summary -- sh \
	"$TMPDIR/traps" "$TMPDIR/traps.go"
check 'that signal comes once' has_word 'terms 1'
omig run --summary -- sleep 1000 2>/dev/null &
sleeper=$!
child_of() { pgrep -P "$sleeper" -x sleep >"$TMPDIR/sleep.pid"; }
until_true 20 child_of
kill -KILL $sleeper
is_gone() { ! kill -0 "$(cat "$TMPDIR/sleep.pid")" 2>/dev/null; }
check 'the program does not outlive a killed omig run' until_true 10 is_gone

# --- several programs in one script
cat >"$TMPDIR/script" <<END
"mpirun.$f" -n 2 "$T/steady.$f" --rounds 50
"mpirun.$f" -n 3 "$T/steady.$f" --rounds 60
"mpirun.$f" -n 3 "$T/steady.$f" --rounds 70
exit 3
END
check 'a script keeps its status' status_is 3 omig run --job several \
	--summary="$TMPDIR/several.json" -- sh "$TMPDIR/script"
check 'each of its programs has a section' of "$TMPDIR/several.json" \
	'[x["world_size"] for x in s["sections"][:3]] == [2, 3, 3]'
check 'with its own ranks' of "$TMPDIR/several.json" \
	'all([r["rank"] for r in x["processes"]] == list(range(x["world_size"]))
		for x in s["sections"][:3])'
check 'and its own calls' of "$TMPDIR/several.json" \
	'[c["count"] for x in s["sections"][:3] for c in x["processes"][0]["calls"]
		if c["name"] == "MPI_Sendrecv"] == [50, 60, 70]'

cat >"$TMPDIR/together" <<END
"mpirun.$f" -n 2 "$T/steady.$f" --rounds 300 &
"mpirun.$f" -n 2 "$T/steady.$f" --rounds 400 &
wait
END
omig run --job together --summary="$TMPDIR/together.json" -- sh "$TMPDIR/together" \
	>/dev/null 2>&1
check 'two that run side by side are not mixed' of "$TMPDIR/together.json" \
	'sorted([c["count"] for r in x["processes"] for c in r["calls"]
		if c["name"] == "MPI_Sendrecv"] for x in s["sections"][:2]) ==
		[[300] * 2, [400] * 2]'

# --- without MPI
check 'a program without MPI' says 'python3.*, no MPI program' omig run --job hog \
	--summary="$TMPDIR/hog.json" -- python3 -c 'import time
x = bytearray(50 << 20)
end = time.time() + 2
while time.time() < end or time.process_time() < 0.5: pass'
check 'has its time, processor and memory' of "$TMPDIR/hog.json" \
	'p[0]["rank"] == -1 and p[0]["seconds"] > 1 and p[0]["cpu_seconds"] > 0.2 and
		p[0]["memory_bytes"] > 50e6'

# --- crashes
# shellcheck disable=SC3045
ulimit -c 0
timeout $((60 * PATIENCE)) omig run --job crash --summary="$TMPDIR/crash.json" -- "mpirun.$f" -n 3 \
	"$T/fate.$f" "$TMPDIR/crash" 1 wait >"$TMPDIR/crash.out" 2>"$TMPDIR/crash.err" &
job=$!
check 'a rank makes calls' until_true 30 test -s "$TMPDIR/crash.pid.1"
kill -KILL "$(cat "$TMPDIR/crash.pid.1")"
wait $job
check 'has its last values, read after its end' of "$TMPDIR/crash.json" \
	'p[1]["final"] and p[1]["calls"] and sum(c["count"] for c in p[1]["calls"]) > 0'
check 'and its end' of "$TMPDIR/crash.json" 'p[1]["exit_status"] == 9'

# --- daemons that end before the program
held() { # NAME
	timeout $((100 * PATIENCE)) omig run --job "$1" --summary="$TMPDIR/$1.json" -- "mpirun.$f" \
		-n 2 "$T/steady.$f" --hold "$TMPDIR/$1.go" --beat "$TMPDIR/$1.beat" \
		>"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err" &
	job=$!
	until_true 30 holds "$1"
}
# Finds the collector: the child named omig that reads.
collector_read() {
	ps -eo pid=,ppid=,comm= | awk '$3 == "omig" { is[$1] = 1; parent[$1] = $2 }
		END { for (p in parent) if (is[parent[p]]) print p }' | while read -r p; do
		sed -n 's/^syscr: //p' "/proc/$p/io"
	done | sort -n | tail -n 1
}
reads_more() {
	[ "$(collector_read)" -gt "$reads" ]
}
was_read() { # a whole reading, from its begin to its end, and the begin of the next
	for _ in 1 2 3; do
		reads=$(collector_read)
		until_true 30 reads_more || return 1
		until_true 30 reads_rest
	done
}
reads_rest() { # it naps
	reads=$(collector_read)
	sleep 0.2 # one turn of the collector's loop: no change for that long
	! reads_more
}
held gone
check 'a job is read while it runs' was_read
kill_hard lm
kill_hard sm
kill_hard mainsm
end_job gone "$job"
check 'the program ends as ever, without a monitor' test $? = 0
cat "$TMPDIR/gone.err"
check 'the summary says that nothing was read' grep -Eq \
	'^omig: not covered: nothing could be read for the last [0-9.]+ s: ' "$TMPDIR/gone.err"
check 'and from when its last values are' grep -Eq \
	'^omig: not covered: 2 ranks, first rank 0 on .*: last values from up to [0-9.]+ s before the end$' \
	"$TMPDIR/gone.err"
check 'these are not final ones' of "$TMPDIR/gone.json" \
	'not any(r["final"] for r in p) and all(r["calls"] for r in p) and s["missing"]'
held lost
check 'a job is read under the next monitor' was_read
kill_hard lm
end_job lost "$job"
check 'an lm that is killed changes no end' test $? = 0
check 'no value is called final that was not read after the end' of "$TMPDIR/lost.json" \
	'all(r["final"] or r["seconds"] < s["seconds"] for r in p) and
		(all(r["final"] for r in p) or s["missing"] != [])'
tap_end
