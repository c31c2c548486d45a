#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The metrics of examples/metrics on a program whose regions are marked by probes, over two sites of two virtual hosts
# each: what is measured is what the program's own log says, within the stated bounds.
# timeout: 150
. tests/system/lib.sh
need python3
within_bed 4 2
loops=$B/examples/loops.openmpi
[ -x "$loops" ] || skip_all 'no program with probes'
bed_mainsm

# shellcheck disable=SC2046 # words
omig run -- $("$bed" mpirun openmpi node1,node2,node3,node4) -n 4 "$loops" --passes 1000000 --work 5000 --log "$TMPDIR/log" \
	--until "$TMPDIR/stop" >"$TMPDIR/out" 2>"$TMPDIR/err" &
job=$!
check 'four ranks on four nodes come up' until_true 60 ranks_are 4

measuring=''
measures() { # METRIC FILE OPTION...
	name=$1 file=examples/metrics/$2.pmsl
	shift 2
	omig measure --csv --every 1s --count 4 -f "$file" "$@" "$name" >"$TMPDIR/$name.csv" 2>"$TMPDIR/$name.err" &
	measuring="$measuring $!"
}
measures Iteration_time iteration_time --by process
measures Mean_iteration_time iteration_time --since-last
measures Send_volume_for_interaction_vt send_volume
measures Send_volume_for_interaction send_volume --since-last
measures Load_imbalance_at_barrier load_imbalance
measures Loop_Counter loop_counter --since-last --by process
measures Comm_delay_per_loop_execution comm_delay --by process
measures Max_comm_delay_per_loop_execution comm_delay --since-last
# shellcheck disable=SC2086 # numbers
all_end() {
	for pid in $measuring; do
		wait "$pid"
		got=$?
		# 6: the first read may lack who was still being told
		[ $got = 0 ] || [ $got = 6 ] || { echo "status $got"; return 1; }
	done
}
check 'all of them are measured at once' all_end
: >"$TMPDIR/stop"
check 'the program ends as if nobody had looked' status_is 0 wait $job
python3 tests/system/paper_metrics.py "$TMPDIR/log" "$TMPDIR" 4 >"$TMPDIR/compared"
sed 's/^/# /' "$TMPDIR/compared"
for name in Iteration_time Mean_iteration_time Send_volume_for_interaction_vt Send_volume_for_interaction \
	Load_imbalance_at_barrier Loop_Counter Comm_delay; do
	check "$name is what the log says" grep -q "^agrees $name: " "$TMPDIR/compared"
done
tap_end
