#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 120
# A planted slow rank is named from the messages of four ranks on two virtual hosts.
. tests/system/lib.sh
within_bed 2 1
program=$B/examples/loops.openmpi
[ -x "$program" ] || skip_all 'no example program with probes'
export LC_ALL=C.UTF-8
bed_mainsm

# shellcheck disable=SC2046 # words
check 'four ranks on two hosts are recorded' omig run --interactions="$TMPDIR/run.olog" -- \
	$("$bed" mpirun openmpi node1,node2) --oversubscribe -n 4 "$program" --passes 40 \
	--work 20000 --slow 2
hosts() {
	[ "$(omig log cat "$TMPDIR/run.olog" | grep -o 'HOST=[^ ]*' | sort -u | wc -l)" = 2 ]
}
check 'the log has events of both' hosts
slow() {
	omig interaction path --step loop "$TMPDIR/run.olog" >"$TMPDIR/path" 2>"$TMPDIR/err"
	head -n 5 "$TMPDIR/path" "$TMPDIR/err"
	sed -n 2p "$TMPDIR/path" | grep -q '^The slow stage: rank 2, region compute: '
}
check 'the path names the slow rank and its region' slow
check 'messages bound the clocks of the hosts' says '^node[12] +node[12] ' \
	omig interaction clocks "$TMPDIR/run.olog"
tap_end
