#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 240
# The same in Fortran, through all three interfaces.
. tests/libapp/lib.sh

same_books() {
	calls_of "$TMPDIR"/books.[0-9]* >"$TMPDIR/want"
	calls_of "$TMPDIR/seen" >"$TMPDIR/got"
	test -s "$TMPDIR/want" && diff "$TMPDIR/want" "$TMPDIR/got"
}
export OMIG_START=volume
for f in $flavours; do
	for how in h mod f08; do
		if ! test -x "$T/calls_$how.$f"; then ok \
			"$f $how # SKIP no Fortran compiler of this MPI"; continue; fi
		rm -f "$TMPDIR"/books*
		start_lm
		watched $f 2 "$T/calls_$how.$f" "$TMPDIR/books" >"$TMPDIR/out" 2>&1
		rc=$?
		stop_lm "$TMPDIR/seen"
		check "$f $how: the program ends well" test $rc = 0
		check "$f $how: nothing but its own output" test "$(cat "$TMPDIR/out")" = \
			"calls: done"
		check "$f $how: counts and bytes equal its own books" same_books
	done
done
exit $failed
