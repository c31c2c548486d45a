#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 240
# A program counts its own calls and bytes: libapp's counts are equal, for each rank and call.
. tests/libapp/lib.sh

same_books() {
	calls_of "$TMPDIR"/books.[0-9]* >"$TMPDIR/want"
	calls_of "$TMPDIR/seen" >"$TMPDIR/got"
	test -s "$TMPDIR/want" && diff "$TMPDIR/want" "$TMPDIR/got"
}
run() { # FLAVOUR RANKS NAME COMMAND...
	flavour=$1 ranks=$2 name=$3
	shift 3
	rm -f "$TMPDIR"/books*
	start_lm
	"$@" "$TMPDIR/books" >"$TMPDIR/out" 2>&1
	rc=$?
	stop_lm "$TMPDIR/seen"
	check "$flavour: $name: the program ends well" test $rc = 0
	check "$flavour: $name: nothing but its own output" test "$(cat "$TMPDIR/out")" = \
		"calls: done"
	check "$flavour: $name: counts and bytes equal its own books" same_books
}
for f in $flavours; do
	export OMIG_START=volume
	run $f 2 "preloaded, 2 ranks" watched $f 2 "$T/calls.$f"
	# The lm switches hooks on after MPI_Init has returned; that must not change the counts.
	OMIG_TEST_HOOKS=f
	export OMIG_TEST_HOOKS
	run $f 2 "partners switched on by the lm" watched $f 2 "$T/calls.$f"
	OMIG_TEST_HOOKS=ff
	run $f 2 "with events and actions too" watched $f 2 "$T/calls.$f"
	unset OMIG_TEST_HOOKS
	run $f 2 "linked" bare $f 2 "$T/linked.$f"
	run $f 2 "linked statically" bare $f 2 "$T/archive.$f"
	unset OMIG_START
done
for f in $flavours; do
	export OMIG_START=volume
	run $f 2 "neighbours, 2 ranks" watched $f 2 "$T/neighbours.$f"
	run $f 4 "neighbours, 4 ranks" watched $f 4 "$T/neighbours.$f"
done
# Open MPI yields when there are more ranks than processors; MPICH spins.
case $flavours in *openmpi*)
	export OMIG_START=volume
	run openmpi 4 "preloaded, 4 ranks" watched openmpi 4 "$T/calls.openmpi"
esac
exit $failed
