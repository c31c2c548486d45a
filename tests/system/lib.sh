# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034
# For the system tests: TAP, a monitor for each test, and waits that poll. A test sources it first:
# . tests/system/lib.sh
#
# The monitor of a test lives in $TMPDIR; at the end of the test all processes with its state
# directory in their environment are ended.
set -u
tap_n=0
export OMIG_STATE_DIR="$TMPDIR/state" OMIG_RUNTIME_DIR="$TMPDIR/run" \
	XDG_CONFIG_HOME="$TMPDIR/config"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 NO_COLOR=1
export OMP_NUM_THREADS=1
bed=$PWD/tests/testbed/bed
. tests/system/words.sh
unset OMIG_MAINSM OMIG_SITE OMIG_JOB OMIG_START OMIG_DISABLE LD_PRELOAD

# check NAME COMMAND...: one line of TAP
check() {
	tap_name=$1
	shift
	tap_n=$((tap_n + 1))
	if "$@" >"$TMPDIR/check.out" 2>&1; then
		echo "ok $tap_n - $tap_name"
	else
		sed 's/^/# /' "$TMPDIR/check.out"
		echo "not ok $tap_n - $tap_name"
	fi
}

skip() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

skip_all() {
	echo "$1"
	exit 77
}

need() {
	for tool; do
		command -v "$tool" >/dev/null 2>&1 || skip_all "$tool is not here"
	done
}

# until_true SECONDS COMMAND...: retries until the command succeeds; the command may itself wait.
# The limit only ends a hanging test: a slow machine gets PATIENCE times as long.
export PATIENCE="${PATIENCE:-4}"
export OMIG_TIMEOUT="$((2 * PATIENCE))s" # users wait 2 s
until_true() {
	tries_end=$(($(date +%s) + $1 * PATIENCE))
	shift
	set -- $tries_end "$@"
	until until_once "$@"; do
		[ "$(date +%s)" -le "$1" ] || return 1
		sleep 0.1
	done
}
until_once() {
	shift
	"$@" >/dev/null 2>&1
}

status_is() {
	want=$1
	shift
	"$@"
	got=$?
	[ $got = "$want" ] || { echo "status $got, not $want"; return 1; }
}

# says PATTERN COMMAND...: checks that its output, of both streams, matches
says() {
	pattern=$1
	shift
	"$@" >"$TMPDIR/says.out" 2>&1
	cat "$TMPDIR/says.out"
	grep -Eq -- "$pattern" "$TMPDIR/says.out"
}

# An ordinary user cannot read the environment of daemons, which protect their memory: their pids
# are in the lock files.
locked() {
	find "$OMIG_STATE_DIR" "$OMIG_RUNTIME_DIR" \( -name '*.lock' -o -path '*/sm-*/lock' \) \
		-exec cat {} + 2>/dev/null | while read -r p; do
		[ ! -r "/proc/$p/environ" ] || continue
		case $(cat "/proc/$p/comm" 2>/dev/null) in
		lm | sm | mainsm) echo "/proc/$p/environ" ;;
		esac
	done
}
# Processes of this test's monitor and programs, by their environment, without this shell.
leftovers() {
	# shellcheck disable=SC2013 # words
	for p in $({ grep -lsz "^OMIG_STATE_DIR=$OMIG_STATE_DIR\$" /proc/[0-9]*/environ; locked; } |
		sort -u); do
		p=${p%/environ}
		# Without this shell's own sub-shells and pipes, and ended processes such as the
		# grep above,
		read -r comm 2>/dev/null <"$p/comm" || continue
		# and without the virtual hosts that contain this shell.
		case $comm in
		sh | grep | date | sleep | timeout | unshare | bed) ;;
		*) echo "${p#/proc/}" ;;
		esac
	done
}

end_all() {
	omig stop >/dev/null 2>&1
	PATIENCE=1
	until_true 5 no_leftovers || for pid in $(leftovers); do kill -KILL "$pid" 2>/dev/null; done
}

no_leftovers() {
	[ -z "$(leftovers)" ]
}

trap 'end_all' EXIT
trap 'exit 143' HUP INT TERM

# tap_end: the last line of a test
tap_end() {
	echo "1..$tap_n"
}

# heat FLAVOUR: path of the example program for openmpi or mpich
heat() {
	echo "$B/examples/heat2d.$1"
}

# The example program runs until enough PROCESS ends it; returns its status
as_long_as_needed="--seconds 900 --until $TMPDIR/enough"
enough() {
	: >"$TMPDIR/enough"
	wait "$1"
}

# job_has_ranks JOB N: also ranks that have ended
job_has_ranks() {
	[ "$(omig tree --job "$1" --json | grep -o '"rank":[0-9]' | wc -l)" = "$2" ]
}
no_measurement_runs() {
	[ "$(omig explain | grep -c running)" = 0 ]
}

# ranks_are N: the tree has N ranks that run
ranks_are() {
	[ "$(omig tree --json | tr '{' '\n' | grep '"rank":[0-9]' | grep -cv '"state":"ended"')" = \
		"$1" ]
}

nodes_are() {
	[ "$(omig tree --json | grep -o '"token":"n_[0-9]*","state":"up"' | wc -l)" = "$1" ]
}

# followed REQUEST COMMAND...: writes the events of a conditional request to $TMPDIR/events, until
# COMMAND succeeds
followed() {
	: >"$TMPDIR/events" # emptied here, since the file has the events of the previous request
	omig request --follow forever "$1" >"$TMPDIR/events" 2>&1 &
	follower=$!
	shift
	until_true 20 "$@"
	followed_rc=$?
	kill $follower
	wait $follower
	head -n 20 "$TMPDIR/events"
	return $followed_rc
}
# events_are N: there are N events or more
events_are() {
	[ "$(wc -l <"$TMPDIR/events")" -ge "$1" ]
}

# own_host: an lm here, without a program, by way of mainsm and an sm; $node is its token
own_host() {
	omig env --job=any >"$TMPDIR/env" 2>/dev/null
	# shellcheck disable=SC1091 # made above
	. "$TMPDIR/env"
	unset LD_PRELOAD
	lm --background 2>"$TMPDIR/lm.log"
	check 'a host without programs is there' until_true 30 nodes_are 1
	node=$(omig tree --json | grep -o '"token":"n_[0-9]*"' | head -n 1 | grep -o 'n_[0-9]*')
}

# token_of PID [PROGRAM]: attaches that process of $node
token_of() {
	omig request --timeout 10s ":proc_attach3([$node],$1,\"${2:-}\")" |
		grep -o 'p_[0-9]*_[0-9a-z]*' | head -n 1
}

# within_bed HOSTS SITES: continues in virtual hosts, with MPI, if these are permitted
within_bed() {
	need mpirun.openmpi
	program=$(heat openmpi)
	[ -x "$program" ] || skip_all 'no example program'
	[ -z "${BED_DIR:-}" ] || return 0
	"$bed" can || skip_all 'virtual hosts are not permitted here'
	trap - EXIT
	exec "$bed" run -n "$1" -s "$2" -f -- sh "$0"
}
# bed_mainsm: one at the head of the first site, as $mainsm
bed_mainsm() {
	export HOME="$TMPDIR/home" OMPI_MCA_plm_rsh_no_tree_spawn=1
	mkdir -p "$HOME" "$XDG_CONFIG_HOME/omig"
	"$bed" conf >"$XDG_CONFIG_HOME/omig/mainsm.conf"
	mainsm --foreground --listen "$("$bed" address head1)" >"$TMPDIR/conn" \
		2>"$TMPDIR/mainsm.log" &
	mainsm=$!
	trap 'end_all; kill $mainsm 2>/dev/null' EXIT
	check 'mainsm is ready' until_true 20 grep -q '^omig1:' "$TMPDIR/conn"
}
