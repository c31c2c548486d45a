#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Metrics without a monitor: omig metrics, check and dot on the examples and on mistakes.
. tests/system/lib.sh

examples=examples/metrics
layout='one:a=p_1,p_2;b=p_3/two:c=p_4'

check 'the examples are good' omig check $examples/*.pmsl
printf 'M(Process p, TimeInterval t) {\n\tRETURN Send_volum(p, t);\n}\n' >"$TMPDIR/bad.pmsl"
check 'a mistake has its place and a hint' \
	says '^[^ ]*bad.pmsl:2:9: error: there is no metric or function Send_volum$' omig check \
		"$TMPDIR/bad.pmsl"
check 'what was meant' says 'hint: did you mean Send_volume' omig check "$TMPDIR/bad.pmsl"
check 'an error is status 1' status_is 1 omig check $examples/loop_counter.pmsl "$TMPDIR/bad.pmsl"
bad_metrics() { # N: number N, with a mistake
	awk -v n="$1" 'BEGIN {
		for (i = 0; i < n; i++)
			printf "M%d(Process p, TimeInterval t) { RETURN none(p); }\n", i }'
}
bad_metrics 20 >"$TMPDIR/some.pmsl"
bad_metrics 21 >"$TMPDIR/many.pmsl"
check 'that there are more errors than are shown is said' says '^and more: ' omig check \
	"$TMPDIR/many.pmsl"
check 'and not when these were all' sh -c '! omig check "$1" 2>&1 | grep "^and more"' sh \
	"$TMPDIR/some.pmsl"
check 'no file is status 4' status_is 4 omig check "$TMPDIR/none.pmsl"
check 'no argument is status 2' status_is 2 omig check
check 'colours when asked for' says "$(printf '\033')" omig check --color always "$TMPDIR/bad.pmsl"
no_colours() { ! says "$(printf '\033')" omig check "$TMPDIR/bad.pmsl"; }
check 'none without' no_colours
check 'as JSON' says '"line":2,"column":9' omig check --json "$TMPDIR/bad.pmsl"
check 'standard input' sh -c "omig check - <$examples/loop_counter.pmsl"
slowly() { # COMMAND...: the text arrives after the command has begun to read
	{ sleep 0.3 && cat "$slow"; } | "$@"
}
slow=$examples/loop_counter.pmsl
check 'standard input that comes slowly' slowly omig check -
check 'as a drawing, too' slowly omig dot -o "$TMPDIR/slow.dot" - Loop_Counter
slow=$TMPDIR/slow.probes
echo 'void iteration_end(int vt);' >"$slow"
check 'and as declarations of probes' slowly omig probes -o "$TMPDIR/slow.c" -H "$TMPDIR/slow.h" -
mkfifo "$TMPDIR/text.fifo"
from_fifo() {
	{ sleep 0.3 && cat "$examples/loop_counter.pmsl"; } >"$TMPDIR/text.fifo" &
	omig check "$TMPDIR/text.fifo"
}
check 'or from a pipe that has a name' from_fifo

check 'built-in metrics' says '^Send_volume +B +cumulative' omig metrics
check 'of single calls' says '^MPI_Allreduce_delay +s ' omig metrics MPI_Allreduce
check 'of a file' says '^Loop_Counter +iterations +each read' omig metrics -f \
	$examples/loop_counter.pmsl Loop
check 'all as JSON' says '"name":"MPI_Send_volume","unit":"B","kind":"cumulative"' omig metrics \
	--json
check 'none of that name' status_is 4 omig metrics Nonsense

drawn() {
	omig dot --layout "$layout" -o "$TMPDIR/$1.dot" "$examples/$2.pmsl" "$3" &&
		grep -q 'cluster_cse' "$TMPDIR/$1.dot" && grep -q 'label="two"' "$TMPDIR/$1.dot"
}
check 'a loop counter' drawn 1 loop_counter Loop_Counter
check 'an iteration time' drawn 2 iteration_time Mean_iteration_time
check 'a communication delay' drawn 3 comm_delay Max_comm_delay_per_loop_execution
check 'a load imbalance' drawn 4 load_imbalance Load_imbalance_at_barrier
check 'a send volume' drawn 5 send_volume Send_volume_for_interaction
check 'without objects the templates' says cluster_dag omig dot $examples/loop_counter.pmsl \
	Loop_Counter
check 'a metric that is not there' says 'did you mean Loop_Counter' omig dot \
	$examples/loop_counter.pmsl Loop_Count
check 'objects that are not there' status_is 4 omig dot --layout "$layout" --objects p_9 \
	$examples/loop_counter.pmsl \
	Loop_Counter
check 'a layout that is none' status_is 2 omig dot --layout 'x' $examples/loop_counter.pmsl \
	Loop_Counter
if command -v dot >/dev/null 2>&1; then
	check 'as a picture' omig dot --layout "$layout" -o "$TMPDIR/x.svg" \
		$examples/load_imbalance.pmsl \
		Load_imbalance_at_barrier
	check 'which is one' grep -q '<svg' "$TMPDIR/x.svg"
	printed() { # AS FIRST-BYTES
		omig dot -o "$TMPDIR/x.$1" $examples/loop_counter.pmsl Loop_Counter &&
			head -c 64 "$TMPDIR/x.$1" | grep -aq "$2"
	}
	check 'to be printed' printed ps '^%!PS'
	check 'or shown on a page' printed gif '^GIF8'
	check 'or for programs' printed json '"name": *"Loop_Counter"'
else
	skip 'as a picture' 'graphviz is not here'
fi
refuses() { # END: a name with an unknown ending is refused, and no file is written
	says 'a drawing is a file with .dot' omig dot -o "$TMPDIR/z.$1" \
		$examples/loop_counter.pmsl Loop_Counter &&
		[ ! -e "$TMPDIR/z.$1" ]
}
check 'a picture that does not exist is refused' refuses doc
check 'with the status of a mistake' status_is 2 omig dot -o "$TMPDIR/z.xls" \
	$examples/loop_counter.pmsl Loop_Counter
omig_path=$(command -v omig)
check 'without graphviz a clear word' says 'graphviz is not installed' env PATH=/nonexistent \
	"$omig_path" dot \
	-o "$TMPDIR/y.svg" $examples/loop_counter.pmsl Loop_Counter
tap_end
