#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The states of an alert: firing, cleared, unknown and known again; a mainsm that ends, with and
# without a restart; the end of the job. The command of --exec runs once for each of them.
# timeout: 300
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
command_had_each_state() {
	[ "$(tr '\n' ' ' <"$TMPDIR/hook")" = "$(states)" ]
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
# shellcheck disable=SC2016 # its own variable
omig alert 'Collective_count > 1 /s' --job beats --every 1s --json \
	--exec 'echo "$OMIG_ALERT_STATE" >>"$TMPDIR/hook"' >"$TMPDIR/alert.out" 2>&1 &
alert=$!
omig alert 'Collective_count > 1e9 /s' --job beats --every 1s --json >"$TMPDIR/other.out" 2>&1 &
other=$!
omig alert silent --job beats --every 1s --once >"$TMPDIR/silent.out" 2>&1 &
silent=$!
check 'its calls fire' until_true 30 states_are 'firing'
each_rank STOP
check 'stopped ranks clear it' until_true 30 states_are 'firing cleared'
each_rank CONT
check 'and it fires again' until_true 30 states_are 'firing cleared firing'
kill -STOP "$(daemon_pid lm)"
check 'a host that does not answer makes it unknown' until_true 60 states_end_with 'unknown'
check 'with the reason' says '"state":"unknown",.*gave no value' cat "$TMPDIR/alert.out"
kill -CONT "$(daemon_pid lm)"
check 'until it answers again' until_true 60 says '"state":"known"' cat "$TMPDIR/alert.out"
check 'silent has fired at that' until_true 20 says '^[0-9:]+ silent' cat "$TMPDIR/silent.out"
wait $silent
check 'and has ended with status 0' test $? = 0
check 'it fires again, or still' until_true 30 says '(known|firing)"[^}]*}$' \
	tail -n 1 "$TMPDIR/alert.out"
states >"$TMPDIR/before"

# A mainsm that is restarted
kill -KILL "$(daemon_pid mainsm)"
check 'both notice that mainsm has gone' until_true 30 says 'this continues' cat "$TMPDIR/alert.out"
until_true 20 says 'this continues' cat "$TMPDIR/other.out"
mainsm --background >/dev/null 2>&1
check 'and that it is back' until_true 50 says 'mainsm is back' cat "$TMPDIR/alert.out"
check 'so does the other one' until_true 50 says 'mainsm is back' cat "$TMPDIR/other.out"
check 'the ranks are there again' until_true 30 ranks_are 2
check 'what fired continues' states_are "$(sed 's/ $//' "$TMPDIR/before")"
each_rank STOP
check 'it is over with the next mainsm' until_true 30 states_end_with 'cleared'
each_rank CONT
check 'and fires with it' until_true 30 states_end_with 'firing'

# A mainsm that is not restarted
omig alert 'Collective_count > 1e9 /s' --every 1s --json >"$TMPDIR/lost.out" 2>&1 &
lost=$!
omig alert 'Collective_count > 1 /s' --every 1s --json >"$TMPDIR/any.out" 2>&1 &
any=$!
check 'one of all jobs fires' until_true 30 says '"state":"firing"' cat "$TMPDIR/any.out"
check 'nothing holds' until_true 20 says '"state":"firing"' cat "$TMPDIR/alert.out"
enough $job
check 'the job has noticed nothing' test $? = 0
wait $alert
check 'the end of the job ends its alert with status 0' test $? = 0
check 'and reports its state' states_end_with 'ended'
check 'the command has run once for each state' until_true 10 command_had_each_state
wait $other
check 'so does one that never fired' says '"state":"ended".*job beats has ended"' \
	cat "$TMPDIR/other.out"
check 'and nothing false was reported' says '^(unknown|known|ended)*$' sh -c \
	"sed -n 's/.*\"state\":\"\([a-z]*\)\".*/\1/p' '$TMPDIR/other.out'"
check 'for all jobs it is over when none runs' until_true 30 says '"state":"cleared"' \
	cat "$TMPDIR/any.out"
kill $any
kill -KILL "$(daemon_pid mainsm)"
wait $lost
check 'the end of mainsm ends it with status 3' test $? = 3
check 'which it says as JSON' says '"error":\{"status":3,"text":".*mainsm' cat "$TMPDIR/lost.out"
check 'no job is not an alert' says '^0$' grep -c '"state"' "$TMPDIR/lost.out"
tap_end
