#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The metrics of the examples agree with the program's own log. The program iterates over two sites
# of two hosts. Two metrics at a time: those of one file share their probes.
# timeout: 120
. tests/system/lib.sh
within_bed 4 2
need python3
program=$B/examples/loops.openmpi
[ -x "$program" ] || skip_all 'no example program with probes'
bed_mainsm

# shellcheck disable=SC2046 # words
omig run -- $("$bed" mpirun openmpi node1,node2,node3,node4) -n 4 "$program" --passes 1000000 \
	--work 5000 \
	--from "$TMPDIR/begin" --until "$TMPDIR/enough" --log "$TMPDIR/log" >"$TMPDIR/out" \
		2>"$TMPDIR/err" &
job=$!
check 'four ranks on four nodes are visible' until_true 30 ranks_are 4

pids=
measures() { # FILE METRIC OPTION...
	file=$1 name=$2
	shift 2
	omig measure -f "examples/metrics/$file.pmsl" "$name" --every 500ms --csv "$@" \
		>"$TMPDIR/$name.csv" 2>"$TMPDIR/$name.err" &
	pids="$pids $!"
	names="$names $name"
}
names=
measures loop_counter Loop_Counter --by process
measures iteration_time Iteration_time --by process
measures iteration_time Mean_iteration_time --by process
measures comm_delay Comm_delay_per_loop_execution --by process
measures comm_delay Max_comm_delay_per_loop_execution
measures load_imbalance Load_imbalance_at_barrier
measures send_volume Send_volume_for_interaction_vt
measures send_volume Send_volume_for_interaction
measures spread Residuum_skewness
measures spread Sent_in_iteration_ci
: >"$TMPDIR/until.json"
omig measure -f examples/metrics/spread.pmsl Sent_in_iteration_ci --every 500ms --json \
	--until 'n >= 400 and ci(0.95) < 50%' >"$TMPDIR/until.json" 2>"$TMPDIR/until.err" &
until=$!
# Metrics over virtual time have a line for each virtual time, the others a line for each read.
by_read='Loop_Counter Mean_iteration_time Max_comm_delay_per_loop_execution
	Send_volume_for_interaction
	Residuum_skewness Sent_in_iteration_ci'
last_read() {
	tail -n 1 "$TMPDIR/$1.csv" | cut -d, -f1
}
reads_begin() {
	for name in $by_read; do
		[ "$(wc -l <"$TMPDIR/$name.csv")" -gt 1 ] || return 1
	done
}
reads_are() { # NAME N
	[ "$(last_read "$1")" -ge "$2" ]
}
passes() {
	grep -c iteration_end "$TMPDIR/log.0"
}
passes_are() {
	[ "$(passes)" -ge "$1" ]
}
reads_go_on() {
	for name in $by_read; do
		until_true 10 reads_are "$name" $(($(last_read "$name") + 2)) || return 1
	done
}
counted_all() {
	awk -F, -v n="$(passes)" '/rank/ { v[$4] = $6 } END { for (r in v) { ranks++;
		if (v[r] != n) exit 1 } exit ranks != 4 }' \
		"$TMPDIR/Loop_Counter.csv"
}
check 'all are read before the program begins' until_true 30 reads_begin
: >"$TMPDIR/begin"
check 'it makes its passes' until_true 60 passes_are 300
check 'one with a rule has ended when the values of all ranks were enough' status_is 0 wait $until
check 'and reports how many there were' says \
	'"until":"n >= 400 and ci\(0.95\) < 50%","reached":true,.*"name":"all","n":([4-9][0-9]{2}|[0-9]{4,}),"mean":[0-9.]+.*"warnings":\[' \
	tail -n 1 "$TMPDIR/until.json"
enough $job
status=$?
check 'it has ended well' test $status = 0
check 'every pass of every rank was counted' until_true 20 counted_all
check 'the others are read once more' reads_go_on
# shellcheck disable=SC2086 # numbers
kill -INT $pids
# shellcheck disable=SC2086
wait $pids
for name in $names; do
	check "$name agrees with the log" python3 tests/system/paper_books.py "$name" \
		"$TMPDIR/$name.csv" "$TMPDIR"/log.[0-3]
done
tap_end
