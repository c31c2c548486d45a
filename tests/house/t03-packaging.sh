#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks what is installed for a site's admin: units that systemd accepts with an exposure of at
# most 2.0, paths of this installation, a module file, Slurm's prolog.
. tests/house/part.sh
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
t=$work/t usr=$work/usr
n=0

verdict() {
	n=$((n + 1))
	if [ "$2" -eq 0 ]; then echo "ok $n - house: $1"; else sed 's/^/# /' "$work/out" |
		tail -n 20; echo "not ok $n - house: $1"; fi
}
skip() {
	n=$((n + 1))
	echo "ok $n - house: $1 # SKIP $2"
}
check() {
	what=$1
	shift
	"$@" >"$work/out" 2>&1
	verdict "$what" $?
}

# A tree with nothing to build, and programs that do nothing.
mkdir -p "$t/common" "$usr/bin" "$usr/libexec/omig"
cp -r mk packaging "$t"
cp -r common/base "$t/common"
part_makefile "$t"
cp /bin/true "$usr/bin/omig"
for p in mainsm sm lm; do cp /bin/true "$usr/libexec/omig/$p"; done
check 'it installs into any prefix' make -C "$t" BUILD="$work/b" PREFIX="$usr" install
check 'no placeholder is left' sh -c '! grep -rE "@[a-z]+@" "$1/lib" "$1/share"' sh "$usr"

units="$usr/lib/systemd/system/omig-sm@.service $usr/share/systemd/user/omig-mainsm.service
	$usr/share/systemd/user/omig-lm.service"
exposure() {
	systemd-analyze security --offline=true "$1" 2>&1 |
		sed -n 's/.*Overall exposure level for [^:]*: \([0-9.]*\).*/\1/p'
}
is_closed() {
	level=$(exposure "$1")
	echo "exposure $level"
	[ -n "$level" ] && [ "$(printf '%s\n2.0\n' "$level" | sort -g | tail -n 1)" = 2.0 ]
}
notifies() {
	grep -qx 'Type=notify' "$1" && grep -q '^WatchdogSec=' "$1" &&
		grep -qx "ExecReload=/bin/kill -HUP \$MAINPID" "$1" &&
		grep -q "^ExecStart=$usr/libexec/omig/" "$1"
}
for unit in $units; do
	name=$(basename "$unit" .service)
	check "$name reports when it is ready and alive, and can be reloaded" notifies "$unit"
	if ! systemd-analyze security --help >/dev/null 2>&1; then
		skip "$name: exposure" 'no systemd-analyze'
		continue
	fi
	scope=--system
	case $unit in */user/*) scope=--user ;; esac
	check "$name: systemd accepts it" env XDG_RUNTIME_DIR="$work" systemd-analyze $scope \
		--man=no verify "$unit"
	verdict_output=$(cat "$work/out")
	check "$name: and has no warning" test -z "$verdict_output"
	check "$name: exposure is 2.0 at most" is_closed "$unit"
done
cp "$usr/lib/systemd/system/omig-sm@.service" "$work/open@.service"
sed -i '/^NoNewPrivileges/d; /^CapabilityBoundingSet/d; /^ProtectSystem/d; /^SystemCallFilter/d' \
	"$work/open@.service"
if command -v systemd-analyze >/dev/null; then
	check 'an open unit would be found' sh -c '! { "$2" security --offline=true "$1" |
		grep -q "level for [^:]*: [01]\\."; }' \
		sh "$work/open@.service" "$(command -v systemd-analyze)"
else
	skip 'an open unit would be found' 'no systemd-analyze'
fi

if [ "$(id -u)" = 0 ] && command -v systemd-sysusers >/dev/null &&
	command -v systemd-tmpfiles >/dev/null; then
	mkdir -p "$work/root/etc/omig" "$work/root/var/lib"
	: >"$work/root/etc/omig/sm.conf"
	check 'the user of the sm' sh \
		-c 'systemd-sysusers --root="$1" "$2/lib/sysusers.d/omig.conf" &&
		grep -q "^omig:.*:/var/lib/omig:" "$1/etc/passwd"' sh "$work/root" "$usr"
	check 'its folders, and a connection string that is not for all' sh -c '
		systemd-tmpfiles --root="$1" --create "$2/lib/tmpfiles.d/omig.conf"
		[ "$(stat -c %a "$1/var/lib/omig")" = 700 ] &&
			[ "$(stat -c %a "$1/etc/omig/sm.conf")" = 640 ]' sh "$work/root" "$usr"
else
	skip 'the user of the sm' 'needs root and systemd'
	skip 'its folders, and a connection string that is not for all' 'needs root and systemd'
fi

if command -v tclsh >/dev/null; then
	{
		echo 'proc module-whatis {s} {puts "whatis $s"}'
		echo 'proc conflict {s} {puts "conflict $s"}'
		echo 'proc setenv {n v} {puts "setenv $n $v"}'
		echo 'proc prepend-path {n v} {puts "prepend $n $v"}'
		echo "source [lindex \$argv 0]"
	} >"$work/module.tcl"
	tclsh "$work/module.tcl" "$(find "$usr/share/modulefiles/omig" -type f)" >"$work/module" \
		2>&1
	check 'the module file sets paths' sh -c 'cat "$1"; grep -qxF "prepend PATH $2/bin" "$1"' \
		sh "$work/module" "$usr"
	check 'and preloads nothing' sh -c '! grep LD_PRELOAD "$1"' sh "$work/module"
else
	skip 'the module file sets paths' 'no tclsh'
	skip 'and preloads nothing' 'no tclsh'
fi

# Slurm's prolog, with a fake omig that prints its arguments.
cat >"$usr/bin/omig" <<'END'
#!/bin/sh
[ -z "$FAIL" ] || { echo 'omig: no mainsm is known' >&2; exit 3; }
echo "export OMIG_MAINSM='a'\''b c'"
echo "export OMIG_JOB='7'"
echo "export ASKED='$*'"
END
chmod 755 "$usr/bin/omig"
prolog=$usr/share/omig/slurm/task-prolog.sh
prints() { # WANTED NAME=VALUE...
	want=$1
	shift
	env -i PATH=/usr/bin:/bin SLURM_JOB_ID=7 "$@" "$prolog" >"$work/got"
	echo "status $?, printed:"
	cat "$work/got"
	[ "$(cat "$work/got")" = "$want" ]
}
check 'the prolog exports what omig env says, as Slurm reads it' prints "export OMIG_MAINSM=a'b c
export ASKED=env --no-start --here
unset OMIG_JOB"
check 'the name of the whole job becomes that of the step' prints "export OMIG_MAINSM=a'b c
export ASKED=env --no-start --here --measure=volume
unset OMIG_JOB" OMIG_JOB=7 OMIG_MEASURE=volume
check 'a name of the user stays' prints "export OMIG_MAINSM=a'b c
export OMIG_JOB=7
export ASKED=env --no-start --here" OMIG_JOB=mine
check 'OMIG_DISABLE is obeyed' prints '' OMIG_DISABLE=1
check 'without a monitor nothing is exported' prints 'unset OMIG_JOB' FAIL=1
for s in task-prolog epilog; do
	if command -v shellcheck >/dev/null; then check "$s.sh is sound" shellcheck \
		"$usr/share/omig/slurm/$s.sh"; else skip "$s.sh is sound" 'no shellcheck'; fi
done
check 'all of it can be removed' sh -c 'make -C "$1" BUILD="$2/b" PREFIX="$3" uninstall &&
	! find "$3/lib" "$3/share" -type f | grep .' sh "$t" "$work" "$usr"
echo "1..$n"
