#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs tests/system/t*.sh (or those whose names contain one of the arguments)
# and sums up. A script speaks TAP; one that does not counts as one test by
# its exit status; 77 = skipped. `# timeout: SECONDS` in a script changes its
# limit of 60. B is the build folder; each script gets a TMPDIR of its own.
cd "$(dirname "$0")/../.." || exit 2
B=${B:-$(pwd)/build/plain}
PATH=$B/bin:$PATH
export B PATH
work=$(mktemp -d /tmp/omig-system-XXXXXX) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

wanted() {
	name=$1
	shift
	[ $# -eq 0 ] && return 0
	for word; do
		case $name in *"$word"*) return 0 ;; esac
	done
	return 1
}

sum=$work/all.tap
: >"$sum"
for script in tests/system/t*.sh; do
	[ -e "$script" ] || continue
	name=$(basename "$script" .sh)
	wanted "$name" "$@" || continue
	limit=$(sed -n 's/^# timeout: \([0-9]*\).*/\1/p' "$script" | head -n 1)
	mkdir "$work/$name"
	# A script that hangs is ended with all that it started in its group.
	TMPDIR=$work/$name timeout -k 10 "${limit:-60}" sh "$script" >"$work/$name.out" 2>&1 </dev/null
	rc=$?
	if grep -Eq '^(not )?ok' "$work/$name.out"; then
		[ $rc -eq 77 ] && rc=0
		mk/tap-checked $rc <"$work/$name.out" | sed "s|^\(\(not \)\{0,1\}ok\) *[0-9]* *-* *|\1 - $name: |" >"$work/$name.tap"
	elif [ $rc -eq 77 ]; then
		echo "ok - $name # SKIP $(tail -n 1 "$work/$name.out")" >"$work/$name.tap"
	elif [ $rc -eq 0 ]; then
		echo "ok - $name" >"$work/$name.tap"
	else
		{ tail -n 60 "$work/$name.out" | sed 's/^/# /'; echo "not ok - $name ended with status $rc"; } >"$work/$name.tap"
	fi
	cat "$work/$name.tap"
	cat "$work/$name.tap" >>"$sum"
done
mk/tap-sum "$sum" | tail -n 1
! grep -q '^not ok' "$sum"
