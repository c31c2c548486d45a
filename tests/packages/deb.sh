#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deb.sh FOLDER: tests the packages of Debian in FOLDER (`make deb-check`): lintian, what is in
# them, and a bare Debian in which they are installed, tested and removed again. Prints TAP.
set -u
debs=$(readlink -f "$1")
work=$(mktemp -d)
root=$work/root
n=0 failed=0
trap 'rm -rf "$work"' EXIT

check() { # NAME COMMAND...
	what=$1
	shift
	n=$((n + 1))
	if "$@" >"$work/out" 2>&1; then
		echo "ok $n - $what"
	else
		sed 's/^/# /' "$work/out" | tail -n 40
		echo "not ok $n - $what"
		failed=1
	fi
}
skip() { # NAME REASON
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}
field() { # FIELD PACKAGE
	dpkg-deb -f "$debs/$2"_*.deb "$1"
}

# --- the files themselves
if command -v lintian >/dev/null; then
	# Overrides have their reasons beside them, in packaging/debian.
	is_clean() {
		lintian --tag-display-limit 0 -I --pedantic "$debs"/*.changes >"$work/tags" 2>&1
		cat "$work/tags"
		! grep -q '^[EWIP]:' "$work/tags"
	}
	check 'lintian has no error, warning, or remark' is_clean
else
	skip 'lintian' 'lintian is not installed'
fi
no_mpi() {
	for deb in "$debs"/*.deb; do
		dpkg-deb -x "$deb" "$work/all" && field Depends "$(basename "${deb%%_*}")"
	done >"$work/depends"
	! grep -iE 'mpich|openmpi' "$work/depends" || return 1
	find "$work/all" -type f -exec readelf -d {} + 2>/dev/null | grep 'NEEDED.*libmpi' &&
		return 1
	! sed -n '/^Build-Depends/,/^[A-Z].*:/p' packaging/debian/control |
		grep -iE 'mpich|openmpi'
}
check 'no package needs an MPI, and neither does the build' no_mpi
check 'libomig0 needs the C library alone' test "$(field Depends libomig0 | sed 's/ (.*//')" = libc6
privileged() {
	! { find "$work/all" ! -type d -perm /6000 | grep . ||
		getcap -r "$work/all" 2>/dev/null | grep .; }
}
check 'nothing is setuid or has capabilities' privileged
small() { # omig and libomig0, in bytes; half of it are documents
	bytes=$(cat "$debs"/omig_*.deb "$debs"/libomig0_*.deb | wc -c)
	echo "$bytes bytes"
	[ "$bytes" -le 2600000 ]
}
check 'omig and libomig0 have at most 2.6 MB' small

# --- in a bare system
why=
command -v mmdebstrap >/dev/null || why='mmdebstrap is not installed'
[ "$(id -u)" = 0 ] || why=${why:-'needs root'}
unshare -mpf true 2>/dev/null || why=${why:-'no name spaces of mounts and processes here'}
# shellcheck disable=SC1091 # of this system
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
[ -n "$why" ] || nice mmdebstrap --variant=apt "$suite" "$root" >"$work/out" 2>&1 ||
	why='no Debian could be fetched'
if [ -n "$why" ]; then
	skip 'a bare system' "$why"
	echo "1..$n"
	exit $failed
fi
inside() { # COMMAND: for a shell, in the system; its daemons end with it
	# shellcheck disable=SC2016 # for the shell inside
	unshare -mpf sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
		mount -t tmpfs tmpfs "$1/run" && exec chroot "$1" env -i HOME=/root LC_ALL=C.UTF-8 \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
		sh -c "$2"' - "$root" "$1"
}
ours() { # files and folders of ours in the system
	(cd "$root" && find . -xdev \( -iname '*omi[gs]*' -o -name '_omig' \) |
		grep -v '^\./debs\|^\./proc' | sort)
}
mkdir "$root/debs"
cp "$debs"/*.deb "$root/debs"
rm -f "$root"/debs/*dbgsym*
cp /etc/resolv.conf "$root/etc/resolv.conf"
# shellcheck disable=SC2016 # for the shell inside
check 'they are installed' inside 'apt-get update && \
	apt-get install -y --no-install-recommends /debs/*.deb'
check 'no service runs or is enabled' inside '[ -f /lib/systemd/system/omig-sm@.service ] &&
	! find /etc/systemd -name "*omig*" | grep .'
check 'the user of the service is there' inside 'grep ^omig: /etc/passwd'
check 'only omig is in bin' inside '[ "$(dpkg -L omig | grep "^/usr/bin/.")" = /usr/bin/omig ]'
check 'omig runs a daemon' inside 'omig sm --help'
check 'omig selftest services' inside 'omig selftest services'
check 'a Python program finds the library' inside 'python3 -c "import omig; omig._library.load()"'
check 'they are purged' inside 'apt-get purge -y \
	$(dpkg-query -W -f="\${Package}\n" | grep -E "omi[gs]")'
nothing_left() {
	ours
	[ -z "$(ours)" ]
}
check 'nothing of them is left' nothing_left
echo "1..$n"
exit $failed
