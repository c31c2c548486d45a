#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Values with their objects, of real ranks: the greatest, the two greatest, and the least at each
# virtual time. They are shown as lines, in CSV and in JSON.
# timeout: 120
. tests/system/lib.sh
own_host
need python3
program=$B/examples/loops.openmpi
[ -x "$program" ] || skip_all 'no example program with probes'

cat >"$TMPDIR/who.pmsl" <<'END'
Most(Process[] procs, TimeInterval t) {
	Process p;
	RETURN WHO_MAX(Barrier_count(p, t) * (1 + p.rank) WHERE p IN procs);
}
Top(Process[] procs, TimeInterval t) {
	Process p;
	RETURN TOP(2, Barrier_count(p, t) * (1 + p.rank) WHERE p IN procs AND p.rank != 1);
}
Least_at(Process[] procs, VirtualTime vt) {
	PROBE iteration_end(Process, VirtualTime, Value residuum);
	Process p;
	RETURN WHO_MIN(((residuum AT iteration_end(p, vt)) * 0 + p.rank) WHERE p IN procs);
}
END
cat >"$TMPDIR/bad.pmsl" <<'END'
Bad(Process[] procs, TimeInterval t) {
	Process p;
	RETURN 2 * WHO_MAX(Send_count(p, t) WHERE p IN procs);
}
END
check 'an object is not a number' says 'bad.pmsl:3:13: error: expected a number, found value with' \
	omig check "$TMPDIR/bad.pmsl"
check 'the text is one' omig check "$TMPDIR/who.pmsl"

omig run -- mpirun.openmpi --oversubscribe -n 3 "$program" --passes 60 --work 2000 \
	--from "$TMPDIR/begin" --log "$TMPDIR/log" >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null &
job=$!
three_run() {
	[ "$(omig tree --json | tr '{' '\n' | grep -c '"rank":')" = 3 ]
}
check 'three ranks are visible' until_true 30 three_run
measures() { # NAME METRIC OPTION...
	name=$1 metric=$2
	shift 2
	omig measure -f "$TMPDIR/who.pmsl" "$metric" --every 200ms --for 10m "$@" \
		>"$TMPDIR/$name" 2>"$TMPDIR/$name.err" &
	eval "${name}_pid=$!"
}
measures most Most
measures most_json Most --json
measures top Top --csv
measures least Least_at --csv
begun() {
	[ "$(omig explain | grep -c running)" = 4 ]
}
check 'four measurements run' until_true 30 begun
: >"$TMPDIR/begin"
check 'the program ends' wait "$job"

host=$(hostname)
last_is() { # NAME PATTERN: of the last line
	tail -n 1 "$TMPDIR/$1" | grep -Eq "$2"
}
check 'the rank with the most is named' until_true 30 last_is most " all rank2@$host [0-9.]+k? "
check 'two are in one cell, the larger first' until_true 30 last_is top \
	",all,,rank2@$host=[0-9]+; rank0@$host=[0-9]+,"
is_json() {
	tail -n 1 "$TMPDIR/most_json" | python3 -c '
import json, sys
v = json.load(sys.stdin)["values"][0]
(o,) = v["objects"]
assert o["label"].startswith("rank2@") and o["object"].startswith("p_"), o
assert v["value"] == o["value"] > 0 and o["error"] == 0 and v["k"] == v["n"] == 3, v' 2>/dev/null
}
check 'JSON has its token, label, value and bound' until_true 30 is_json
each_is_rank_0() {
	[ "$(awk -F, '$5 != "" && $6 ~ /^rank0@/' "$TMPDIR/least" | wc -l)" -ge 50 ] &&
		[ "$(awk -F, 'NR > 1 && $5 != "" && $6 !~ /^rank0@.*=0$/' "$TMPDIR/least" |
			wc -l)" = 0 ]
}
check 'each virtual time has its object' until_true 30 each_is_rank_0
# shellcheck disable=SC2154 # by eval
kill -INT $most_pid $most_json_pid $top_pid $least_pid
for pid in $most_pid $most_json_pid $top_pid $least_pid; do
	wait "$pid"
done
tap_end
