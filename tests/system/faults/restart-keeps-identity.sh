#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lm, sm and mainsm are killed and restarted: objects keep their names, measurements continue,
# conditional requests fire again.
# timeout: 120
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
f=$one_flavour

objects() {
	tokens_of s && tokens_of n && tokens_of p && tokens_of t
}
same_objects() {
	[ "$(objects)" = "$objects" ]
}
# Calls of MPI_Barrier that rank N's process has made, by the monitor
barriers() {
	request ":omig_calls_read([$1],0)" | sed -n 's/.*\["MPI_Barrier","[a-z]*",\([0-9]*\).*/\1/p'
}
counts_go_on() {
	now=$(barriers "$watched") && [ "${now:-0}" -gt "$count" ]
}
fired() {
	grep -c TRIGGERED "$TMPDIR/follow.out"
}
fires_again() {
	n=$(fired)
	until_true 20 fired_more_than $((n + 10))
}
fired_more_than() {
	[ "$(fired)" -gt "$1" ]
}
sm_anew() {
	pid=$(daemon_pid sm) && [ "$pid" != "$killed" ]
}
note() {
	count=$(barriers "$watched")
	n=$(fired)
}
all_is_back() { # DAEMON
	check "$1: all objects are back under their names" until_true 20 same_objects
	check "$1: counts continue, not from 0" until_true 10 counts_go_on
}

job j "$f" 2
check 'the program is watched' until_true 20 ranks_are 2
check 'it makes its calls' goes_on j
objects=$(objects)
watched=$(tokens_of p | head -n 1)
request --json --follow forever 'thread_has_started_lib_call([],"MPI_Barrier"): print([$proc])' \
	>"$TMPDIR/follow.out" 2>"$TMPDIR/follow.err" &
tool=$!
check 'a conditional request fires' until_true 10 fired_more_than 10
. tests/system/counting.sh
"$TMPDIR/counting" MPI_Barrier 600000 meanwhile >"$TMPDIR/counter.out" 2>&1 &
counter=$!
counted() {
	tail -n 1 "$TMPDIR/counter.out"
}
counted_more_than() {
	last=$(counted) && [ "${last:-0}" -gt "$1" ]
}
check 'a counter in the ranks counts' until_true 20 counted_more_than 10

note
check 'lm: killed' kill_hard lm
OMIG_MAINSM=$(cat "$OMIG_STATE_DIR/mainsm/mainsm.conn") lm 2>"$TMPDIR/lm.err"
check 'lm: it takes over what runs' one_line "$TMPDIR/lm.err" 'took over 2'
all_is_back lm
check 'lm: the conditional request fires' fires_again
had=$(counted)
check 'lm: the counter continues' until_true 20 counted_more_than $((had + 10))
check 'lm: and has lost nothing' sort -nc "$TMPDIR/counter.out"

note
check 'sm: killed' kill_hard sm
check 'sm: it is started again automatically' until_true 20 sm_anew
all_is_back sm
check 'sm: the conditional request fires' fires_again
had=$(counted)
check 'sm: the counter continues' until_true 20 counted_more_than $((had + 10))
check 'sm: and has lost nothing' sort -nc "$TMPDIR/counter.out"
kill $counter

note
check 'mainsm: killed' kill_hard mainsm
check 'mainsm: it starts again' mainsm
all_is_back mainsm
wait $tool
status=$?
check 'mainsm: the tool got an error, and ended' test $status = 1
check 'mainsm: the error names the cause' grep -q 'the connection to mainsm is lost' \
	"$TMPDIR/follow.out"

# all at once
note
check 'all three: lm killed' kill_hard lm
check 'all three: sm killed' kill_hard sm
check 'all three: mainsm killed' kill_hard mainsm
mainsm >"$TMPDIR/conn"
OMIG_MAINSM=$(cat "$TMPDIR/conn") lm 2>"$TMPDIR/lm.err"
all_is_back 'all three'

# A rank that is killed: the event, and its last values. (The MPI library then ends the job.)
request --json --follow forever 'proc_has_terminated([]): print([$proc])' >"$TMPDIR/follow.out" \
	2>&1 &
tool=$!
is_armed() {
	omig status -v | sed -n '/^lm/,$p' | grep -q 'csrs_armed = 1'
}
check 'a tool waits for ends' until_true 10 is_armed
count=$(barriers "$watched")
victim=$(request ":proc_get_info([$watched],512)" | sed -n 's/.*: *//p')
check 'the victim is a rank' grep -qx "$victim" "$TMPDIR/j.pid.0" "$TMPDIR/j.pid.1"
kill -KILL "$victim"
check 'rank: proc_has_terminated fires' until_true 10 grep -q "TRIGGERED.*$watched" \
	"$TMPDIR/follow.out"
last=$(barriers "$watched")
check 'rank: its last values are there' test "${last:-0}" -ge "$count"
check 'rank: and stay as they are' test "$(barriers "$watched")" = "$last"
ended() {
	omig tree | grep "$watched" | grep -q 'ended'
}
check 'rank: the tree says that it has ended' until_true 10 ended
kill $tool
wait $job
check 'the job ended by it' test $? != 0
tap_end
