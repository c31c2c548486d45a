#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Three tools at once request different things of the same calls, and one of them is stuck: each
# gets the right replies to its own requests.
# timeout: 120
. tests/system/lib.sh
need mpirun.openmpi
program=$(heat openmpi)
[ -x "$program" ] || skip_all 'no example program'
. tests/system/counting.sh

# shellcheck disable=SC2086 # words
omig run -- mpirun.openmpi -n 2 --oversubscribe --mca mpi_yield_when_idle 1 "$program" \
	$as_long_as_needed \
	>"$TMPDIR/out" 2>"$TMPDIR/err" &
job=$!
check 'both ranks are visible' until_true 20 ranks_are 2

event='thread_has_started_lib_call([],"MPI_Allreduce"): print([$proc])'
counts() {
	"$TMPDIR/counting" MPI_Allreduce 1500 >"$1" 2>&1
}
over_zero() {
	cat "$1"
	[ "$(cat "$1")" -gt 0 ]
}

counts "$TMPDIR/alone"
check 'a counter in the ranks counts' over_zero "$TMPDIR/alone"

# The stuck tool: it has requested every event, and does not read.
omig request --follow forever "$event" >"$TMPDIR/stuck" 2>&1 &
stuck=$!
check 'a tool that follows gets events' until_true 10 test -s "$TMPDIR/stuck"
kill -STOP $stuck

# All together: the stuck tool, a follower that is started and ended repeatedly, a counter, and omig
# top.
omig request --follow forever "$event" >"$TMPDIR/follow" 2>&1 &
follower=$!
omig top --json --count 900 --every 1 >"$TMPDIR/top" 2>&1 &
top=$!
counts "$TMPDIR/together"
check 'the counter counts beside the others' over_zero "$TMPDIR/together"
check 'the follower sees events of both ranks' until_true 10 sh -c \
	'test "$(grep -o "p_[0-9a-z_]*" "$1" | sort -u | wc -l)" = 2' sh "$TMPDIR/follow"
kill $follower
wait $follower
status=$?
# 6: a rank that did not run when the request was enabled is reported as missing.
check 'and ends well' test $status = 0 -o $status = 6
check 'top sees calls' until_true 10 grep -Eq '"calls_per_s":[1-9]' "$TMPDIR/top"
kill -INT $top
wait $top
status=$?
check 'and ends well too' test $status = 0

counts "$TMPDIR/after"
check 'and continues when they have gone' over_zero "$TMPDIR/after"

# Both ranks call it equally often, each time: an even number up to calls under way.
check 'a tool sees nothing that it has not attached' sh -c \
	'! omig request --no-attach ":node_get_info([],1)" | grep -q n_'
check 'a tool cannot use the counter of another' sh -c \
	'! omig request ":pa_counter_read([pa_c_1])" | grep -q "^[0-9]"'
kill -CONT $stuck
lines=$(wc -l <"$TMPDIR/stuck")
check 'the stuck tool continues where it was' until_true 10 sh -c 'test "$(wc -l <"$1")" -gt "$2"' \
	sh "$TMPDIR/stuck" "$lines"
kill -TERM $stuck
wait $stuck
enough $job
status=$?
check 'the program was not disturbed' test $status = 0
tap_end
