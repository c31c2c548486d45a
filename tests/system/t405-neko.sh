#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig neko without a monitor: the example, the same run from a seed, mistakes with their line.
. tests/system/lib.sh

example=examples/neko/nfds.conf

check 'the example ends by its rule' says 'stopped by its rule' omig neko run $example --simulate
check 'and has the formula beside T_M' says '^T_M \(s\) +[0-9]+ +0\.0[67][0-9]* +0\.00[0-9]+ +0\.0726317 ' \
	omig neko run $example --simulate
same() {
	omig neko run $example --simulate --seed 7 -o "$TMPDIR/1.json" && omig neko run $example --simulate --seed 7 -o "$TMPDIR/2.json" &&
		cmp "$TMPDIR/1.json" "$TMPDIR/2.json" && grep -q '"hash":"[0-9a-f]*"' "$TMPDIR/1.json"
}
check 'two runs of one seed are the same to the byte' same
other() { omig neko run $example --simulate --seed 8 -o "$TMPDIR/3.json" && ! cmp "$TMPDIR/1.json" "$TMPDIR/3.json"; }
check 'of another one they are not' other

sed 's/stat.stop.*/simulation.until = 5s/' $example >"$TMPDIR/short.conf"
log() {
	omig neko run "$TMPDIR/short.conf" --simulate --messages "$TMPDIR/log" &&
		grep -q '^1.000000000 sent 1 > 2 lan.heartbeat 8$' "$TMPDIR/log" && grep -q ' event 2 delay 0' "$TMPDIR/log"
}
check 'messages and events are logged' log
sed 's/fd.delta/fd.detla/' $example >"$TMPDIR/bad.conf"
check 'a key that nobody knows has its line' says 'bad.conf:15: no part of this run knows .fd.detla.; did you mean' \
	omig neko run "$TMPDIR/bad.conf" --simulate
check 'which is status 2' status_is 2 omig neko run "$TMPDIR/bad.conf" --simulate
sed 's/(20ms)/(-20ms)/' $example >"$TMPDIR/worse.conf"
check 'a delay before 0 has its line' says 'worse.conf:11: network.lan.delay: .*before it is sent' \
	omig neko run "$TMPDIR/worse.conf" --simulate
check 'no file is status 4' status_is 4 omig neko run "$TMPDIR/none.conf" --simulate
sed 's/loss = .*/loss = 0/; s/exponential/constant/' $example >"$TMPDIR/never.conf"
check 'a rule that never holds ends with the deadline' status_is 124 \
	omig neko run "$TMPDIR/never.conf" --simulate --deadline 100ms
check 'the configurator' says '^fd.eta = 9.976' omig neko configure 30s 30d 60s 0.01 'exponential(20ms)'
check 'what a process can be' says '^phi ' omig neko list
tap_end
