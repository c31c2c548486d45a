#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig attach: programs that run unwatched are watched, and their results stay what they are.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh

start() { # FLAVOUR ARGUMENT...: job is the pid of mpirun
	f=$1
	shift
	over=
	[ "$f" = openmpi ] && over=--oversubscribe
	rm -f "$TMPDIR/enough" "$TMPDIR/result"
	mpirun.$f $over -n 2 "$T/summing.$f" "$TMPDIR/enough" "$@" >"$TMPDIR/result" 2>&1 &
	job=$!
}

ends_right() {
	: >"$TMPDIR/enough"
	wait $job
	status=$?
	cat "$TMPDIR/result"
	[ $status = 0 ] && [ "$(cat "$TMPDIR/result")" = '0 wrong' ]
}

are_listed() { [ "$(omig attach | grep -c "summing.$f .*unwatched")" = 2 ]; }
are_watched() { says '^2 of 2 processes are watched' omig attach "$@"; }
are_detached() { says '^2 of 2 processes are detached' omig detach "$@"; }
# A machine without time for lm-trace has refusals, after which the same command completes.
are_free() {
	omig detach "$@"
	are_listed
}
many_times() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		until_true 60 are_watched summing.$f || return 1
		until_true 60 are_free summing.$f || return 1
	done
}
lm_of_this() { cat "$OMIG_RUNTIME_DIR"/lm-*.lock; }
kill_in_the_middle() {
	omig attach summing.$f >"$TMPDIR/cut" 2>&1 &
	cut=$!
	# shellcheck disable=SC2046 # pids
	kill -9 $(lm_of_this) 2>/dev/null
	wait $cut
}
pid_of_rank() {
	omig attach --json | tr '{' '\n' | grep "$T/summing.$f" |
		sed -n "s/^\"pid\":\([0-9]*\).*\"rank\":$1,.*/\1/p"
}

omig status >/dev/null 2>&1
for f in openmpi mpich; do
	if ! [ -x "$T/summing.$f" ] || ! command -v mpirun.$f >/dev/null; then
		skip "$f: attach" "no $f"
		continue
	fi
	start $f
	check "$f: ranks that run unwatched are listed" until_true 20 are_listed
	omig attach summing.$f >"$TMPDIR/first" 2>&1
	if grep -q 'ptrace_scope\|x86-64' "$TMPDIR/first"; then
		ends_right
		skip_all "$(cat "$TMPDIR/first")"
	fi
	check "$f: they are watched, by the pid of mpirun" until_true 60 are_watched $job
	check "$f: they are in the tree" until_true 20 ranks_are 2
	check "$f: their calls are counted" until_true 20 says ' [1-9][0-9.]* k?B 2/2' \
		omig measure Send_volume --count 2
	check "$f: measurements say since when they are" until_true 20 says \
		'^2 of 2 processes: watched since [0-9-]+T.*unknown' \
		omig measure Send_volume --count 1
	check "$f: as JSON too" says '"attached":2,"watched_since_ns":[1-9][0-9]{17}' \
		omig measure Send_volume --count 1 --json
	check "$f: and so does the list of ranks" says 'attached [0-9.]+s ago' omig attach
	check "$f: calls of communicators that were made before have partners" until_true 20 says \
		'rank0.*> *rank1.* [1-9][0-9.]* .?B' omig measure Send_volume \
		--by process,partner --count 2
	check "$f: they are attached once more" until_true 60 are_watched summing.$f
	check "$f: and detached" are_detached summing.$f
	check "$f: many times" many_times
	kill_in_the_middle
	check "$f: the lm is killed in the middle: the next one attaches them" until_true 60 \
		are_watched summing.$f
	check "$f: the program's results are right" ends_right

	start $f waits
	check "$f: of ranks of which one is in a call" until_true 20 are_listed
	check "$f: that one is watched later" until_true 20 comes_out 6 \
		'rank 0, process [0-9]+ at n_1: pending: ' omig attach --wait 0s $job
	check "$f: its result is right" ends_right

	start $f
	check "$f: of a rank that is stopped" until_true 20 are_listed
	stopped=$(pid_of_rank 1)
	kill -STOP "$stopped"
	check "$f: it is not watched while it is stopped" comes_out 6 pending omig attach \
		--wait 0s "$stopped"
	check "$f: and remains stopped" grep -q '^State:.T' "/proc/$stopped/status"
	kill -CONT "$stopped"
	check "$f: then it is" until_true 20 says '^1 of 1 process is watched' omig attach \
		"$stopped"
	check "$f: its results are right" ends_right
	check "$f: an ended process is refused" comes_out 1 'there is no process' omig attach \
		"$stopped"

	export OMIG_DISABLE=1
	start $f
	unset OMIG_DISABLE
	check "$f: of ranks that refuse" until_true 20 are_listed
	check "$f: the reason is shown" until_true 20 comes_out 1 'failed: OMIG_DISABLE is set' \
		omig attach $job
	check "$f: they are armed once more" comes_out 1 'failed: OMIG_DISABLE is set' \
		omig attach $job
	check "$f: their results are right" ends_right

	start $f
	check "$f: of a rank that is attached" until_true 20 are_listed
	ended=$(pid_of_rank 0)
	lm=$(lm_of_this)
	omig attach $job >"$TMPDIR/cut" 2>&1 &
	kill -9 "$ended"
	wait $!
	wait $job
	check "$f: its end does not stop the lm" kill -0 "$lm"
	check "$f: which answers" says '^no ranks|^all|ranks run unwatched' omig attach
done

if command -v mpirun.openmpi >/dev/null; then
	mpirun.openmpi -n 1 sleep 900 >"$TMPDIR/sleeps" 2>&1 &
	job=$!
	check "the pid of an mpirun without ranks on known nodes is called so" until_true 20 \
		comes_out 4 "process $job is mpirun.* no node that is known has ranks of it" \
		omig attach $job
	kill $job
	wait $job
fi
for pid in 0 1 $$ 2147483647; do
	check "process $pid is refused" comes_out 1 "process $pid at n_1: refused: " \
		omig attach $pid
done
check "process -1 is refused" comes_out 1 'process -1 at n_1: refused: ' omig attach -- -1
check "the lm itself is refused" comes_out 1 'refused: there is no process' omig attach \
	"$(lm_of_this)"
check "what is not a job is not found" comes_out 4 'is neither a process nor a running job' \
	omig attach nothing
check "detach needs to be asked for something" comes_out 2 'which process or job' omig detach
check "errors are JSON on request" comes_out 4 '^\{"error"' omig attach --json nothing
observer=$(omig cert token tool-observe --lifetime=10m)
check "an observer may not" comes_out 5 . env OMIG_STATE_DIR="$TMPDIR/other" omig attach \
	--mainsm "$observer" $$
tap_end
