#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A watched rank ends, between its calls or in one. Its waiting tool is notified, its last values
# stay, the others continue, and the launcher ends as without Omig.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
# shellcheck disable=SC3045 # dash, bash and ksh know it
ulimit -c 0 # a written core file would change the status

# Open MPI has an option that keeps the other ranks alive; MPICH's launcher always kills them after
# SIGKILL.
options_of() {
	case $1 in openmpi) echo --enable-recovery ;; mpich) echo -disable-auto-cleanup ;; esac
}
# fate NAME FLAVOUR HOW: runs it in the foreground
fate() {
	# shellcheck disable=SC2046 # words
	timeout $((60 * PATIENCE)) "mpirun.$2" $(options_of "$2") -n 3 "$T/fate.$2" "$TMPDIR/$1" 1 \
		"$3"
}
watched_fate() {
	# shellcheck disable=SC2046
	timeout $((60 * PATIENCE)) omig run --measure=volume -- "mpirun.$2" $(options_of "$2") -n \
		3 "$T/fate.$2" "$TMPDIR/$1" 1 "$3"
}
# begins COMMAND NAME FLAVOUR HOW: in the background, $job; until all ranks make their calls
begins() {
	rm -f "$TMPDIR/$2".*
	"$@" >"$TMPDIR/$2.out" 2>"$TMPDIR/$2.err" 7>&- &
	job=$!
	until_true 30 rounds_made "$2"
}
rounds_made() {
	for r in 0 1 2; do
		[ "$(done_by "$1" $r)" -gt 10 ] || return 1
	done
}
books() {
	"$T/fate.$f" books "$TMPDIR/$1.books.$2" 2>/dev/null || echo 0 0
}
done_by() {
	books "$1" "$2" | cut -d' ' -f2
}
# strike NAME HOW: rank 1 is killed
strike() {
	if [ "$2" = wait ]; then
		kill -KILL "$(cat "$TMPDIR/$1.pid.1")"
	else
		: >"$TMPDIR/$1.go"
	fi
}
is_over() {
	is_dead "$(cat "$TMPDIR/$1.pid.1")"
}
# ends NAME: permits the end of the other ranks; returns the launcher's status
ends() {
	: >"$TMPDIR/$1.end"
	wait "$job"
}
# ends_so STATUS FLAVOUR HOW: the same status as without Omig; MPICH's launcher combines the
# statuses in the order of their arrival
ends_so() {
	got=$1
	shift
	for try in 1 2 3 4 5; do
		begins fate bare "$@"
		strike bare "$2"
		until_true 20 is_over bare
		ends bare
		want=$?
		echo "$got with us, $want without ($try)"
		[ "$got" != "$want" ] || return 0
	done
	# 9: of the ranks that the launcher killed; on a busy machine it may read their status
	# first.
	[ "$1" = mpich ] && { [ "$got" = 9 ] || [ "$got" = $((want | 9)) ]; }
}
token_of() { # NAME RANK
	request ':proc_get_info([],512)' | sed -n \
		"s/^\\(p_[0-9a-z_]*\\).*[^0-9]$(cat "$TMPDIR/$1.pid.$2")\$/\\1/p"
}
# The program may make many calls before the lm reads its segment.
has_victim() {
	victim=$(token_of $name 1)
	[ -n "$victim" ]
}
terminated() {
	session_told "$watch" | grep -q "^1 0 [-p].*[^0-9a-z]$victim,"
}
tree_says() {
	omig tree | grep "^ *$victim " | grep -Eq "ended \\($1\\)"
}
# Kernels before 6.15 lose the exit status of a process if its parent reaps it before the lm reads
# it.
tree_has_end() {
	if printf '6.15\n%s\n' "$(uname -r)" | sort -CV; then tree_says "$1"; else tree_says \
		"$1|.*"; fi
}
calls() { # TOKEN FUNCTION: how many the monitor counted
	request ":omig_calls_read([$1],0)" | sed -n \
		"s/.*\\[\"$2\",\"[a-z_]*\",\\([0-9]*\\),.*/\\1/p"
}
# The counts at its end are its calls, but for the call that it was in.
counted_right() {
	n=$(calls "$victim" MPI_Barrier)
	echo "counted $n, begun and done $(books "$1" 1)"
	[ "${n:-0}" -le "$(books "$1" 1 | cut -d' ' -f1)" ] &&
		[ "${n:-0}" -ge "$(done_by "$1" 1)" ] && [ "$n" -gt 0 ]
}
stays() { # REQUEST OBJECT: two replies about it are equal
	a=$(session_asks "$1" | grep -w "$2")
	b=$(session_asks "$1" | grep -w "$2")
	echo "$a, $b"
	[ -n "$a" ] && [ "$a" = "$b" ]
}
value_of() { # REQUEST OBJECT: of a local counter
	session_asks "$1" | sed -n "s/^.*[ ,]$2[ ,].*,\\([0-9]*\\)\$/\\1/p"
}
more_than() { # N COMMAND...
	n=$1
	shift
	[ "$("$@")" -gt "$n" ]
}
others_go_on() { # REQUEST
	for r in 0 2; do
		t=$(token_of "$name" $r)
		until_true 10 more_than "$(value_of "$1" "$t")" value_of "$1" "$t" || return 1
	done
}
in_call() { # FUNCTION: the rank was in that function
	request ":omig_calls_read([$victim],0)" | grep -Eq "\\[\"$1\",\"[a-z]*\",1,[1-9][0-9]*,1,"
}
created() {
	session_asks "$1" | sed -n 's/.* \(pa_[a-z]*_[0-9]*\)$/\1/p'
}

# --- killed from outside, while a tool uses all kinds of objects
f=$one_flavour
name=j
check 'the program continues' begins watched_fate $name "$f" wait
check 'it is watched' until_true 20 ranks_are 3
session_begins
until_true 20 has_victim
local=$(created ':pa_counter_local_create([])')
all=$(created ':pa_counter_global_create([])')
time=$(created ":pa_integrator_local_create([$victim])")
session_asks 'proc_has_terminated([]): print([$proc,$time])' >/dev/null
watch=$(wc -l <"$TMPDIR/session.asked")
session_asks \
	"thread_has_started_lib_call([],\"MPI_Barrier\"): pa_counter_local_increment($local,1) pa_counter_global_increment($all,1)" \
	>/dev/null
session_asks \
	"thread_has_started_lib_call([$victim],\"MPI_Recv\"): pa_integrator_local_increment($time,1.0,\$time)" \
	>/dev/null
session_asks \
	"thread_has_ended_lib_call([$victim],\"MPI_Recv\"): pa_integrator_local_increment($time,-1.0,\$time)" \
	>/dev/null
read_local=":pa_counter_read([$local])"
check 'a counter of its own counts' until_true 10 more_than 10 value_of "$read_local" "$victim"
check 'it is killed' strike $name wait
check 'a tool that waits for it gets that one' until_true 10 terminated
check 'the tree shows how it ended' until_true 10 tree_has_end 'signal 9'
check 'its calls stay readable, and are those that it made' counted_right $name
check 'its counter stays as it was' stays "$read_local" "$victim"
if [ "$f" = openmpi ]; then
	check 'the others continue, and their counters' others_go_on "$read_local"
	sum_is_right() {
		session_asks ":pa_counter_read([$all,$local])" >"$TMPDIR/sum"
		cat "$TMPDIR/sum"
		# ranks are read in sequence: the sum is between two readings of them
		session_asks "$read_local" >>"$TMPDIR/sum"
		awk -v all="$all" '$3 == all { sum = $4 } $3 ~ /^p_/ { split($4, v, ",");
			k = split($3, p, ","); n[++i] = k * v[2]; t += k * v[2]; m += k }
			END { exit !(m == 6 && sum > 0 && sum * 2 <= t * 1.5) }' "$TMPDIR/sum"
	}
	check 'the sum over all includes the ended rank' sum_is_right
	check 'no other rank is reported as ended' \
		sh -c '[ "$(omig tree | grep -c "rank .*ended")" = 1 ]'
else
	skip 'the others continue, and their counters' 'this launcher ends them'
	skip 'the sum over all includes the ended rank' 'this launcher ends them'
	skip 'no other rank is reported as ended' 'this launcher ends them'
fi
ends $name
check 'the launcher ends as without Omig' ends_so $? "$f" wait
check 'no message of Omig on its stderr' no_word_of_ours "$TMPDIR/$name.err"

# --- ended by itself, within a call
for f in $flavours; do
	for case in 'segv:signal 11:MPI_Pack' 'abort:signal 6:MPI_Recv' 'exit3:status 3:MPI_Recv' \
		'mpi_abort:.*:MPI_Send'; do
		how=${case%%:*} call=${case##*:}
		what=${case#*:}
		what=${what%:*}
		check "$f: $how: the program continues" begins watched_fate $name "$f" "$how"
		until_true 20 has_victim
		session_asks ':proc_attach([])' >/dev/null
		strike $name "$how"
		check "$f: $how: a tool that waits for it is notified" until_true 10 terminated
		check "$f: $how: the tree shows how it ended" until_true 10 tree_has_end "$what"
		check "$f: $how: its calls stay, and are those that it made" counted_right $name
		check "$f: $how: the one that it was in is there" in_call "$call"
		ends $name
		check "$f: $how: the launcher ends as without Omig" ends_so $? "$f" "$how"
		sed -i '/\[ *[0-9]*\] \//d' "$TMPDIR/$name.err" \
			# a backtrace of Open MPI names all libraries
		check "$f: $how: no message of Omig on its stderr" no_word_of_ours \
			"$TMPDIR/$name.err"
	done
done
session_ends
check 'the tool ends well' test $? = 0
tap_end
