#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs a small library and program of its own into a folder. Uses the library from a foreign
# program, and uninstalls.
. tests/house/part.sh
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
t=$work/t
n=0

verdict() {
	n=$((n + 1))
	if [ "$2" -eq 0 ]; then echo "ok $n - house: $1"; else sed 's/^/# /' "$work/out" |
		tail -n 20; echo "not ok $n - house: $1"; fi
}

run() {
	(cd "$t" && make BUILD="$work/b" PREFIX=/usr DESTDIR="$work/d" "$@") >"$work/out" 2>&1
}

mkdir -p "$t/common" "$t/tests" "$t/libapp"
cp -r mk "$t" && cp -r common/base "$t/common" && cp tests/alloc_sweep.? "$t/tests"
cd "$t/libapp" || exit 2
cat >module.mk <<'END'
MODULES += libapp
libapp.src      := small.c
libapp.uses     := common/base
libapp.shared   := libsmall
libapp.programs := small
libapp.headers  := small.h
libapp.pc       := libsmall.pc.in
libapp.man      := small.1.scd
END
printf \
	'#ifndef SMALL_H\n#define SMALL_H\n#ifdef __cplusplus\nextern "C" {\n#endif\nint small_answer(void);\n#ifdef __cplusplus\n}\n#endif\n#endif\n' \
	>small.h
printf \
	'#include "libapp/small.h"\n__attribute__((visibility("default"))) int small_answer(void)\n{\n\treturn 42;\n}\n' \
	>small.c
printf '#include "libapp/small.h"\nint main(void)\n{\n\treturn small_answer() - 42;\n}\n' \
	>small_main.c
printf 'S { global: small_*; local: *; };\n' >libsmall.map
echo small_answer >libsmall.abi
printf \
	'Name: small\nDescription: small\nVersion: @version@\nLibs: -L@libdir@ -lsmall\nCflags: -I@includedir@\n' \
	>libsmall.pc.in
printf 'small(1)\n\n# NAME\n\nsmall - answers\n' >small.1.scd
cd "$OLDPWD" || exit 2
part_makefile "$t"

! run install && grep -q 'run make first' "$work/out"
verdict 'install never builds' $?
run all check-headers check-abi && run install
verdict 'install puts everything in its place' $?
(
	cd "$work/d/usr" && test -x bin/small && test -f include/omig/small.h &&
		test -f share/man/man1/small.1 &&
		test "$(readlink lib/libsmall.so.0)" = libsmall.so.0.1.0 &&
		test "$(readlink lib/libsmall.so)" = libsmall.so.0 && bin/small &&
		printf \
		'#include <omig/small.h>\nint main(void)\n{\n\treturn small_answer() - 42;\n}\n' \
		>"$work/user.c" &&
		PKG_CONFIG_PATH=lib/pkgconfig PKG_CONFIG_SYSROOT_DIR="$work/d" &&
			export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR &&
		flags=$(pkg-config --cflags libsmall) && for kind in shared static; do
			libs="-L$work/d/usr/lib -lsmall"
			[ $kind = static ] && libs=$work/d/usr/lib/libsmall.a
			gcc -std=c99 $flags -I"$work/d/usr/include" -o "$work/user" "$work/user.c" \
				$libs &&
				LD_LIBRARY_PATH=$work/d/usr/lib "$work/user" || exit 1
		done
) >>"$work/out" 2>&1
verdict 'a foreign project builds with the installation' $?
no_room() ( # the disk is full in the middle
	old=$(cd "$work/d/usr" && find . -type f -exec cksum {} + | sort)
	(cd "$t" && ulimit -f 1 && make BUILD="$work/b" PREFIX=/usr DESTDIR="$work/d" install \
		2>&1; echo "status $?") | cat >"$work/out"
	tail -n 1 "$work/out" | grep -qv '^status 0' && [ \
		"$(cd "$work/d/usr" && find . -type f -exec cksum {} + | sort)" = "$old" ]
)
no_room
verdict 'an install that fails over another one leaves that whole' $?
run install && run uninstall && [ -z \
	"$(find "$work/d" -type f -o -type l -o -path "$work/d/*omig*")" ]
verdict 'uninstall leaves no file, and no folder of Omig' $?

# The runner of system tests, with scripts that pass, fail, skip and hang.
mkdir -p "$t/tests/system/any"
cp tests/system/run.sh "$t/tests/system"
cat >"$t/tests/system/any/t01-pass.sh" <<'END'
echo 'ok 1 - one'; echo 'ok 2 - two'; echo 'ok 3 - three # SKIP no such thing'
END
echo 'echo "no cluster"; exit 77' >"$t/tests/system/any/t02-skip.sh"
B=$work/b/plain sh "$t/tests/system/run.sh" >"$work/out" 2>&1 &&
	[ "$(tail -n 1 "$work/out")" = '2 passed, 0 failed, 2 skipped' ]
verdict 'system tests are summed' $?
printf '# timeout: 1\nsleep 100\n' >"$t/tests/system/any/t03-hang.sh"
echo 'echo "ok 1 - fine"; exit 3' >"$t/tests/system/any/t04-dies.sh"
echo 'exit 0' >"$t/tests/system/any/t05-silent.sh"
! B=$work/b/plain sh "$t/tests/system/run.sh" >"$work/out" 2>&1 &&
	[ "$(tail -n 1 "$work/out")" = '4 passed, 2 failed, 2 skipped' ]
verdict 'system tests that hang or die are failures' $?
! run check-system && grep -qx '4 passed, 2 failed, 2 skipped' "$work/out"
verdict 'make judges them' $?
B=$work/b/plain sh "$t/tests/system/run.sh" pass silent >"$work/out" 2>&1 &&
	[ "$(tail -n 1 "$work/out")" = '3 passed, 0 failed, 1 skipped' ]
verdict 'some of them can be chosen' $?

echo "1..$n"
