#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# demo.sh BUILD: watches a real MPI program live, on two sites of two virtual hosts each. Where
# those are not permitted, or with OMIG_DEMO_ALONE=1, it uses this one host. It ends by itself and
# leaves nothing behind. `./quickstart demo` calls it.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
bed=$here/../tests/testbed/bed
build=${1:-$here/../build/plain}
build=$(CDPATH='' cd -- "$build" && pwd) || exit 1
limit=80 # seconds for all of it

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n== %s\n' "$*"; }

shown() {
	printf '$ %s\n' "$*"
	"$@"
}

# --- outside: detects what this host permits, and limits the time

outside() {
	work=$(mktemp -d "${TMPDIR:-/tmp}/omig-demo.XXXXXX") || exit 1
	trap 'end 129' HUP
	trap 'end 130' INT
	trap 'end 143' TERM
	if [ -z "${OMIG_DEMO_ALONE:-}" ] && "$bed" can; then
		set -- "$bed" run -n 4 -s 2 -f -- "$here/demo.sh" "$build" inside "$work" sites
	else
		echo 'Virtual hosts are not permitted here, so everything runs on this one host.'
		set -- "$here/demo.sh" "$build" inside "$work" alone
	fi
	timeout -k 5 "$limit" "$@" <&0 &
	child=$!
	wait "$child"
	end $?
}

end() {
	trap '' HUP INT TERM
	kill -TERM "$child" 2>/dev/null && wait "$child"
	rm -rf "$work"
	[ "$1" = 124 ] && echo "demo: not done after $limit s" >&2
	exit "$1"
}

# --- inside

set_up() {
	work=$1
	PATH=$build/bin:$PATH
	HOME=$work/home
	OMIG_STATE_DIR=$work/state OMIG_RUNTIME_DIR=$work/run XDG_CONFIG_HOME=$work/config
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	OMPI_MCA_plm_rsh_no_tree_spawn=1
	export PATH HOME OMIG_STATE_DIR OMIG_RUNTIME_DIR XDG_CONFIG_HOME
	export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_plm_rsh_no_tree_spawn
	unset OMIG_MAINSM OMIG_SITE OMIG_JOB OMIG_START LD_PRELOAD
	mkdir -p "$HOME" "$XDG_CONFIG_HOME/omig"
	trap clean_up EXIT
	trap 'exit 143' HUP INT TERM
}

clean_up() {
	trap '' HUP INT TERM
	[ -z "${job:-}" ] || { kill -TERM "$job" && wait "$job"; } 2>/dev/null
	omig stop >/dev/null 2>&1
	[ -z "${mainsm:-}" ] || { kill -TERM "$mainsm" && wait "$mainsm"; } 2>/dev/null
	wait_gone
}

# Daemons end within seconds; later ones are killed by their process ids.
wait_gone() {
	tries=0
	while pids=$(ours) && [ -n "$pids" ] && [ "$tries" -lt 40 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	for pid in $(ours); do kill -KILL "$pid" 2>/dev/null; done
}

# Our daemons on this host: they carry our state folder in their environment.
ours() {
	for p in /proc/[0-9]*; do
		case $(readlink "$p/exe" 2>/dev/null) in
		"$build"/bin/lm | "$build"/bin/sm | "$build"/bin/mainsm)
			{ tr '\0' '\n' <"$p/environ"; } 2>/dev/null | grep -q "^HOME=$HOME\$" &&
				echo "${p#/proc/}"
			;;
		esac
	done
}

start_monitor() {
	if [ "$where" = sites ]; then
		"$bed" conf >"$XDG_CONFIG_HOME/omig/mainsm.conf"
		set -- --listen "$("$bed" address head1)"
	else
		set --
	fi
	shown mainsm --foreground "$@" >"$work/conn" 2>"$work/mainsm.log" &
	mainsm=$!
	until_true 10 grep -q '^omig1:' "$work/conn" ||
		give_up 'mainsm did not start' "$work/mainsm.log"
	sed -n 's/\.[a-z0-9]*$/.(secret)/; s/^omig1:/mainsm is ready: omig1:/p' "$work/conn"
}

start_program() {
	if [ "$where" = sites ]; then
		words="$("$bed" mpirun openmpi node1,node2,node3,node4) -n 8"
	else
		words='mpirun.openmpi --oversubscribe --bind-to none'
		words="$words --mca mpi_yield_when_idle 1 -n 4"
		command -v mpirun.openmpi >/dev/null 2>&1 || words='mpirun -n 4'
	fi
	echo "\$ omig run -- mpirun -n ... heat2d ...    (one rank is slow: rank $slow)"
	# shellcheck disable=SC2086 # words
	omig run -- $words "$build/examples/heat2d" $program_options \
		>"$work/program.out" 2>"$work/program.err" &
	job=$!
	until_true 25 all_ranks ||
		give_up 'the ranks did not come up' "$work/program.err" "$work/mainsm.log"
}

all_ranks() {
	[ "$(omig tree --json 2>/dev/null | grep -o '"rank":[0-9]' | wc -l)" = "$ranks" ]
}

until_true() {
	tries=$(($1 * 5))
	shift
	while ! "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.2
	done
}

give_up() {
	echo "demo: $1" >&2
	shift
	tail -n 20 "$@" >&2
	exit 1
}

slow_process() {
	omig tree | sed -n "s/^ *\(p_[0-9a-z_]*\)  rank $slow of .*/\1/p" | head -n 1
}

inside() {
	set_up "$1"
	where=$2 ranks=8 slow=5
	[ "$where" = sites ] || { ranks=4 slow=2; }
	program_options="--seconds 24 --slow-rank $slow"
	say 'A monitor, and a program without any change'
	start_monitor
	start_program
	say 'All objects'
	shown omig tree --depth processes
	say 'Live: time in MPI, calls, bytes, processor, memory'
	echo "(the rank with little time in MPI is the one for which the others wait)"
	shown omig top --count 3 --every 2
	say "Events of one process, as they happen, for 2 s (the first few)"
	event="thread_has_ended_lib_call([$(slow_process)],\"MPI_Allreduce\")"
	shown omig request --follow 2 "$event: print([\$proc,\$time])" | head -n 8
	say 'Totals of each rank since counting began'
	shown omig top --total --once --every 1
	say 'The program ends as it does without a monitor'
	wait "$job"
	status=$?
	job=
	tail -n 3 "$work/program.out"
	echo "exit status $status"
	exit "$status"
}

if [ "${2:-}" = inside ]; then
	inside "$3" "$4"
else
	outside
fi
