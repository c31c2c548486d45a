#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The table of services is that of the catalogue and the tests. A service counts as done only if a
# system test uses it.
bin=${BUILD%/house}/bin
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

if ! [ -x "$bin/omis-doc" ]; then
	echo 'ok 1 - house: the table of services # SKIP nothing is built here'
	echo '1..1'
	exit 0
fi
mk/services-table "$bin" >"$work/table"
diff docs/services.md "$work/table" >"$work/out" 2>&1
check 'docs/services.md is what make services-table writes'
grep '^| `' "$work/table" | grep -v '| unsupported |' |
	grep -v '| [a-z]*/[a-z0-9/ -]* |$' >"$work/out"
check 'a system test uses each service that is there'
grep -c '^| `' "$work/table" | grep -vE '^(9[0-9]|1[0-9][0-9])$' >"$work/out"
check 'the table has all services'
echo "1..$n"
