#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Conditions on two hosts: filters where the event is, an event on one host that
# stops a rank on the other, lists in braces. The program ends as it would have.
# timeout: 120
. tests/system/lib.sh
within_bed 2 1
bed_mainsm

# shellcheck disable=SC2046,SC2086 # words
omig run -- $("$bed" mpirun openmpi node1,node2) -n 2 "$program" $as_long_as_needed \
	>"$TMPDIR/out" 2>"$TMPDIR/err" &
job=$!
check 'two ranks on two nodes are visible' until_true 60 ranks_are 2

event='thread_has_started_lib_call([],"MPI_Allreduce"):'
token_of() { # RANK
	omig tree --json | tr '{' '\n' | sed -n \
		"s/.*\"token\":\"\(p_[0-9a-z_]*\)\".*\"rank\":$1,.*/\1/p" | head -n 1
}
first=$(token_of 0) second=$(token_of 1)
one_each() {
	[ -n "$first" ] && [ -n "$second" ] && [ "${first%_*}" != "${second%_*}" ]
}
check 'both ranks have a token, each of its node' one_each

# --- filters
only_rank_0() {
	followed "$event"' omig_if($par1,"==",0) omig_at_most(50) print(["rank",$par1])' \
		events_are 50 &&
		grep -q '"rank",0' "$TMPDIR/events" && ! grep -q '"rank",1' "$TMPDIR/events"
}
few_of_both() {
	sed -n 's/.*"seen",\(p_[0-9a-z_]*\),\([0-9.]*\).*/\1 \2/p' "$TMPDIR/events" |
		sort -k1,1 -k2,2n >"$TMPDIR/seen"
	awk '{ n[$1]++ } END { for (p in n) hosts += n[p] > 3; exit hosts != 2 }' "$TMPDIR/seen"
}
# By the times of the events: on each host no more than the seconds between the first and the last,
# and both ends
few_a_second() {
	followed "$event"' omig_at_most(1) print(["seen",$proc,$time])' few_of_both &&
		few_of_both &&
		awk '!($1 in first) { first[$1] = $2 } { n[$1]++; last[$1] = $2 }
			END { for (p in n) if (n[p] > last[p] - first[p] + 2) exit 1 }' \
				"$TMPDIR/seen"
}
check 'only what passes a filter is reported' only_rank_0
check 'so many a second and no more' few_a_second
check 'a filter without an event is refused' says 'TYPE_MISMATCH' omig request \
	':omig_every(2) print([1])'
check 'a filter that makes no sense is refused' says 'PARAMETER_ERROR' omig request --follow 1 \
	"$event omig_every(0) print([1])"
check 'a filter that could never pass is refused' says 'UNKNOWN_ECP' \
	omig request --follow 2 "$event omig_if(\$par15,\">\",1) print([1])"

# --- a call of rank 0 stops rank 1 on the other host; rank 0 is released
is_stopped_in_tree() { # RANK
	omig tree | grep -q "rank $1 .*stopped"
}
omig request --follow forever \
	"thread_has_started_lib_call([$first],\"MPI_Allreduce\"): omig_at_most(0.01) thread_stop([$second])" \
	>"$TMPDIR/stopper" 2>&1 &
stopper=$!
check 'an event on one host stops a rank on the other' until_true 10 is_stopped_in_tree 1
check 'the rank that it happened to is not stopped' sh -c '! omig tree | grep -q "rank 0 .*stopped"'
runs_on_node1() {
	pid=$(omig request ":proc_get_info([$first],512)" | grep -o '[0-9][0-9]*$' | head -n 1)
	echo "pid $pid"
	[ -n "$pid" ] && "$bed" exec node1 sh -c "grep -q '^State:.*[RS] (' /proc/$pid/status"
}
check 'nor held' until_true 10 runs_on_node1
kill $stopper
kill $stopper
wait $stopper
check 'with the tool its stop goes' until_true 15 sh -c '! omig tree | grep -q stopped'

# --- braces
locked_answers() {
	pids=
	for i in 1 2 3; do
		omig request ':{node_get_info([],1) ; node_get_info([],1)}' >"$TMPDIR/locked.$i" \
			2>&1 &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || return 1
	done
	cat "$TMPDIR"/locked.*
	[ "$(cat "$TMPDIR"/locked.* | grep -c '"node[12]"')" -ge 12 ]
}
check 'lists in braces are answered, one after the other' locked_answers

enough $job
status=$?
check 'the program has ended well' test $status = 0
tap_end
