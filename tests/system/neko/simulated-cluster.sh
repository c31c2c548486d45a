#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig sim as a command: the world of a seed, the last possible seed, the studies, errors.
. tests/system/lib.sh

world() { # OPTION...
	timeout 120 omig sim cluster --sites 1 --hosts 2 --ranks 1 --tools 1 --time 5s "$@"
}
check 'a world of a seed is whole, twice, and the same' says '^seed 7: hash [0-9a-f]{16}, ' world \
	--seed 7 --twice
check 'of a range each is one' says '^3 worlds, 0 broken: ' world --seeds 4..6
last() {
	world --seed 18446744073709551615 >"$TMPDIR/last.out" || return 1
	cat "$TMPDIR/last.out"
	[ "$(grep -c '^seed ' "$TMPDIR/last.out")" = 1 ]
}
check 'after the last of all seeds there is no other' last
check 'the failure detector is measured' says '^a lost peer: detected after ' \
	omig sim detector --links 1 --time 10m
check 'a world of three levels of sms is whole' says '^seed 3: hash ' world --hosts 5 --levels 3 \
	--seed 3
# shellcheck disable=SC3045 # ulimit -n: dash, bash and ksh know it
with_files() { (ulimit -n "$1" && world --hosts 20 --ranks 8 --seed 1); }
check 'without descriptors for all processes it does not begin' says \
	'^omig: 20 hosts with 8 ranks each need 853 open files, and 852 are allowed' with_files 852
check 'with as many as it needs it ends' says '^seed 1: hash ' with_files 853
growth() {
	omig sim growth --hosts 9,12 --levels 1,2 --output "$TMPDIR/growth.json" \
		>"$TMPDIR/growth.out" &&
		[ "$(grep -c '^| 12 | 2 |' "$TMPDIR/growth.out")" = 9 ] &&
		grep -q '"name":"front.2_levels.events.at_the_top.1000.rate","value":12000,' \
			"$TMPDIR/growth.json" &&
		grep -Eq '"name":"paper.mainsm.1_level.9.mib","value":(0\.[1-9]|[1-9])' \
			"$TMPDIR/growth.json"
}
check 'growth is shown for each number of hosts and levels' growth
cut -d: -f2 <"$TMPDIR/growth.json" >"$TMPDIR/names"
lines() { # of JSON, and nothing else
	omig sim speed --hosts 20 --time 10s --json >"$TMPDIR/speed.json" &&
		grep -q '^{"name":"speed.1_level.20.times","value":' "$TMPDIR/speed.json" &&
		grep -q '^{"name":"speed.1_level.20.mib","value":' "$TMPDIR/speed.json" &&
		[ "$(wc -l <"$TMPDIR/speed.json")" = 2 ]
}
check 'with --json its figures are lines, and no table' lines
check 'and so are those of growth, as in its file' sh -c 'omig sim growth --hosts 9,12 \
	--levels 1,2 -j | cut -d: -f2 | cmp - "$0"' "$TMPDIR/names"
check 'its speed is shown' says '^\| 20 \| 1 \| [0-9]' omig sim speed --hosts 20 --time 10s
check 'a cluster of two sizes is a mistake' status_is 2 omig sim cluster --hosts 2,3
check 'four levels are a mistake' status_is 2 omig sim growth --levels 4
check 'figures that cannot be written are reported' \
	status_is 3 omig sim growth --hosts 2 --levels 1 \
	--output /dev/full
check 'seeds from the last to the first are a mistake' status_is 2 omig sim cluster --seeds 6..4
searches() {
	omig sim why --seeds 1..20 --plant descheduled --loss 0.1 "$@"
}
check 'searches find the planted loss' says '^found: 20 of 20, 100 % ' searches
check 'and its place and cause' says '^cause right: 20 of 20, 100 % ' searches
check 'healthy programs have no finding' says '^searches with a false finding: 0 of 20, 0 % ' \
	omig sim why --seeds 1..20
found() {
	searches --json | grep -q '"found":{"count":20,"of":20,'
}
check 'with --json the searches are one object' found
check 'an unknown plant is a mistake' status_is 2 omig sim why --plant weeds
check 'more hosts than ranks are a mistake' status_is 2 omig sim why --ranks 2 --hosts 3
check 'a threshold of 0 is a mistake' status_is 2 omig sim why --threshold 0
check 'a cluster of as many ranks is a mistake' status_is 2 omig sim cluster --ranks 64
check 'an unknown study is refused, too' status_is 2 omig sim weather

tap_end
