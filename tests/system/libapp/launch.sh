#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 120
# The first rank of a host starts the lm: once, in the background, without the program's
# descriptors.
. tests/libapp/lib.sh

FAKE_LM_OUT=$TMPDIR/lm
OMIG_LM=$T/fake_lm
export FAKE_LM_OUT OMIG_LM
until_there() {
	i=0
	until test -e "$1"; do
		i=$((i + 1))
		test $i -lt 200 || return 1
		sleep 0.05
	done
}
has() { grep -qx "$1" "$FAKE_LM_OUT" || { cat "$FAKE_LM_OUT"; return 1; }; }
gone() {
	i=0
	while kill -0 "$1" 2>/dev/null; do
		i=$((i + 1))
		test $i -lt 200 || return 1
		sleep 0.05
	done
}
# A rank that is bound to one processor, with the policy SCHED_BATCH.
bound=
if taskset -c 0 true && chrt -b 0 true; then bound="taskset -c 0 chrt -b 0"; fi
processors=many
test "$(env -u OMP_NUM_THREADS nproc)" -gt 1 || processors=one
for f in $flavours; do
	rm -f "$TMPDIR"/lm*
	# A descriptor and a signal state that must not reach the lm; exec_child proves that wait()
	# sees no child.
	exec 8<"$0"
	watched $f 2 $bound sh -c "trap '' USR2; exec '$T/rough.$f' exec" >"$TMPDIR/out" 2>&1
	rc=$?
	exec 8<&-
	check "$f: the program ends well" test $rc = 0
	check "$f: it sees no child but its own" test "$(grep -c 'wait 1' "$TMPDIR/out")" = 2
	check "$f: an lm was started" until_there "$FAKE_LM_OUT"
	check "$f: with the lock" has "lock held"
	check "$f: it gets the descriptor of the lock" has "arg 2 3"
	check "$f: to be a daemon" has "arg 3 --daemon"
	check "$f: it gets the descriptor of its socket" has "arg 4 --listen-fd"
	check "$f: which listens" has "listens yes"
	check "$f: without what was preloaded" has "preload no"
	check "$f: in a session of its own" has "session own"
	check "$f: with signals as at login" has "signals blocked 0 handled 0"
	check "$f: on all processors" has "processors $processors"
	check "$f: scheduled with the normal policy" has "policy normal"
	check "$f: with five files open and no more" test "$(grep -c ^fd "$FAKE_LM_OUT")" = 5
	lm=$(sed -n 's/^pid //p' "$FAKE_LM_OUT")
	# While it lives a second program starts no other.
	mv "$FAKE_LM_OUT" "$FAKE_LM_OUT.first"
	check "$f: a second program ends well" watched $f 2 "$T/rough.$f" plain
	check "$f: and starts no second lm" test ! -e "$FAKE_LM_OUT"
	: >"$FAKE_LM_OUT.stop"
	check "$f: the lm ends" gone "$lm"
	# The ranks of the first program started at one moment: one of them may have searched too
	# early.
	check "$f: both programs have registered there" test "$(cat "$FAKE_LM_OUT.registered")" \
		-ge 3
done
exit $failed
