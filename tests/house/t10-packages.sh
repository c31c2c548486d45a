#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What packaging/debian has by hand is what packaging/deps.tsv and the tree say.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
n=0
verdict() { # NAME STATUS
	n=$((n + 1))
	[ "$2" -eq 0 ] || sed 's/^/# /' "$work/out"
	[ "$2" -eq 0 ] || printf 'not '
	echo "ok $n - house: $1"
}
# C compiler, C library and make are always there; MPI is for examples alone.
wanted() { # DEPS
	awk -F '\t' '$2 == "build" && $1 !~ /^(C compiler|C library|GNU make|MPI)$/ { print $5 }
		$1 == "Zydis" || $1 == "Check" { print $5 }' "$1" | sort
}
declared() {
	sed -n '/^Build-Depends:/,/^[A-Z].*:/p' packaging/debian/control |
		sed 's/^Build-Depends: *//; /^[A-Z]/d; s/^ *//; s/,$//; s/ [(<].*//' |
		grep -vE '^(debhelper|dh-python|python3)' | sort
}
declared >"$work/declared"
wanted packaging/deps.tsv | diff "$work/declared" - >"$work/out"
verdict 'Build-Depends are the packages of packaging/deps.tsv' $?
grep -v '^scdoc' packaging/deps.tsv >"$work/deps"
! wanted "$work/deps" | diff "$work/declared" - >"$work/out"
verdict 'a missing row would be found' $?
! grep -rniE 'depends.*(mpi|mpich)' packaging/debian/control >"$work/out"
verdict 'no package depends on an MPI' $?
sed -n 's/^BuildRequires: *pkgconfig(\([^)]*\)) *>= */pkg:\1 /p' packaging/rpm/omig.spec |
	sort >"$work/declared"
awk -F '\t' '$2 == "build" && $3 ~ /^pkg:/ { print $3 " " $4 }' packaging/deps.tsv | sort |
	diff "$work/declared" - >"$work/out"
verdict 'libraries of the spec are those of packaging/deps.tsv' $?
! grep -n '^%if' packaging/rpm/omig.spec >"$work/out"
verdict 'the spec has no case of a distribution' $?
find packaging/debian -name '*lintian-overrides' -exec awk '
	FNR == 1 { why = 0 }
	/^#/ { why = 1; next }
	!why { print FILENAME ": " $0 }' {} + >"$work/out"
[ ! -s "$work/out" ]
verdict 'each override of lintian has a reason' $?
echo "1..$n"
