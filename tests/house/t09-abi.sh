#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mk/check-abidiff: a library whose public types changed is found, private ones may change.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
n=0
verdict() { # NAME STATUS
	n=$((n + 1))
	[ "$2" -eq 0 ] || sed 's/^/# /' "$work/said"
	[ "$2" -eq 0 ] || printf 'not '
	echo "ok $n - house: $1"
}
if ! command -v abidw >/dev/null; then
	echo 'ok 1 - house: types of libraries # SKIP no abidw'
	echo 1..1
	exit
fi
header() { # MEMBERS FUNCTIONS
	printf 'struct point {\n\t%s\n};\nstruct hidden;\n%s\n' "$1" "$2" >"$work/point.h"
}
made() { # BODY
	printf '#include "point.h"\n%s\n' "$1" >"$work/point.c"
	"${CC:-gcc}" -g -shared -fPIC -Wl,-soname,libpoint.so.0 -o "$work/libpoint.so" \
		"$work/point.c"
}
checked() { # WANTED: a line of the answer
	mk/check-abidiff "$work/libpoint.so" "$work/abi" "$work/point.h" >"$work/said" 2>&1
	grep -q "$1" "$work/said"
}
two='int far(struct point *p); int near(struct hidden *h);'
bodies='struct hidden { int a; };
int far(struct point *p) { return p->x; } int near(struct hidden *h) { return h->a; }'
header 'int x, y;' "$two"
made "$bodies"
checked '^ok .*SKIP no baseline'
verdict 'without a baseline the check is skipped' $?
mk/check-abidiff --write "$work/libpoint.so" "$work/abi" "$work/point.h" >"$work/said" 2>&1
verdict 'the baseline is written' $?
checked '^ok - types of libpoint$'
verdict 'the same library is accepted' $?
made "$(echo "$bodies" | sed 's/int a;/long b; int a;/')"
checked '^ok - types of libpoint$'
verdict 'a private structure may change' $?
header 'long x; int y;' "$two"
made "$bodies"
checked '^not ok'
verdict 'a member of a public structure that grew is found' $?
header 'int x, y;' 'int far(struct point *p);'
made 'int far(struct point *p) { return p->x; }'
checked '^# .*raise the number of the soname'
verdict 'a function that is gone asks for a new soname' $?
header 'int x, y;' "$two int new(void);"
made "$bodies int new(void) { return 1; }"
checked '^# look whether .*make abi-baselines'
verdict 'a new function asks for a new baseline' $?
echo "1..$n"
