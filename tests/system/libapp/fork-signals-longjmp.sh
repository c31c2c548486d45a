#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs with children of all kinds, signals, jumps out of calls, and MPI that is loaded late.
# Output and status are those of the unwatched program, and the counts are those of its calls.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi

# lives HOW FLAVOUR DEED...: HOW is bare or watched; into $TMPDIR/HOW
lives() {
	how=$1 mpi=$2
	shift 2
	rm -f "$TMPDIR/$how".*
	set -- "mpirun.$mpi" -n 2 "$T/lives.$mpi" "$TMPDIR/$how" "$@"
	[ "$how" = bare ] || set -- omig run --measure=time -- "$@"
	timeout $((60 * PATIENCE)) "$@" >"$TMPDIR/$how.out" 2>"$TMPDIR/$how.err"
	echo "status $?" >>"$TMPDIR/$how.out"
	sort -o "$TMPDIR/$how.out" "$TMPDIR/$how.out"
}
both() {
	lives bare "$@"
	lives watched "$@"
}
same() {
	cat "$TMPDIR/watched.err"
	diff "$TMPDIR/bare.out" "$TMPDIR/watched.out" && no_word_of_ours "$TMPDIR/watched.err"
}
# A launcher may kill a rank that another one did not wait for, so a run is repeated: a fault of
# Omig would break each run.
same_in_the_end() {
	for _ in 1 2 3 4 5; do
		both "$@"
		same && return 0
	done
	return 1
}
# Both runs print the same for that action, and it was done.
same_deed() {
	grep " $1: " "$TMPDIR/bare.out" >"$TMPDIR/a"
	grep " $1: " "$TMPDIR/watched.out" >"$TMPDIR/b"
	test -s "$TMPDIR/a" && diff "$TMPDIR/a" "$TMPDIR/b"
}
token_of_pid() {
	request ':proc_get_info([],512)' | sed -n "s/^\\(p_[0-9a-z_]*\\).*[^0-9]$1\$/\\1/p"
}
calls_of_pid() {
	request ":omig_calls_read([$(token_of_pid "$1")],0)" >"$TMPDIR/calls"
}
# counted RANK: the program's counts are those of the monitor
counted() {
	books=$TMPDIR/watched.books.$1
	calls_of_pid "$(sed -n 's/^pid //p' "$books")"
	cat "$books" "$TMPDIR/calls"
	grep -v ^pid "$books" >"$TMPDIR/want"
	test -s "$TMPDIR/want" || return 1
	while read -r name n; do
		grep -q "\\[\"$name\",\"[a-z]*\",$n," "$TMPDIR/calls" || return 1
	done <"$TMPDIR/want"
}
all_counted() {
	for r; do counted "$r" || return 1; done
}
# No call of any rank is open.
none_is_open() {
	for r in 0 1; do
		calls_of_pid "$(sed -n 's/^pid //p' "$TMPDIR/watched.books.$r")"
		cat "$TMPDIR/calls"
		grep -q MPI_Send "$TMPDIR/calls" || return 1
		! grep -Eq '\["MPI_[A-Za-z_]*","[a-z]*",[0-9]+,[0-9]+,[1-9]' "$TMPDIR/calls" ||
			return 1
	done
}

mainsm >/dev/null
for f in $flavours; do
	both "$f" signals fork exit exec vfork spawn mpi daemon fault errjump jump files environment
	check "$f: all in a row: output and status" same
	for deed in signals fork exit exec vfork spawn mpi daemon fault errjump jump files \
		environment; do
		check "$f: $deed" same_deed $deed
	done
	check "$f: what the ranks did is counted, and nothing of their children" until_true 10 \
		all_counted 0 1
	check "$f: a child that is an MPI program is counted for itself" until_true 10 all_counted M
	no_daemon_is_watched() {
		omig tree >"$TMPDIR/tree"
		for r in 0 1; do
			pid=$(cat "$TMPDIR/watched.daemon.$r")
			is_alive "$pid" && ! grep -q "rank .* pid $pid " "$TMPDIR/tree" || return 1
		done
	}
	check "$f: the daemons that they left are not ranks" no_daemon_is_watched
	check "$f: no call that was left is open" until_true 10 none_is_open
	: >"$TMPDIR/bare.end"
	: >"$TMPDIR/watched.end"
	for end in "$TMPDIR"/*.daemon.*; do until_true 5 is_dead "$(cat "$end")"; done

	both "$f" thread
	check "$f: another thread calls MPI_Init_thread: output and status" same
	check "$f: thread: the calls of both threads are counted" until_true 10 all_counted 0 1

	check "$f: without MPI_Finalize: output and status" same_in_the_end "$f" unfinished
	check "$f: unfinished: its calls are counted" until_true 10 all_counted 0 1

	# shellcheck disable=SC2030,SC2031
	OMPI_MCA_btl=self,vader,tcp
	both "$f" children
	OMPI_MCA_btl=self,vader
	if grep -q 'children: 1 4711' "$TMPDIR/bare.out"; then
		check "$f: MPI_Comm_spawn: output and status" same
		check "$f: children: parents and child are counted" until_true 10 all_counted 0 1 S
	else
		skip "$f: MPI_Comm_spawn" 'this MPI cannot spawn here'
	fi

	# --- MPI that is loaded late
	late() {
		rm -f "$TMPDIR/late.pid"
		"$@" >"$TMPDIR/late.out" 2>"$TMPDIR/late.err"
		echo "status $?" >>"$TMPDIR/late.out"
	}
	for how in global local; do
		late timeout $((30 * PATIENCE)) "mpirun.$f" -n 1 "$T/late.$f" $how \
			"$TMPDIR/late.pid"
		mv "$TMPDIR/late.out" "$TMPDIR/late.bare"
		late timeout $((30 * PATIENCE)) omig run --measure=count -- "mpirun.$f" -n 1 \
			"$T/late.$f" $how "$TMPDIR/late.pid"
		check "$f: loaded late, $how: output and status" diff "$TMPDIR/late.bare" \
			"$TMPDIR/late.out"
		check "$f: loaded late, $how: no output of Omig" no_word_of_ours "$TMPDIR/late.err"
		[ $how = local ] && continue
		late_counted() {
			calls_of_pid "$(cat "$TMPDIR/late.pid")"
			cat "$TMPDIR/calls"
			grep -q '"MPI_Reduce_local","other",50,' "$TMPDIR/calls"
		}
		check "$f: loaded late, $how: its calls are counted" until_true 10 late_counted
	done
done
f=$one_flavour

# --- commands between the launcher and the program
between() { # WORDS... in front of the program
	timeout $((60 * PATIENCE)) omig run --measure=count -- "mpirun.$f" -n 2 "$@" \
		"$T/steady.$f" >"$TMPDIR/between.out" 2>"$TMPDIR/between.err"
}
ranks_known() {
	omig tree | grep -c 'rank .*steady'
}
as_bare() { # STATUS
	[ "$1" = 0 ] && same_output between "$f" 2
}
n=$(ranks_known)
between env -u LD_PRELOAD
check 'a program without LD_PRELOAD is not watched, and not disturbed' as_bare $?
between env -u OMIG_MAINSM
check 'nor is one without the connection string' as_bare $?
check 'neither is in the tree' test "$(ranks_known)" = "$n"
printf '%s\n' '#include <unistd.h>' \
	'int main(int c, char **v) { return c > 1 ? execv(v[1], v + 1), 127 : 42; }' \
	>"$TMPDIR/static.c"
# shellcheck disable=SC2086 # CC may have options
if ${CC:-cc} -static-pie -o "$TMPDIR/static" "$TMPDIR/static.c" 2>/dev/null; then
	check 'a static program ends as without Omig' status_is 42 omig run -- "$TMPDIR/static"
	between "$TMPDIR/static"
	check 'a static program in front of the ranks' as_bare $?
	both_came() {
		[ "$(ranks_known)" = $((n + 2)) ]
	}
	check 'they are watched all the same' until_true 10 both_came
else
	skip 'static programs' 'no static libc is here'
fi
tap_end
