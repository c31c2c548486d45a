#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the whole tree twice: the second time there is nothing to do. The compilers are scripts
# that write their output files and nothing else, so this takes seconds.
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
n=0

verdict() {
	n=$((n + 1))
	if [ "$2" -eq 0 ]; then echo "ok $n - house: $1"; else sed 's/^/# /' "$work/out" |
		tail -n 20; echo "not ok $n - house: $1"; fi
}

# The fake compiler also writes such a script as output, because the rules run some built programs.
# `ar` has no -o.
mkdir "$work/bin"
cat >"$work/bin/cc" <<'END'
#!/bin/sh
case ${0##*/}$1 in
arrcs) set -- -o "$2" ;;
esac
while [ $# -gt 1 ]; do
	case $1 in
	-o | -H | -f) cp "$0" "$2" ;;
	esac
	shift
done
END
chmod +x "$work/bin/cc"
for p in ar objcopy nm clang gcc g++ mpicc mpicc.openmpi mpicc.mpich mpif90.openmpi mpif90.mpich; do
	cp "$work/bin/cc" "$work/bin/$p"
done

build() {
	PATH=$work/bin:$PATH make BUILD="$work/b" CC="$work/bin/cc" AR="$work/bin/ar" all
}

build >"$work/out" 2>&1
verdict 'the whole tree builds' $?
[ "$(grep -c '^  CC ' "$work/out")" -gt 100 ]
verdict 'that takes many steps' $?
build >"$work/out" 2>&1
verdict 'it builds once more' $?
! grep -v '^make.*Nothing to be done' "$work/out"
verdict 'the second build has nothing to do' $?
sleep 1 && touch "$work/b/plain/gen/libapp/wrap_c.c"
build >"$work/out" 2>&1
grep -q 'CC *gen/libapp/wrap_c.o' "$work/out" && ! grep -q 'wrap_f.o' "$work/out"
verdict 'a build after a change makes what hangs on it' $?
echo "1..$n"
