#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A small room with tests for a part of it: checks the report on each mutation.
. tests/house/part.sh
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
n=0
mkdir -p "$work/t/common/ring" "$work/t/tests/unit/common/ring"
cp -r mk "$work/t"
cp -r common/base "$work/t/common"
cp tests/alloc_sweep.? tests/suite.h "$work/t/tests"
cat >"$work/t/common/ring/module.mk" <<'END'
MODULES += common/ring
common/ring.src := ring.c
common/ring.uses := common/base
common/ring.test_needs := $(B)/bin/needed
$(B)/bin/needed:
	mkdir -p $(@D) && : >$@
END
part_makefile "$work/t"
cat >"$work/t/common/ring/ring.h" <<'END'
int ring_limit(int n);
int ring_free(void);
int ring_unchecked(int n);
int ring_same(int n);
int ring_cases(int n);
END
cat >"$work/t/common/ring/ring.c" <<'END'
#include "common/ring/ring.h"
#include <stdlib.h>

/* n < 0 && n + 1: no code */
int ring_limit(int n)
{
	if (n > 8)
		return 0;
	return n;
}

int ring_free(void)
{
	void *p = malloc(100);

	free(p);
	return p != NULL;
}

int ring_unchecked(int n)
{
	return n + 3;
}

int ring_same(int n)
{
	return n * 1;
}

int ring_cases(int n)
{
	switch (n) {
	case 1:
		return 5;
	case 2:
		return 6;
	}
	return 7;
}
END
cat >"$work/t/tests/unit/common/ring/test_ring.c" <<'END'
#include "common/base/file.h"
#include "common/ring/ring.h"
#include "tests/suite.h"

#include <unistd.h>

TEST(the_limit_is_eight)
{
	char needed[FILE_PATH_BYTES];

	ck_assert_int_eq(file_beside_program(needed, "../../../../bin/needed", NULL), 0);
	ck_assert_int_eq(access(needed, R_OK), 0);
	ck_assert_int_eq(ring_limit(7), 7);
	ck_assert_int_eq(ring_limit(8), 8);
	ck_assert_int_eq(ring_limit(9), 0);
	ck_assert_int_eq(ring_free(), 1);
}

SUITE("ring")
END

tree() {
	(cd "$work/t" && find . -type f -exec cksum {} + | sort)
}

# mutate SEED N: with its output in the file `out`.
mutate() {
	(cd "$work/t" && make BUILD="$work/b" M=common/ring SEED="$1" N="$2" mutate) >"$work/log" \
		2>&1
	grep -E '^(killed|survived|same|not compiled|left|seed|    ([-+]|no test))' "$work/log" \
		>"$work/out"
}

# has NAME WORDS: a line of the output has them.
has() {
	n=$((n + 1))
	if grep -qE -- "$2" "$work/out"; then
		echo "ok $n - house: $1"
	else
		sed 's/^/# /' "$work/log" | tail -n 40
		echo "not ok $n - house: $1"
	fi
}

tree >"$work/before"
mutate 1 1000
tree >"$work/after"
has 'a change that a test notices is killed' \
	'^killed +common/ring/ring.c:7:[0-9]+ comparison by common/ring/test_ring'
has 'a change that no test notices survives' '^survived +common/ring/ring.c:22:[0-9]+ arithmetic$'
has 'the line stands there as it is' '^    - 	return n \+ 3;$'
has 'and as it was changed' '^    \+ 	return n - 3;$'
if type gcov >/dev/null 2>&1 && ! ${CC:-cc} --version | grep -q clang; then
	has 'where no test comes, it says so' '^    no test comes to this line$'
fi
has 'a change that makes the same code does not count' \
	'^same code +common/ring/ring.c:27:[0-9]+ arithmetic$'
has 'nor one that does not compile' '^not compiled common/ring/ring.c:33:[0-9]+ constant$'
has 'all are summed up' \
	'^seed 1: killed [1-9][0-9]*, survived [1-9][0-9]*, not compiled 2, same code [1-9][0-9]*; score [0-9.]+ %$'
if echo 'int main(void) { return 0; }' | ${CC:-cc} -x c -fsanitize=leak -o "$work/leak" - \
	2>/dev/null; then
	has 'a free that is left out is noticed' '^killed +common/ring/ring.c:16:[0-9]+ call by'
fi
grep -q 'ring.c:4:' "$work/out" && echo 'a comment is changed' >"$work/out" ||
	echo fine >"$work/out"
has 'a comment is not changed' '^fine$'
cmp -s "$work/before" "$work/after" && echo fine >"$work/out" ||
	echo 'the tree is another one' >"$work/out"
has 'the source tree is as it was' '^fine$'
mutate 5 4 && cp "$work/out" "$work/first"
mutate 5 4 && cmp -s "$work/out" "$work/first" && echo fine >"$work/out"
has 'the same seed makes the same changes' '^fine$'
mutate 6 4
cmp -s "$work/out" "$work/first" || echo fine >"$work/out"
has 'another seed makes others' '^fine$'
echo "1..$n"
