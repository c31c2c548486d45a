#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig neko without a monitor: the example, the same run from a seed, mistakes with their line.
. tests/system/lib.sh
need pgrep pkill

example=examples/neko/nfds.conf

check 'the example ends by its rule' says 'stopped by its rule' omig neko run $example --simulate
cp "$TMPDIR/says.out" "$TMPDIR/example.out"
check 'and has the formula beside T_M' grep -Eq '^T_M \(s\) +[0-9]+ +0\.0[67][0-9]* +0\.00[0-9]+ +0\.0726317 ' "$TMPDIR/example.out"
sed 's/stat.stop.*/stat.stop = n >= 500/' $example >"$TMPDIR/some.conf"
same() {
	omig neko run "$TMPDIR/some.conf" --simulate --seed 7 -o "$TMPDIR/1.json" && omig neko run "$TMPDIR/some.conf" --simulate --seed 7 -o "$TMPDIR/2.json" &&
		cmp "$TMPDIR/1.json" "$TMPDIR/2.json" && grep -q '"hash":"[0-9a-f]*"' "$TMPDIR/1.json"
}
check 'two runs of one seed are the same to the byte' same
other() { omig neko run "$TMPDIR/some.conf" --simulate --seed 8 -o "$TMPDIR/3.json" && ! cmp "$TMPDIR/1.json" "$TMPDIR/3.json"; }
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

# At its freshness point a heartbeat has just been sent: each one makes a mistake.
sed 's/fd.eta.*/fd.eta = 5ms/; s/fd.delta.*/fd.delta = 0s/; s/stat.stop.*/stat.stop = n >= 20/' $example >"$TMPDIR/real.conf"
check 'the same layers run as processes' says '^real, .*: stopped by its rule' omig neko run "$TMPDIR/real.conf" --real
sed 's/stat.stop.*/simulation.until = 10m/' $example >"$TMPDIR/long.conf"
omig neko run "$TMPDIR/long.conf" --real >"$TMPDIR/gone.out" 2>&1 &
run=$!
two_run() { # with a layer each: before the beginning a process that is gone is one that did not start
	[ "$(pgrep -P $run | while read -r pid; do ls "/proc/$pid/task"; done | wc -l)" = 4 ]
}
gone() {
	until_true 20 two_run && pkill -KILL -P $run
	status_is 6 wait $run && grep 'processes are missing: this is a part' "$TMPDIR/gone.out"
}
check 'a run whose processes are killed ends, and says so' gone
tap_end
