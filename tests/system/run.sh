#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs tests/system/FOLDER/NAME.sh (or those whose FOLDER/NAME contains one of the arguments)
# and prints a summary. A script prints TAP; one that does not counts as one test with its exit
# status; 77 = skipped. `# timeout: SECONDS` in a script changes its limit of 60; a slow machine
# gets PATIENCE times as long. B is the build folder; each script gets a TMPDIR of its own. LANES
# scripts run at once: two more than there are processors, because they mostly wait. LANES_MOST is
# the limit, because each script has daemons and ranks of its own. Scripts with the largest limits
# begin, so that no long one ends alone. Their output is printed in that order.
cd "$(dirname "$0")/../.." || exit 2
B=${B:-$(pwd)/build/plain}
PATIENCE=${PATIENCE:-4}
work=$(mktemp -d /tmp/omig-system-XXXXXX) || exit 2
# Tests put $B/lib/libomig.so into LD_PRELOAD, a list of which blanks and colons are the separators.
case $B in *[\ :]*) mkdir "$work/build" && ln -s "$B" "$work/build/plain" &&
	B=$work/build/plain ;; esac
PATH=$B/bin:$PATH
export B PATH PATIENCE
LANES_MOST=4
lanes=
end_lanes() {
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "$lanes" ] || kill $lanes 2>/dev/null
	wait
	rm -rf "$work"
}
trap 'end_lanes' EXIT
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

limit_of() {
	seconds=$(sed -n 's/^# timeout: \([0-9]*\).*/\1/p' "$1" | head -n 1)
	echo "${seconds:-60}"
}

# run_one SCRIPT NAME NUMBER: its TAP is written to $work/NUMBER.tap, whole or not at all. Its
# folder has a short name, because it contains sockets.
run_one() {
	limit=$(limit_of "$1")
	began=$(date +%s)
	# A hanging script is ended with its process group.
	TMPDIR=$work/$3 timeout -k 10 $((limit * PATIENCE)) sh "$1" >"$work/$3.out" 2>&1 \
		</dev/null &
	trap 'kill $! 2>/dev/null; wait; exit 143' TERM
	wait $!
	rc=$?
	trap - TERM
	echo "# $2: $(($(date +%s) - began)) s" >"$work/$3.part"
	if grep -Eq '^(not )?ok' "$work/$3.out"; then
		[ $rc -eq 77 ] && rc=0
		mk/tap-checked $rc <"$work/$3.out" | sed \
			"s|^\(\(not \)\{0,1\}ok\) *[0-9]* *-* *|\1 - $2: |"
	elif [ $rc -eq 77 ]; then
		echo "ok - $2 # SKIP $(tail -n 1 "$work/$3.out")"
	elif [ $rc -eq 0 ]; then
		echo "ok - $2"
	else
		tail -n 60 "$work/$3.out" | sed 's/^/# /'
		echo "not ok - $2 ended with status $rc"
	fi >>"$work/$3.part"
	mv "$work/$3.part" "$work/$3.tap"
}

# mkdir is atomic: the lane that made the folder runs the script.
lane() {
	while read -r number script name; do
		mkdir "$work/$number" 2>/dev/null && run_one "$script" "$name" "$number"
	done <"$work/list"
}

for script in tests/system/*/*.sh; do
	[ -e "$script" ] || continue
	name=${script#tests/system/}
	name=${name%.sh}
	wanted "$name" "$@" && echo "$(limit_of "$script") $script $name"
done | sort -k 1,1nr -k 2 | cut -d ' ' -f 2- | nl -w 1 -s ' ' >"$work/list"
[ -s "$work/list" ] || {
	echo "run.sh: no test has a name like: $*" >&2
	exit 2
}
: >"$work/all"
most=$(($(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 2))
[ $most -le $LANES_MOST ] || most=$LANES_MOST
i=0
while [ $i -lt "${LANES:-$most}" ]; do
	lane &
	lanes="$lanes $!"
	i=$((i + 1))
done
while read -r number _; do
	until [ -e "$work/$number.tap" ]; do sleep 0.2; done
	cat "$work/$number.tap"
	cat "$work/$number.tap" >>"$work/all"
done <"$work/list"
mk/tap-sum "$work/all" | tail -n 1
! grep -q '^not ok' "$work/all"
