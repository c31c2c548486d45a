#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 120
# Another tool's PMPI layer behind and before ours.
. tests/libapp/lib.sh

books() { grep -E ' MPI_(Send|Recv|Allreduce) ' "$TMPDIR/books.0" "$TMPDIR/books.1" |
	sed 's/.*call/call/' | sort; }
ours() { calls_of "$TMPDIR/seen" | grep -E ' MPI_(Send|Recv|Allreduce) '; }
theirs() { # sums of "second S R A" lines must equal the program's counts
	awk -v want="$(books | awk '{ n[$3] += $5 } END {
		print n["MPI_Send"], n["MPI_Recv"], n["MPI_Allreduce"] }')" \
		'/^second/ { s += $2; r += $3; a += $4 } END { have = s " " r " " a; if (have != want) { print have, "not", want; exit 1 } }' \
		"$TMPDIR/out"
}
same_ours() {
	books >"$TMPDIR/want"
	ours >"$TMPDIR/got"
	test -s "$TMPDIR/want" && diff "$TMPDIR/want" "$TMPDIR/got"
}
run() { # FLAVOUR PRELOAD
	rm -f "$TMPDIR"/books*
	start_lm
	timeout $((50 * PATIENCE)) mpirun.$1 -np 2 env LD_PRELOAD="$2" "$T/calls.$1" \
		"$TMPDIR/books" >"$TMPDIR/out" 2>&1
	rc=$?
	stop_lm "$TMPDIR/seen"
}
export OMIG_START=volume
us=$B/lib/libomig.so
for f in $flavours; do
	for kind in pmpi next; do
		run $f "$us:$T/libsecond_$kind.so"
		check "$f: ours before one that calls $kind: the program ends well" test $rc = 0
		check "$f: ours before one that calls $kind: ours counts" same_ours
		check "$f: ours before one that calls $kind: theirs counts" theirs
	done
	run $f "$T/libsecond_next.so:$us"
	check "$f: behind one that calls the next: the program ends well" test $rc = 0
	check "$f: behind one that calls the next: ours counts" same_ours
	check "$f: behind one that calls the next: theirs counts" theirs
	# This layer calls PMPI directly: the program is unchanged, and calls that it does not wrap
	# are counted.
	run $f "$T/libsecond_pmpi.so:$us"
	check "$f: behind one that calls PMPI: the program ends well" test $rc = 0
	check "$f: behind one that calls PMPI: theirs counts" theirs
	check "$f: behind one that calls PMPI: ours counts the rest" grep -q 'call 0 MPI_Isend ' \
		"$TMPDIR/seen"
done
exit $failed
