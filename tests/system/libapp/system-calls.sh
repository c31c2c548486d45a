#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 120
# Watching makes system calls at set-up only, and set-up tolerates the failure of each of its system
# calls.
. tests/libapp/lib.sh

command -v strace >/dev/null || { echo "no strace"; exit 77; }
f=${flavours##* }
traced() { # OPTIONS... -- runs one rank alone; counts in $TMPDIR/trace
	rm -f "$TMPDIR/trace"
	timeout $((50 * PATIENCE)) strace -f -qq -o "$TMPDIR/trace" "$@" "$T/loop.$f"
}
strace -o /dev/null true 2>/dev/null || { echo "strace is not permitted here"; exit 77; }

# Of the thread that loops (MPI has others of its own), between its two marks: writes to file
# descriptor -1.
between() {
	awk '/write\(-1, "begin"/ { who = $1; next } /write\(-1, "end"/ { exit } who &&
		$1 == who { n++ } END { print n + 0 }' "$TMPDIR/trace"
}
quiet_loop() {
	traced -E LD_PRELOAD="$B/lib/libomig.so" -E OMIG_START=$1 || return 1
	watched_calls=$(between)
	traced || return 1
	bare_calls=$(between)
	echo "$1: $watched_calls system calls, $bare_calls without us"
	# MPI's progress engine makes a few of them. One system call of Omig in a thousand calls
	# would add 20.
	test "$watched_calls" -le $((bare_calls + 19))
}
for start in count time volume; do
	check "$f: 20,000 calls, OMIG_START=$start: no system call of Omig" quiet_loop $start
done

# Linux before 5.16 cannot deliver a signal without memory, so none arrives.
holds_signals_back() {
	traced -E LD_PRELOAD="$B/lib/libomig.so" || return 1
	awk \
		'/memfd_create\("omig/ { who = $1 } who != $1 { next }
		/rt_sigprocmask\(SIG_BLOCK, ~\[/ { held = 1 }
		/rt_sigprocmask\(SIG_SETMASK/ { held = 0 } /fallocate/ { exit }
		END { exit !held }' "$TMPDIR/trace"
}
check "$f: no signal comes while the memory is allocated" holds_signals_back

# Each system call of set-up fails, one at a time: the program does not notice.
survives() {
	timeout $((50 * PATIENCE)) strace -f -qq -o /dev/null -e inject="$1" -E \
		LD_PRELOAD="$B/lib/libomig.so" -E OMIG_START=volume "$T/loop.$f" >"$TMPDIR/out" 2>&1
	rc=$?
	test $rc = 0 && test "$(cat "$TMPDIR/out")" = "loop done" ||
		{ echo "status $rc"; cat "$TMPDIR/out"; return 1; }
}
for fault in memfd_create:error=ENOSYS memfd_create:error=EMFILE fallocate:error=ENOSPC \
	fallocate:error=ENOMEM \
	flock:error=ENOLCK; do
	check "$f: with $fault" survives "$fault"
done
exit $failed
