#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Adds violations of each rule to a copy of the tree, and checks that the gate reports them.
. tests/house/part.sh
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
n=0

# A fresh copy with one room above the lowest floor. The sources keep their times, so that make
# compiles the lowest floor once.
fresh() {
	rm -rf "$work/t"
	mkdir -p "$work/t/common/ring" "$work/t/tests/fuzz"
	cp -r mk .clang-format "$work/t" && rm -f "$work/t"/mk/ratchet/*
	cp -rp common/base "$work/t/common"
	cp -p tests/alloc_sweep.? tests/suite.h "$work/t/tests"
	cat >"$work/t/common/ring/module.mk" <<-'END'
		MODULES += common/ring
		common/ring.src := ring.c
		common/ring.uses := common/base
	END
	printf '#include "common/base/err.h"\nint ring_now(void);\n' >"$work/t/common/ring/ring.h"
	printf '#include "common/ring/ring.h"\nint ring_now(void)\n{\n\treturn 0;\n}\n' \
		>"$work/t/common/ring/ring.c"
}

run() {
	part_makefile "$work/t"
	(cd "$work/t" && make BUILD="$work/b" M=common/ring WERROR=1 "$@") >"$work/out" 2>&1
}

# verdict NAME STATUS WANTED WORDS: the status is as wanted and the output has the words.
verdict() {
	n=$((n + 1))
	if { [ "$2" -eq 0 ] && [ "$3" = pass ]; } || { [ "$2" -ne 0 ] && [ "$3" = fail ] &&
		grep -q -- "$4" "$work/out"; }; then
		echo "ok $n - house: $1"
	else
		sed 's/^/# /' "$work/out" | tail -n 20
		echo "not ok $n - house: $1"
	fi
}

fresh
run check-floors check-headers check-size check-statics check-unit
verdict 'a clean room passes' $? pass

fresh
mkdir -p "$work/t/tests/unit/common/ring"
cat >>"$work/t/common/ring/module.mk" <<-'END'
	common/ring.gen := $(B)/gen/common/ring/made_c.c $(B)/gen/common/ring/ids.h
	$(B)/gen/common/ring/made_%.c: common/ring/ring.h ; mkdir -p $(@D) && \
		echo 'typedef int made;' >$@
	$(B)/gen/common/ring/ids.h: common/ring/ring.h ; mkdir -p $(@D) && echo 'enum { ID };' >$@
END
printf '#include "common/ring/ids.h"\nint main(void)\n{\n\treturn ID;\n}\n' \
	>"$work/t/tests/unit/common/ring/test_ids.c"
run BUILD="$work/empty" "$work/empty/plain/tests/unit/common/ring/test_ids.o"
verdict 'a test in an empty folder waits for generated headers' $? pass

fresh
sed -i 's|^#include "common/base/err.h"|#include "common/net/chan.h"|' "$work/t/common/ring/ring.h"
run check-floors
verdict 'an upward include is refused' $? fail 'common/ring may not include common/net/chan.h'

fresh
sed -i '1i #include <openssl/ssl.h>' "$work/t/common/ring/ring.c"
run check-floors
verdict 'a library outside its home is refused' $? fail 'not for common/ring'

fresh
echo 'int f;' >"$work/t/common/ring/forgotten.c"
run check-floors
verdict 'a source in no list is found' $? fail 'forgotten.c is in no list'

fresh
mkdir "$work/t/misc" && echo >"$work/t/misc/x.h"
run M= check-rooms
verdict 'a folder that is not a room is found' $? fail 'misc holds sources and is not a room'

fresh
mkdir "$work/t/lm" && printf 'MODULES += lm\nlm.uses := sm\n' >"$work/t/lm/module.mk"
run M= all
verdict 'a daemon that uses its sibling is refused' $? fail 'lm may not use sm'

fresh
sed -i 's|^common/ring.uses.*|common/ring.uses := common/base common/bsae|' \
	"$work/t/common/ring/module.mk"
run all
verdict 'a room that uses one that is not there is refused' $? fail \
	'common/ring uses common/bsae, which is not below it'

fresh
part_makefile "$work/t"
sed -i 's|^include common/ring/|include common/rign/|' "$work/t/Makefile"
make -C "$work/t" BUILD="$work/b" all >"$work/out" 2>&1
verdict 'a room of the list that is not there is refused' $? fail \
	'common/rign/module.mk: No such file'

fresh
mkdir -p "$work/t/common/omis" && printf 'MODULES += common/omis\n' >"$work/t/common/omis/module.mk"
sed -i 's|^common/ring.uses.*|common/ring.uses := common/base common/omis|' \
	"$work/t/common/ring/module.mk"
run all
verdict 'a room that uses one above it is refused' $? fail 'which is not below it'

fresh
printf \
	'#include <string.h>\n#include "common/ring/ring.h"\nint ring_now(void)\n{\n\tchar a[2];\n\n\tstrcpy(a, "x");\n\treturn a[0];\n}\n' \
	>"$work/t/common/ring/ring.c"
run all
verdict 'a banned function does not compile' $? fail 'banned_function_strcpy'

fresh
{ printf 'int longest(int a);\nint longest(int a)\n{\n'; yes '	a++;' |
	head -n 69; printf '	return a;\n}\n'; } >>"$work/t/common/ring/ring.c"
run check-size
verdict 'a function of 72 lines is too long' $? fail '70 is the limit: int longest'
sed -i 's|^int longest(int a);|&\n\n/* long: a table would not be clearer */|' \
	"$work/t/common/ring/ring.c"
run check-size
verdict 'a reason excuses it' $? pass

fresh
yes '/* line */' | head -n 601 >"$work/t/common/ring/ring.h"
run check-size
verdict 'a file of 601 lines is too long' $? fail '600 is the limit'

fresh
echo 'int ring_global;' >>"$work/t/common/ring/ring.c"
run check-statics
verdict 'a writable global is found' $? fail 'ring.c:ring_global'
echo 'common/ring.statics := ring.c:ring_global' >>"$work/t/common/ring/module.mk"
run check-statics
verdict 'a room may own up to it' $? pass

fresh
echo 'size_t ring_size(void);' >>"$work/t/common/ring/ring.h"
sed -i '1d' "$work/t/common/ring/ring.h"
run check-headers
verdict 'a header that needs another one first is found' $? fail \
	'not ok - common/ring/ring.h compiles alone'

fresh
printf \
	'#include <stdlib.h>\nvoid *ring_hot(void);\nvoid *ring_hot(void)\n{\n\treturn malloc(1);\n}\n' \
	>>"$work/t/common/ring/ring.c"
printf 'common/ring.hot := ring.o\ncommon/ring.hot_allow := common/ring/hot.allow\n' \
	>>"$work/t/common/ring/module.mk"
echo 'free' >"$work/t/common/ring/hot.allow"
run check-hot
verdict 'a hot object that allocates is found' $? fail '# malloc'
echo 'malloc' >>"$work/t/common/ring/hot.allow"
run check-hot
verdict 'an allowed symbol passes' $? pass

fresh
printf 'common/ring.shared := libring\n' >>"$work/t/common/ring/module.mk"
printf 'R { global: ring_*; local: *; };\n' >"$work/t/common/ring/libring.map"
sed -i 's/^int ring_now(void)$/__attribute__((visibility("default"))) &/' \
	"$work/t/common/ring/ring.c"
echo 'ring_now' >"$work/t/common/ring/libring.abi"
run check-abi
verdict 'a library that exports its list passes' $? pass
echo 'ring_then' >>"$work/t/common/ring/libring.abi"
run check-abi
verdict 'a listed symbol that is not exported is found' $? fail 'listed, not exported: ring_then'
: >"$work/t/common/ring/libring.abi"
run check-abi
verdict 'an exported symbol that is not listed is found' $? fail 'exported, not listed: ring_now'

# library SOURCE: a library for processes of others, with this in it.
library() {
	fresh
	printf 'common/ring.shared := libring\ncommon/ring.anywhere := libring\n' \
		>>"$work/t/common/ring/module.mk"
	printf 'R { global: ring_*; local: *; };\n' >"$work/t/common/ring/libring.map"
	printf \
		'#include <sys/stat.h>\n#include <dlfcn.h>\n#include <pthread.h>\n#include <unistd.h>\n%s\n' \
		"$1" >>"$work/t/common/ring/ring.c"
}
library 'int ring_new(struct stat *s);
__attribute__((visibility("default"))) int ring_new(struct stat *s) {
	return stat("/", s) + !dlsym(NULL, "x") + pthread_join(0, 0); }'
run check-anywhere
verdict 'a library for processes of others may call what an older C library has elsewhere' $? pass
[ "$(readelf -d "$work/b/plain/lib/libring.so" |
	grep -c 'NEEDED.*\[lib\(c\.so\.6\|dl\.so\.2\|pthread\.so\.0\)\]')" -eq 3 ]
verdict 'it asks for the libraries that had it' $? pass
library 'int ring_new(void);
__attribute__((visibility("default"))) int ring_new(void) { return (int)gettid(); }'
run check-anywhere
verdict 'one that needs a newer C library is refused' $? fail 'too new: gettid@GLIBC_2.30'
library 'int ring_chk(void) __asm__("__obstack_printf_chk");
int ring_new(void);
__attribute__((visibility("default"))) int ring_new(void) { return ring_chk(); }'
run check-anywhere
verdict 'one that needs what glibc alone has is refused' $? fail 'not in musl: __obstack_printf_chk'
library ''
echo 'common/ring.libs := -Wl,--no-as-needed -lanl' >>"$work/t/common/ring/module.mk"
run check-anywhere
verdict 'one that needs another library is refused' $? fail 'needs the library libanl.so'

fresh
printf \
	'#include "common/ring/ring.h"\n#include <stdint.h>\n#include <stddef.h>\nint LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);\nint LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)\n{\n\tif (n > 1)\n\t\t__builtin_trap();\n\treturn ring_now();\n}\n' \
	>"$work/t/tests/fuzz/fuzz_ring.c"
cp tests/fuzz/replay_main.c "$work/t/tests/fuzz"
run check-fuzz
verdict 'a fuzz target without a corpus fails' $? fail 'no corpus in tests/fuzz/corpus/ring'
mkdir -p "$work/t/tests/fuzz/corpus/ring" && printf x >"$work/t/tests/fuzz/corpus/ring/1"
run check-fuzz
verdict 'its corpus is replayed' $? pass
printf xx >"$work/t/tests/fuzz/corpus/ring/2"
run check-fuzz
verdict 'an input that crashes it fails' $? fail 'not ok - replay_ring ended with status'

fresh
mkdir -p "$work/t/tests/unit/common/ring"
printf \
	'#include "tests/suite.h"\n\nTEST(it_lies)\n{\n\tck_assert_int_eq(1, 2);\n}\n\nTEST(it_dies)\n{\n\tabort();\n}\n\nTEST(it_works)\n{\n\tck_assert(1);\n}\n\nSUITE("ring")\n' \
	>"$work/t/tests/unit/common/ring/test_ring.c"
run check-unit
verdict 'failed and crashed tests are counted' $? fail '^1 passed, 2 failed, 0 skipped$'

# Faults that only a sanitizer detects, one for each test; without sanitizers all tests pass.
fresh
mkdir -p "$work/t/tests/unit/common/ring"
cat >"$work/t/tests/unit/common/ring/test_ring.c" <<'END'
#include "tests/suite.h"
#include <limits.h>
#include <pthread.h>

static volatile size_t size = 3;
static volatile int most = INT_MAX;
static int shared;

TEST(it_reads_too_far)
{
	volatile char *p = calloc(size, 1);

	ck_assert_int_le(p[size], CHAR_MAX);
	free((void *)p);
}

TEST(it_overflows)
{
	ck_assert_int_ne(most + 1, 0);
}

static void *add_one(void *arg)
{
	shared++;
	return NULL;
}

TEST(it_races)
{
	pthread_t t;

	ck_assert_int_eq(pthread_create(&t, NULL, add_one, NULL), 0);
	shared++;
	pthread_join(t, NULL);
}

SUITE("ring")
END
run check-unit
verdict 'without a sanitizer these findings pass' $? pass
run check
verdict 'a read past the end fails the check' $? fail '^not ok 1 - asan: .*it_reads_too_far'
verdict 'an overflow fails the check' 1 fail '^not ok 2 - asan: .*it_overflows'
verdict 'the check says what it leaves to check-sanitize' 1 fail \
	'^[0-9]* passed, 2 failed, [1-9][0-9]* skipped$'
run check-sanitize
verdict 'a race fails check-sanitize' $? fail '^not ok 3 - tsan: .*it_races'
verdict 'one line sums it all up' 1 fail '^[0-9]* passed, 3 failed, [0-9]* skipped$'
printf \
	'#include "tests/suite.h"\n\nTEST(it_works)\n{\n\tck_assert(1);\n}\n\nSUITE("ring")\n' \
	>"$work/t/tests/unit/common/ring/test_ring.c"
run check
verdict 'without findings the check passes' $? pass
run check-sanitize
verdict 'without findings check-sanitize passes' $? pass
printf '#ifdef __SANITIZE_THREAD__\n#error\n#endif\n' >>"$work/t/common/ring/ring.c"
run check-sanitize
verdict 'a variant that does not build fails the check' $? fail '^not ok - tsan: the build failed'

fresh
run all
touch -d '1 hour ago' "$work/t/common/ring/ring.c"
before=$(stat -c %Y "$work/b/plain/common/ring/ring.o")
sleep 1
run CPPFLAGS=-DCHANGED all
after=$(stat -c %Y "$work/b/plain/common/ring/ring.o")
[ "$before" -lt "$after" ]
verdict 'changed flags rebuild' $? pass

echo "1..$n"
