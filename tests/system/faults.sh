# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154
# For the fault tests t2*.sh, after lib.sh: real MPI jobs that hold until a file exists, the daemons
# by name, and the programs of module.mk.
T=$B/tests/system
fault_programs='attack vandal session'
for program in $fault_programs; do
	[ -x "$T/$program" ] || skip_all "$T/$program is not built: make faults-tools"
done
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 \
	OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1 OMPI_MCA_orte_tmpdir_base="$TMPDIR" \
	UCX_LOG_LEVEL=fatal UCX_HANDLE_ERRORS=none
export OMPI_MCA_btl_vader_single_copy_mechanism=none
flavours=
for f in openmpi mpich; do
	if command -v mpirun.$f >/dev/null && [ -x "$T/steady.$f" ]; then flavours="$flavours $f"; \
		fi
done
need_mpi() {
	[ -n "$flavours" ] || skip_all 'no MPI is here'
	one_flavour=$(echo "$flavours" | cut -d" " -f2)
}

# FLAVOUR RANKS STEADY-WORDS...: in the foreground, as it is
steady() {
	mpi=$1 np=$2
	shift 2
	timeout $((60 * PATIENCE)) "mpirun.$mpi" -n "$np" "$T/steady.$mpi" "$@"
}
watched_steady() {
	mpi=$1 np=$2
	shift 2
	timeout $((60 * PATIENCE)) omig run ${JOB:+--job "$JOB"} --measure="${MEASURE:-count}" -- \
		"mpirun.$mpi" -n "$np" "$T/steady.$mpi" "$@"
}

# job NAME FLAVOUR RANKS WORDS...: starts a watched job in the background, which runs until it may
# end; $job is its process. Its files are $TMPDIR/NAME.out, .err, .go (makes it end), .beat,
# .pid.RANK.
job() {
	name=$1
	shift
	rm -f "$TMPDIR/$name".*
	watched_steady "$@" --hold "$TMPDIR/$name.go" --beat "$TMPDIR/$name.beat" --pids \
		"$TMPDIR/$name.pid" \
		>"$TMPDIR/$name.out" 2>"$TMPDIR/$name.err" &
	job=$!
}
# Permits the end of the job; returns its status
end_job() {
	: >"$TMPDIR/$1.go"
	wait "$2"
}
# Waits until the ranks of job NAME make their calls, and runs FLAVOUR without a monitor for
# comparison
holds() {
	until_true 30 test -s "$TMPDIR/$1.beat"
}
beat() {
	cat "$TMPDIR/$1.beat" 2>/dev/null || echo 0
}
beat_is_over() {
	[ "$(beat "$1")" -gt "$2" ]
}
# Waits until the ranks of job NAME have made calls for 10 more beats.
goes_on() {
	until_true 20 beat_is_over "$1" $(($(beat "$1") + 10))
}
# The unwatched output of FLAVOUR, once for each FLAVOUR, RANKS and WORDS
plain_output() {
	key="$TMPDIR/plain.$(echo "$@" | tr ' /' '__')"
	[ -e "$key" ] || steady "$@" >"$key" 2>/dev/null
	echo "$key"
}
# same_output JOB FLAVOUR RANKS: its output is that of the unwatched program, and stderr has no
# message of Omig.
same_output() {
	name=$1
	shift
	cmp "$(plain_output "$@")" "$TMPDIR/$name.out" && no_word_of_ours "$TMPDIR/$name.err"
}

# --- daemons, by their lock files: the holder has written its pid
lock_of() {
	case $1 in
	mainsm) echo "$OMIG_STATE_DIR/mainsm/mainsm.lock" ;;
	sm) find "$OMIG_STATE_DIR" -path '*/sm-*/lock' 2>/dev/null | head -n 1 ;;
	lm) find "$OMIG_RUNTIME_DIR" -maxdepth 1 -name 'lm-*.lock' 2>/dev/null | head -n 1 ;;
	esac
}
is_alive() {
	[ -n "$1" ] && [ -d "/proc/$1" ] && ! grep -q '^State:.[ZX]' "/proc/$1/status"
}
# The pid of the running lm, sm or mainsm
daemon_pid() {
	lock=$(lock_of "$1")
	[ -n "$lock" ] || return 1
	pid=$(cat "$lock" 2>/dev/null)
	is_alive "$pid" && [ "$(cat "/proc/$pid/comm")" = "$1" ] && echo "$pid"
}
is_dead() {
	! is_alive "$1"
}
# kill_hard DAEMON: kill -9, and wait until it is gone; $killed is what it was.
kill_hard() {
	killed=$(daemon_pid "$1") || return 1
	kill -KILL "$killed"
	until_true 5 is_dead "$killed"
}
is_stopped() {
	grep -q '^State:.[Tt]' "/proc/$1/status"
}
runs_again() {
	pid=$(daemon_pid "$1") && [ "$pid" != "$killed" ]
}
rss_kib() {
	sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$1/status"
}
caid() {
	cut -d: -f4 "$OMIG_STATE_DIR/mainsm/mainsm.conn" | cut -c1-8
}
lm_socket() {
	find "$OMIG_RUNTIME_DIR" -maxdepth 1 -name 'lm-*.sock' | head -n 1
}
mainsm_port() {
	cut -d: -f3 "$OMIG_STATE_DIR/mainsm/mainsm.conn"
}
# The log of a daemon in the background, all of it
log_of() {
	cat "$OMIG_STATE_DIR/$1"-*.log
}
logged() {
	until_true 5 log_has "$1" "$2"
}
log_has() {
	log_of "$1" | grep -Eq -- "$2"
}

# --- replies of the monitor
request() {
	omig request --timeout 10s "$@"
}
# comes_out STATUS PATTERN COMMAND...: checks its exit status, and that its output matches
comes_out() {
	want=$1 pattern=$2
	shift 2
	"$@" >"$TMPDIR/answer" 2>&1
	got=$?
	cat "$TMPDIR/answer"
	echo $got | grep -Eqx "$want" || { echo "status $got, not $want"; return 1; }
	grep -Eq -- "$pattern" "$TMPDIR/answer"
}
# answered STATUS PATTERN REQUEST
answered() {
	want=$1 pattern=$2
	shift 2
	comes_out "$want" "$pattern" request "$@"
}
# With $observer, the connection string for one
as_observer() {
	env OMIG_STATE_DIR="$TMPDIR/observer" omig request --mainsm "$observer" "$@"
}
tokens_of() { # KIND (p n s)
	omig tree --json | grep -o "\"token\":\"$1_[0-9a-z_]*\"" | cut -d'"' -f4 | sort
}
# one_line FILE PATTERN: checks that FILE is one line that matches
one_line() {
	cat "$1"
	[ "$(wc -l <"$1")" = 1 ] && grep -Eq -- "$2" "$1"
}
# fails STATUS PATTERN COMMAND...: checks the exit status, and that stderr is one line that matches
fails() {
	want=$1 pattern=$2
	shift 2
	"$@" >"$TMPDIR/fails.out" 2>"$TMPDIR/fails.err"
	got=$?
	[ $got = "$want" ] || { echo "status $got, not $want"; cat "$TMPDIR/fails.out" \
		"$TMPDIR/fails.err"; return 1; }
	one_line "$TMPDIR/fails.err" "$pattern"
}

# A program to be examined (subject.c)
need_subject() {
	[ -x "$T/subject" ] || skip_all "$T/subject is not built: make faults-tools"
}
# subject NAME: starts one; its process is $subject, its output $TMPDIR/NAME.out
subject() {
	mkfifo "$TMPDIR/$1.in"
	"$T/subject" <"$TMPDIR/$1.in" >"$TMPDIR/$1.out" 2>&1 &
	subject=$!
}

# A tool that remains connected (session.c), one at a time. session_asks TEXT: prints the reply's
# lines `ACTION STATUS OBJECTS VALUE`; of a conditional request the events so far. session_told LINE
# prints all of them. $session is its process.
session_begins() {
	rm -f "$TMPDIR/session".*
	mkfifo "$TMPDIR/session.in"
	"$T/session" <"$TMPDIR/session.in" >"$TMPDIR/session.out" 2>&1 &
	session=$!
	exec 7>"$TMPDIR/session.in"
}
session_asks() {
	echo "$1" >>"$TMPDIR/session.asked"
	echo "$1" >&7
	n=$(wc -l <"$TMPDIR/session.asked")
	until_true 10 grep -qx "$n done" "$TMPDIR/session.out"
	session_told "$n"
}
session_told() {
	sed -n "s/^$1 \([0-9]\)/\1/p" "$TMPDIR/session.out"
}
session_ends() {
	exec 7>&-
	wait "$session"
}

# Ends all daemons, for a fresh start within a test
kill_all() {
	for pid in $(leftovers); do kill -KILL "$pid" 2>/dev/null; done
	until_true 5 no_leftovers
}

# Ends all processes that the test has started, stopped ones too.
end_faults() {
	for f in "$TMPDIR"/*.beat; do
		[ ! -e "$f" ] || : >"${f%.beat}.go"
	done
	for d in mainsm sm lm; do
		pid=$(daemon_pid $d) && kill -CONT "$pid"
	done
	for f in "$TMPDIR"/*.pid.[0-9]*; do
		[ ! -e "$f" ] || kill -CONT "$(cat "$f")" 2>/dev/null
	done
	end_all 2>/dev/null
	for d in lm sm mainsm; do
		pid=$(daemon_pid $d) && kill -KILL "$pid"
	done
}
trap 'end_faults' EXIT
