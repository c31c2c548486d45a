#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The states of an alert: firing, cleared, unknown and known again; a mainsm that goes.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
f=$one_flavour

# The states so far, in one line
states() {
	sed -n 's/.*"state":"\([a-z]*\)".*/\1/p' "$TMPDIR/alert.out" | tr '\n' ' '
}
states_are() {
	[ "$(states)" = "$1 " ]
}
states_end_with() {
	case $(states) in *"$1 ") ;; *) false ;; esac
}
each_rank() { # SIGNAL
	# shellcheck disable=SC2046 # pids
	kill "-$1" $(omig tree --job beats --json | grep -o '"pid":[0-9]*,"rank":[01],' |
		sed 's/"pid":\([0-9]*\),.*/\1/')
}

# shellcheck disable=SC2086 # words
timeout $((150 * PATIENCE)) omig run --job beats -- "mpirun.$f" -n 2 "$(heat "$f")" \
	$as_long_as_needed >"$TMPDIR/beats.out" 2>&1 &
job=$!
check 'a job makes calls' until_true 30 ranks_are 2
omig alert 'Collective_count > 1 /s' --job beats --every 1s --json >"$TMPDIR/alert.out" 2>&1 &
alert=$!
check 'its calls fire' until_true 30 states_are 'firing'
each_rank STOP
check 'ranks that stand still clear it' until_true 30 states_are 'firing cleared'
each_rank CONT
check 'and it fires again' until_true 30 states_are 'firing cleared firing'
kill -STOP "$(daemon_pid lm)"
check 'a host that does not answer makes it unknown' until_true 60 states_end_with 'unknown'
check 'with the reason' says '"state":"unknown",.*gave no value' cat "$TMPDIR/alert.out"
kill -CONT "$(daemon_pid lm)"
check 'until it answers again' until_true 60 says '"state":"known"' cat "$TMPDIR/alert.out"
kill -KILL "$(daemon_pid mainsm)"
wait $alert
check 'the end of mainsm ends it with status 3' test $? = 3
check 'which it says as JSON' says '"error":\{"status":3,"text":".*mainsm' cat "$TMPDIR/alert.out"
check 'the job has noticed nothing' enough $job
tap_end
