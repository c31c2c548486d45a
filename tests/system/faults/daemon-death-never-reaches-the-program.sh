#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Failures of lm, sm and mainsm do not change a program: its output, exit status and end are those
# of the unwatched program.
# timeout: 240
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi

all_there() {
	for d in lm sm mainsm; do
		daemon_pid $d || return 1
	done
}
ranks_shown() {
	until_true 20 ranks_are 2
}
kill_while_it_runs() {
	kill_hard "$1" && goes_on "$2"
}
stop_while_it_runs() {
	stopped=$(daemon_pid "$1") && kill -STOP "$stopped" && until_true 5 is_stopped "$stopped" &&
		goes_on "$2"
}
cont_all() {
	for d in lm sm mainsm; do
		pid=$(daemon_pid $d) && kill -CONT "$pid"
	done
}
# Both ranks of that job, which are over
has_counted() {
	for p in $(omig tree --json | grep -o '{"token":"p_[^}]*"job":"'"$1"'"' | sed -n \
		's/.*"token":"\([^"]*\)","state":"ended".*/\1/p'); do
		omig request ":omig_calls_read([$p])" | grep -c '"MPI_Finalize","[a-z]*",1,'
	done | tee "$TMPDIR/finalized"
	[ "$(grep -cx 1 "$TMPDIR/finalized")" = 2 ]
}
# status_and_output STATUS NAME FLAVOUR RANKS: of the ended job
ends_as() {
	[ "$1" = 0 ] || { echo "status $1"; return 1; }
	shift
	same_output "$@"
}

# --- daemons killed and stopped while the program makes calls
for f in $flavours; do
	job killed "$f" 2
	check "$f: the program is watched" ranks_shown
	check "$f: all daemons are there" until_true 10 all_there
	for d in sm lm mainsm; do
		check "$f: it continues when $d is killed" kill_while_it_runs $d killed
	done
	end_job killed $job
	check "$f: after that, output and status are its own" ends_as $? killed "$f" 2

	job stopped "$f" 2
	check "$f: it is watched again" ranks_shown
	for d in mainsm sm lm; do
		check "$f: it continues when $d is stopped" stop_while_it_runs $d stopped
	done
	end_job stopped $job
	check "$f: MPI_Finalize with all of them stopped, output and status are its own" ends_as \
		$? stopped "$f" 2
	kill -CONT "$(daemon_pid mainsm)" # otherwise omig run would wait for its reply
	JOB=met.$f
	watched_steady "$f" 2 >"$TMPDIR/met.out" 2>"$TMPDIR/met.err"
	check "$f: MPI_Init with a stopped lm, output and status are its own" ends_as $? met "$f" 2
	JOB=
	cont_all
	check "$f: what it counted is there when the lm continues" \
		until_true 20 has_counted "met.$f"
	kill_all
done
f=$one_flavour

# --- without a daemon
never() { # NAME VARIABLE=VALUE...
	what=$1
	shift
	env LD_PRELOAD="$B/lib/libomig.so" OMIG_START=count "$@" timeout $((60 * PATIENCE)) \
		"mpirun.$f" -n 2 "$T/steady.$f" \
		>"$TMPDIR/never.out" 2>"$TMPDIR/never.err"
	check "$f: $what" ends_as $? never "$f" 2
}
dead=omig1:127.0.0.1:1:00000000000000000000000000:abcd.efgh
mkdir -p "$TMPDIR/closed"
chmod 500 "$TMPDIR/closed"
never 'a connection string that is none' OMIG_MAINSM='not a string' "OMIG_LM=$B/bin/lm"
never 'nobody at the connection string' "OMIG_MAINSM=$dead" "OMIG_LM=$B/bin/lm"
never 'no lm program' "OMIG_MAINSM=$dead" OMIG_LM=/no/such/lm
never 'an lm program that fails' "OMIG_MAINSM=$dead" OMIG_LM=/bin/false
never 'an lm program that is none' "OMIG_MAINSM=$dead" "OMIG_LM=$TMPDIR"
never 'a runtime directory that cannot be made' "OMIG_MAINSM=$dead" "OMIG_LM=$B/bin/lm" \
	OMIG_RUNTIME_DIR=/proc/none
never 'a runtime directory that cannot be written' "OMIG_MAINSM=$dead" "OMIG_LM=$B/bin/lm" \
	"OMIG_RUNTIME_DIR=$TMPDIR/closed"
never 'OMIG_DISABLE' "OMIG_MAINSM=$dead" "OMIG_LM=$B/bin/lm" OMIG_DISABLE=1
if [ "$(id -u)" = 0 ]; then
	mkdir -m 700 "$TMPDIR/nobodys"
	chown nobody "$TMPDIR/nobodys"
	never "another user's runtime directory" "OMIG_MAINSM=$dead" "OMIG_LM=$B/bin/lm" \
		"OMIG_RUNTIME_DIR=$TMPDIR/nobodys"
	check 'nothing was preloaded' sh -c '! ls -A "$1" | grep .' sh "$TMPDIR/nobodys"
else
	skip "another user's runtime directory" 'only root can make one'
fi
kill_all

# omig run itself: the program runs, and one line reports why it is not watched
not_watched() { # PATTERN, after the run
	cmp "$(plain_output "$f" 2)" "$TMPDIR/run.out" && one_line "$TMPDIR/run.err" "$1"
}
OMIG_STATE_DIR=/proc/none watched_steady "$f" 2 >"$TMPDIR/run.out" 2>"$TMPDIR/run.err"
check 'omig run, a state directory that cannot be made: status' test $? = 0
check 'omig run, a state directory that cannot be made: one line' not_watched '/proc/none'
OMIG_LIBRARY=/no/such/lib.so watched_steady "$f" 2 >"$TMPDIR/run.out" 2>"$TMPDIR/run.err"
check 'omig run, no library: status' test $? = 0
check 'omig run, no library: one line' not_watched 'not watched: /no/such/lib.so is missing'

# --- how a program ends passes through
same_end() { # FLAVOUR WORDS...: the status with and without the monitor
	steady "$@" >"$TMPDIR/a.out" 2>"$TMPDIR/a.err"
	want=$?
	watched_steady "$@" >"$TMPDIR/b.out" 2>"$TMPDIR/b.err"
	got=$?
	echo "status $got, $want without"
	cat "$TMPDIR/b.err"
	[ $got = $want ] && [ $want != 0 ] && [ $want != 124 ] && no_word_of_ours "$TMPDIR/b.err"
}
same_status() { # mpiexec of MPICH ends with 0 or 15 at random, watched or not
	echo "status $1, $2 without"
	[ "$f" = mpich ] && return "$((($1 != 0 && $1 != 15) || ($2 != 0 && $2 != 15)))"
	[ "$1" = "$2" ] && [ "$1" != 0 ] && [ "$1" != 124 ]
}
# Finds the process of mpirun, below the sub-shell and `timeout`
mpirun_of() {
	pgrep -P "$(pgrep -P "$1" timeout)"
}
for f in $flavours; do
	check "$f: a status that is not 0" same_end "$f" 2 --exit 1:7
	sed -i 's/PID [0-9]*//' "$TMPDIR/a.out" "$TMPDIR/b.out" # mpiexec prints it
	check "$f: and the output before it" cmp "$TMPDIR/a.out" "$TMPDIR/b.out"
	check "$f: MPI_Abort" same_end "$f" 2 --abort 1:5
	check "$f: a rank that dies of SIGSEGV" same_end "$f" 2 --raise 0:11
	check "$f: a rank that dies of SIGKILL" same_end "$f" 2 --raise 1:9

	job signalled "$f" 2
	holds signalled
	kill -TERM "$(mpirun_of $job)"
	wait $job
	got=$?
	rm -f "$TMPDIR/signalled.beat"
	steady "$f" 2 --hold "$TMPDIR/signalled.go" --beat "$TMPDIR/signalled.beat" >/dev/null \
		2>&1 &
	job=$!
	holds signalled
	kill -TERM "$(mpirun_of $job)"
	wait $job
	want=$?
	check "$f: SIGTERM for mpirun" same_status $got $want
done
tap_end
