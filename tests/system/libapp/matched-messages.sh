#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
# Vertices of messages: both ends compute one id for a message, in all modes, without a byte in it.
# The messages of matched.c carry serial numbers, which prove each match.
. tests/libapp/lib.sh
export OMIG_RING=1048576 OMIG_START=off+messages

# Each certain receive has the id of the send with its serial number, and no id is there twice.
judge() { # FILES...
	cat "$@" | awk '
		$1 == "S" { sent[$2] = $3; doubt[$2] = $4; nsent++; if (!$4 && by[$3]++) twice++ }
		$1 == "R" { received[$2] = $3; other[$2] = $4; n++ }
		END {
			for (m in received) {
				if (!(m in sent)) lost++ # and counted
				else if (other[m] || doubt[m]) uncertain++
				else if (sent[m] != received[m]) { print "another id: " m; wrong++ }
				else right++
			}
			printf "%d sent, %d received, %d matched, ", nsent, n, right
			printf "%d uncertain, %d wrong, %d twice\n", uncertain, wrong, twice
			exit !(n && right && !wrong && !twice)
		}'
}
run() { # FLAVOUR RANKS [threads]
	f=$1 n=$2
	shift 2
	rm -f "$TMPDIR"/book.*
	watched $f $n "$T/matched.$f" "$TMPDIR/book" "$@"
}
for f in $flavours; do
	for n in 2 4; do
		check "$f, $n ranks: the program ends well" run $f $n
		judge "$TMPDIR"/book.* >"$TMPDIR/verdict"
		check "$f, $n ranks: $(tail -n 1 "$TMPDIR/verdict")" judge "$TMPDIR"/book.*
		check "$f, $n ranks: none is uncertain" grep -q ' 0 uncertain' "$TMPDIR/verdict"
	done
	check "$f, threads: the program ends well" run $f 3 threads
	check "$f, threads: $(judge "$TMPDIR"/book.* | tail -n 1)" judge "$TMPDIR"/book.*
done
exit $failed
