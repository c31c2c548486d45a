#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Documents that repeat a fact of the tree have it as it is: the rooms, and the invariants of sim.
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
n=0
check() {
	n=$((n + 1))
	if [ -s "$work/out" ]; then
		sed 's/^/# /' "$work/out"
		echo "not ok $n - house: $1"
	else
		echo "ok $n - house: $1"
	fi
}

mk/rooms-table | diff docs/architecture.md - >"$work/out" 2>&1
check 'docs/architecture.md has the rooms that make rooms-table writes'

# The ids of invariants in the files of the arguments, each once.
ids() {
	find "$@" -type f -exec grep -ho 'INV-[0-9][0-9]*' {} + | sort -u -t - -k 2n
}
grep -o '^- \*\*INV-[0-9]*\*\*' docs/sim.md | tr -d '*' | sed 's/^- //' >"$work/said"
awk '$0 != "INV-" NR { print "invariant " NR " of docs/sim.md is " $0 }' "$work/said" >"$work/out"
check 'docs/sim.md numbers its invariants from 1'
ids sim | diff "$work/said" - >"$work/out"
check 'the judge of sim prints the invariants of docs/sim.md'
ids tests/unit/sim | grep -vxFf "$work/said" >"$work/out"
check 'the tests of sim name invariants of docs/sim.md'
echo "1..$n"
