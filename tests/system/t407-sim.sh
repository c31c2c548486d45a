#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig sim as a command: a world of a seed, the last of all seeds, the detector, mistakes.
. tests/system/lib.sh

world() { # OPTION...
	timeout 120 omig sim cluster --sites 1 --hosts 2 --ranks 1 --tools 1 --time 5s "$@"
}
check 'a world of a seed is whole, twice, and the same' says '^seed 7: hash [0-9a-f]{16}, ' world --seed 7 --twice
check 'of a range each is one' says '^3 worlds, 0 broken: ' world --seeds 4..6
last() {
	world --seed 18446744073709551615 >"$TMPDIR/last.out" || return 1
	cat "$TMPDIR/last.out"
	[ "$(grep -c '^seed ' "$TMPDIR/last.out")" = 1 ]
}
check 'after the last of all seeds there is no other' last
check 'the failure detector is measured' says '^a peer that is gone: found after ' \
	omig sim detector --links 1 --time 10m
check 'seeds from the last to the first are a mistake' status_is 2 omig sim cluster --seeds 6..4
check 'what nobody can simulate, too' status_is 2 omig sim weather

tap_end
