#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Chosen virtual times of real ranks: in a metric's text, as a parameter, and for a metric that has
# a value for each. Each agrees with the program's own log, and events that are not chosen are
# dropped in the lm.
# timeout: 120
. tests/system/lib.sh
own_host
program=$B/examples/loops.openmpi
[ -x "$program" ] || skip_all 'no example program with probes'

cat >"$TMPDIR/some.pmsl" <<'END'
Tenths(Process[] procs, Value every, TimeInterval t) {
	PROBE iteration_end(Process, VirtualTime);
	Process p;
	VirtualTime vt;
	Value[][] x;
	x[p][vt] = 1 AT iteration_end(p, vt);
	RETURN SUM(x[p][vt] WHERE p IN procs AND vt % every == 0 AND x[p][vt].time IN t);
}
Listed(Process[] procs, VirtualTime[] vts, TimeInterval t) {
	PROBE iteration_end(Process, VirtualTime);
	Process p;
	VirtualTime vt;
	Value[][] x;
	x[p][vt] = 1 AT iteration_end(p, vt);
	RETURN SUM(x[p][vt] WHERE p IN procs AND (vt IN vts OR vt IN [50, 59])
		AND x[p][vt].time IN t);
}
Sent_last(Process[] procs, TimeInterval t) : Unit("B") {
	PROBE iteration_end(Process, VirtualTime);
	Process p;
	VirtualTime vt;
	Value[][] x;
	x[p][vt] = p.Send_volume([LAST,NOW]) AT iteration_end(p, vt);
	RETURN SUM(x[p][vt] WHERE p IN procs AND vt IN [20, 60] AND x[p][vt].time IN t);
}
Residuum(Process[] procs, VirtualTime vt) {
	PROBE iteration_end(Process, VirtualTime, Value residuum);
	Process p;
	RETURN MAX(residuum AT iteration_end(p, vt) WHERE p IN procs);
}
END
cat >"$TMPDIR/bad.pmsl" <<'END'
Bad(Process p, TimeInterval t) {
	PROBE e(Process, VirtualTime, Value r);
	VirtualTime vt;
	RETURN SUM(r AT e(p, vt) WHERE vt > 10 OR (r AT e(p, vt)) > 1);
}
END
check 'what is not a choice has its place' says 'bad.pmsl:4:33: error: a choice of virtual times' \
	omig check "$TMPDIR/bad.pmsl"
check 'and its remedy' says 'hint: SUM\(x\[vt\] WHERE vt > 10 AND' omig check "$TMPDIR/bad.pmsl"
sed 's/vt % every/vt % 10/' "$TMPDIR/some.pmsl" >"$TMPDIR/fixed.pmsl"
sed -i 's/, Value every//' "$TMPDIR/fixed.pmsl"
check 'a drawing has the choice' sh -c "omig dot --layout 'one:a=p_1,p_2' -o '$TMPDIR/x.dot' \
	'$TMPDIR/fixed.pmsl' Tenths && grep -q 'choice of (vt % 10) == 0' '$TMPDIR/x.dot'"

omig run -- mpirun.openmpi -n 2 "$program" --passes 100 --work 2000 --from "$TMPDIR/begin" \
	--log "$TMPDIR/log" >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null &
job=$!
two_run() {
	[ "$(omig tree --json | tr '{' '\n' | grep -c '"rank":')" = 2 ]
}
check 'two ranks are visible' until_true 30 two_run
refused=$(omig measure -f "$TMPDIR/some.pmsl" Listed --count 1 2>&1)
check 'a list that is not given is missed' says 'vts of Listed has no virtual times' echo "$refused"
check 'and one that is none is refused' says 'virtual times as NAME=10,20,30-40' \
	omig measure -f "$TMPDIR/some.pmsl" Listed --set vts=10..20 --count 1

measures() { # NAME METRIC OPTION...
	name=$1 metric=$2
	shift 2
	omig measure -f "$TMPDIR/some.pmsl" "$metric" --every 200ms --csv --for 10m "$@" \
		>"$TMPDIR/$name.csv" 2>"$TMPDIR/$name.err" &
	eval "${name}_pid=$!"
}
measures tenths Tenths --set every=10
measures listed Listed --set vts=3,20-24
measures residuum Residuum --set vt=10,90-95
measures sent Sent_last
begun() {
	[ "$(omig explain | grep -c running)" = 4 ]
}
check 'four measurements run' until_true 30 begun
of_tenths() { # the line of the choice: place, number, kind, condition, in, out
	omig explain "$(omig explain | awk '/Tenths/ { print $1 }')" | grep ' choice '
}
check 'its choice is at the host, once for each rank' [ \
	"$(of_tenths | grep -c '(vt % 10) == 0')" = 2 ]
: >"$TMPDIR/begin"
check 'the program ends' wait "$job"
of_log() { # CONDITION: iterations of both ranks for which it holds
	cat "$TMPDIR"/log.[01] | awk "\$1 == \"iteration_end\" && ($1)" | wc -l
}
total() { # NAME: of the last read
	awk -F, 'NR > 1 { v = $6 } END { print v }' "$TMPDIR/$1.csv"
}
is_total() { # NAME N
	[ "$(total "$1")" = "$2" ]
}
check 'each tenth of both ranks' until_true 30 is_total tenths "$(of_log '$2 % 10 == 0')"
check 'there are some' [ "$(of_log '$2 % 10 == 0')" -ge 18 ]
check 'those of the list and the range' until_true 30 is_total listed \
	"$(of_log '$2 == 3 || ($2 >= 20 && $2 <= 24) || ($2 >= 50 && $2 <= 59)')"
check 'what is not chosen has ended at the host' says ' 100 +10 ' of_tenths
sent_in() { # by the log: from iteration 20 to 60, each from the event before
	awk '$1 == "iteration_end" { if ($2 >= 20 && $2 <= 60) sum += $5 - before; before = $5 }
		FNR == 1 { before = 0 } END { printf "%d\n", sum }' "$TMPDIR"/log.[01]
}
check 'what was sent since the event before, in chosen iterations' until_true 30 is_total sent \
	"$(sent_in)"
check 'that is something' [ "$(sent_in)" -gt 1024 ]
keys() {
	awk -F, 'NR > 1 && /all/ { print $5 }' "$TMPDIR/residuum.csv" | sort -n | tr '\n' ' '
}
has_keys() {
	[ "$(keys)" = '10 90 91 92 93 94 95 ' ]
}
check 'values by virtual time are of the wanted ones' until_true 30 has_keys
# shellcheck disable=SC2154 # by eval
kill -INT $tenths_pid $listed_pid $residuum_pid $sent_pid
for pid in $tenths_pid $listed_pid $residuum_pid $sent_pid; do
	wait "$pid"
done
tap_end
