#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 200
# MPI_THREAD_MULTIPLE: all threads together have the counts of the program. That also holds for more
# threads, one after another, than a segment has blocks. Threads beyond the number of blocks are
# counted as lost.
. tests/libapp/lib.sh

same_books() {
	calls_of "$TMPDIR"/books.[0-9]* >"$TMPDIR/want"
	calls_of "$TMPDIR/seen" >"$TMPDIR/got"
	test -s "$TMPDIR/want" && diff "$TMPDIR/want" "$TMPDIR/got"
}
run() { # FLAVOUR WAVES THREADS
	rm -f "$TMPDIR"/books*
	start_lm
	watched $1 2 "$T/threads.$1" "$TMPDIR/books" $2 $3 >"$TMPDIR/out" 2>&1
	rc=$?
	stop_lm "$TMPDIR/seen"
}
export OMIG_START=volume
for f in $flavours; do
	run $f 6 4
	check "$f: 6 waves of 4 threads end well" test $rc = 0
	check "$f: all threads together count right" same_books
	export OMIG_THREADS=3
	run $f 6 2
	check "$f: more threads, one after another, than blocks" same_books
	run $f 1 6
	check "$f: too many at once: the program ends well" test $rc = 0
	check "$f: too many at once: those without a block are counted" grep -Eq \
		'^lost [01] threads [1-9][0-9]* calls [1-9]' "$TMPDIR/seen"
	unset OMIG_THREADS
done
exit $failed
