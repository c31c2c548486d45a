#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Documents that repeat facts of the tree agree with it: the rooms, and the invariants of sim.
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

mk/deps-table | diff docs/admin.md - >"$work/out" 2>&1
check 'docs/admin.md has the packages that make deps-table writes'
awk -F '\t' '/^#/ { next }
	NF != 8 || /(^|\t)(\t|$)/ || $2 !~ /^(build|option|demo|check|foreign|service)$/ ||
		$3 !~ /^(program|pkg|header|library|python):.|^-$/ ||
		(($2 == "build" || $2 == "option") && $3 ~ /^(pkg|header|library):/ && $7 == "-") {
		print "packaging/deps.tsv:" FNR ": 8 columns, a need, a look, a licence" }
	{ rows++ }
	END { if (rows < 20) print "packaging/deps.tsv has " rows + 0 " rows" }' \
	packaging/deps.tsv >"$work/out"
check 'each row of packaging/deps.tsv is complete'

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

# Tables of capabilities: each row has a section and a command, or `-` and why there is none.
awk -F ' *[|] *' '!/^\|/ || /^\|---/ || $2 == "Capability" { next }
	{ rows++ }
	NF != 6 || $2 == "" || $3 !~ /^[0-9][0-9., ]*$/ || $5 == "" ||
		($4 != "-" && $4 !~ /^`omig [^`]*`$/) || ($4 == "-" && $5 == "Nothing.") {
		print "docs/papers.md:" FNR ": no capability, section, command and difference" }
	END { if (rows < 20) print "docs/papers.md has " rows + 0 " rows" }' \
	docs/papers.md >"$work/out"
check 'each row of docs/papers.md has its section, its command and what differs'
awk -f tests/docs/lines.awk docs/papers.md | cut -f 2- | sort >"$work/lines"
grep -o '| `omig [^`]*` |' docs/papers.md | sed 's/^| `//; s/` |$//' | sort |
	comm -13 "$work/lines" - >"$work/out"
check 'the test of documents types each command of docs/papers.md'
echo "1..$n"
