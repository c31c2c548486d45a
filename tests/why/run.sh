#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh FOLDER [CASE...]: runs the cases of tests/why/cases whose names contain one of the words,
# each watched and searched by `omig why`. Writes FOLDER/CASE-SIZE-MPI-SEED/ for each, which
# score.py compares. B is the build folder. From the environment: MPI (those that are here), SIZES
# (all of a case), SEEDS (1), FOR (20s: how long `omig why` looks at most), KEEP (not empty: a run
# that is there is not repeated).
cd "$(dirname "$0")/../.." || exit 2
B=${B:-$(pwd)/build/plain}
PATH=$B/bin:$PATH
folder=${1:?usage: run.sh FOLDER [CASE...]}
shift
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || exit 2
TMPDIR=$(mktemp -d /tmp/omig-why-XXXXXX) || exit 2
export B PATH TMPDIR
. tests/system/lib.sh
. tests/system/faults.sh
begun= # processes and a group of processes that disturb
group=/sys/fs/cgroup/cpu/omig-why-$$
end_run() {
	end_system
	end_all
	rm -rf "$TMPDIR"
}
trap 'end_run' EXIT

# --- what happens to ranks from outside

pid_of() {
	sed -n "s/^$1 //p" "$run/pids"
}
# Stopped for 300 ms of each second
stop_at_times() {
	while kill -STOP "$1" 2>/dev/null; do
		sleep 0.3
		kill -CONT "$1" 2>/dev/null
		sleep 0.7
	done
}
burn() {
	while :; do :; done
}
begin_in_background() {
	"$@" >/dev/null 2>&1 &
	begun="$begun $!"
}
# Each rank on a processor of its own, but those of the list on one
pin_ranks() {
	while read -r rank pid; do
		case ",$1," in *",$rank,"*) processor=1 ;; *) processor=0 ;; esac
		taskset -a -cp $processor "$pid" >/dev/null || return 1
	done <"$run/pids"
}
limit_rank() {
	mkdir "$group" && echo 50000 >"$group/cpu.cfs_quota_us" &&
		pid_of "$1" >"$group/cgroup.procs"
}
begin_system() {
	case $1 in
	-) ;;
	stop:*) begin_in_background stop_at_times "$(pid_of "${1#*:}")" ;;
	burner:*) # at a lower priority, because one process more means little on a busy machine
		pin_ranks "${1#*:}" && begin_in_background burn && taskset -cp 1 $! >/dev/null &&
			renice -n 5 -p "$(pid_of "${1#*:}")" >/dev/null
		;;
	share:*) pin_ranks "${1#*:}" ;;
	quota:*) pin_ranks "${1#*:}" && limit_rank "${1#*:}" ;;
	noise) begin_in_background nice -n 5 timeout 600 sh -c 'while :; do :; done' ;;
	*) echo "run.sh: no such disturbance: $1" >&2 && exit 2 ;;
	esac 2>"$run/system.err"
}
end_system() {
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "$begun" ] || kill $begun 2>/dev/null
	begun=
	case ${system:--} in
	stop:*) kill -CONT "$(pid_of "${system#*:}")" 2>/dev/null ;;
	esac
	if [ -d "$group" ]; then
		while read -r pid; do
			echo "$pid" >"$group/../cgroup.procs"
		done <"$group/cgroup.procs" 2>/dev/null
		until_true 5 rmdir "$group"
	fi
}

# --- a run

as_list() { # a,b,c as JSON: words, or the numbers that they are
	[ "$1" = - ] && echo '[]' && return
	echo "$1" | sed "s/[^,|]*/$2&$2/g; s/.*/[&]/"
}
where_json() {
	[ "$1" = - ] && echo null && return
	echo "[[$1]]" | sed 's/|/],[/g'
}
seconds_now() {
	date +%s.%N
}
# One that cannot be measured says so, and is a miss.
write_case() {
	cat >"$run/case.json" <<-END
		{"v":1,"name":"$name","class":"$class","size":${size:-null},"mpi":"$mpi",
		"seed":$seed,"ranks":$ranks,"where":$(where_json "$where"),
		"hypotheses":$(as_list "$hypotheses" '"'),"causes":$(as_list "$causes" '"'),
		"searched":[${from:-null},${to:-null}],
		"status":${status:-null},"error":${1:-null}}
	END
}
is_ranks() {
	[ -s "$run/pids" ] &&
		[ "$(omig tree --job "$job" --json | grep -o '"rank":[0-9]' | wc -l)" = "$ranks" ]
}
has_why() {
	omig why --help >/dev/null 2>&1
}
search() {
	from=$(seconds_now)
	watch=
	[ "$class" != change ] || watch=--watch # does not end when nothing is found
	omig why --job "$job" --json $watch --for "${FOR:-20s}" >"$run/why.json" 2>"$run/why.err"
	status=$?
	to=$(seconds_now)
}
# WORDS...: of the plant
measure() {
	rm -f "$run"/*
	from='' to='' status=''
	has_why || { write_case '"omig why is not there"' && return; }
	over=
	[ "$mpi" != openmpi ] || over=--oversubscribe
	(cd "$run" && exec timeout $((150 * PATIENCE)) omig run --job="$job" -- \
		"mpirun.$mpi" $over -n "$ranks" "$B/tests/why/plant.$mpi" "$@" --seed "$seed" \
		--for 300 --truth "$run/truth.json" --pids "$run/pids" --enough "$run/enough" \
		>"$run/out" 2>"$run/err") &
	program=$!
	error=null
	if ! until_true 30 is_ranks; then
		error='"the program did not start"'
	elif ! begin_system "$system"; then
		error='"the disturbance is not possible here"'
	else
		search
	fi
	end_system
	: >"$run/enough"
	wait $program || error='"the program failed"'
	write_case "$error"
}
case_runs() { # NAME CLASS RANKS SIZES WHERE HYPOTHESES CAUSES SYSTEM WORDS...
	name=$1 class=$2 ranks=$3 sizes=$4 where=$5 hypotheses=$6 causes=$7 system=$8
	shift 8
	for size in $(echo "${sizes}" | tr , ' '); do
		[ "$size" = - ] || case " ${SIZES:-$size} " in *" $size "*) ;; *) continue ;; esac
		for mpi in ${MPI:-$flavours}; do
			for seed in $(seq "${SEEDS:-1}"); do
				job=$name-$size-$mpi-$seed
				run=$folder/$job
				[ -z "${KEEP:-}" ] || [ ! -e "$run/case.json" ] || continue
				mkdir -p "$run" || exit 2
				if [ "$size" = - ]; then
					size='' && measure "$@"
					size=-
				else
					measure "$@" --size "$size"
				fi
				echo "$job: $(cat /proc/loadavg)" >&2
			done
		done
	done
}
wanted() {
	wanted_name=$1
	shift
	[ $# -eq 0 ] && return 0
	for word; do
		case $wanted_name in *"$word"*) return 0 ;; esac
	done
	return 1
}

# about: the head of the page of results
about() {
	printf '# Planted causes\n\nWritten by `make bench-why`. '
	printf '`omig why --for %s` looked at each run. Processors: %s. ' "${FOR:-20s}" \
		"$(getconf _NPROCESSORS_ONLN)"
	printf 'Load of the machine before: %s, after: %s.\n' "$1" "$(load)"
	printf '\nA finding is right if hypothesis, place and severity are the planted ones. It is '
	printf 'real if\nthe program measured the same loss, though nothing was planted there. '
	printf 'Otherwise it is\nfalse. [why.md](../why.md#the-benchmark) describes the cases.\n'
}
load() {
	cut -d ' ' -f 1-2 /proc/loadavg
}
load_before=$(load)
grep -v '^#' tests/why/cases >"$TMPDIR/cases"
while read -r line <&3; do
	# shellcheck disable=SC2086 # words
	wanted "${line%% *}" "$@" && case_runs $line </dev/null
done 3<"$TMPDIR/cases"
about "$load_before" >"$folder/about.md"
