#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Networks of messages in a log: all of a job, steps, requests, and what is missing.
. tests/system/lib.sh
export LC_ALL=C.UTF-8

# Ten steps of four ranks in a ring: rank 2 works for 30 ms, the others for 10 ms. The last one of
# a step to get its message is rank 3, behind rank 2.
awk 'function put(t, r, event, rest) {
	printf "ts=%.6f event=%s HOST=h%d PROG=ring pid=%d tid=%d rank=%d job=ring %s\n",
		t, event, r % 2, 100 + r, 100 + r, r, rest
}
function id(s, r) { return 1000 + 10 * s + r }
BEGIN {
	for (s = 0; s < 10; s++) {
		t = 1000 + s * 0.05
		for (r = 0; r < 4; r++) {
			work = r == 2 ? 0.03 : 0.01
			put(t, r, "loop_start", "vt=" s)
			put(t + 0.001, r, "compute_begin", "vt=" s)
			put(t + 0.001 + work, r, "compute_end", "vt=" s)
			put(t + 0.002 + work, r, "interaction.send",
				"new=" id(s, r) " to=" (r + 1) % 4 " uncertain=0")
			put(t + 0.0025 + work, r, "interaction.wait", "")
			from = (r + 3) % 4
			late = from == 2 ? 0.034 : work + 0.003
			if (r == 2)
				late = work + 0.003
			put(t + late, r, "interaction.receive",
				"with=" id(s, from) " from=" from " uncertain=0")
			put(t + late + 0.002, r, "loop_stop", "vt=" s)
		}
	}
}' >"$TMPDIR/ring.bp"

second() { # PATTERN COMMAND...: the second line of its output
	pattern=$1
	shift
	"$@" >"$TMPDIR/second.out" 2>"$TMPDIR/second.err"
	status=$?
	cat "$TMPDIR/second.out" "$TMPDIR/second.err"
	sed -n 2p "$TMPDIR/second.out" | grep -Eq "$pattern" && [ $status = "${want_status:-0}" ]
}
slow='^The slow stage: rank 2, region compute: 300 ms, 83.3 %.$'
check 'steps have the planted slow stage' second "$slow" \
	omig interaction path --step loop "$TMPDIR/ring.bp"
check 'so do their states' second "$slow" omig interaction states --step loop "$TMPDIR/ring.bp"
check 'two events are a region' second "$slow" \
	omig interaction states --step loop_start..loop_stop "$TMPDIR/ring.bp"
check 'ten steps are ten interactions' says '^10 interactions took 360 ms in all' \
	omig interaction analyze --step loop "$TMPDIR/ring.bp"
check 'one of them has its name' says '^Interaction loop 7 took 36.0 ms: 83.3 % of it' \
	omig interaction path --step loop --only 'loop 7' "$TMPDIR/ring.bp"
check 'all of the job is one without a choice' says '^Interaction ring took 486 ms: ' \
	omig interaction path "$TMPDIR/ring.bp"
check 'its clocks are bounded by messages' says '^h0 +h1 ' \
	omig interaction clocks "$TMPDIR/ring.bp"
omig interaction dump --step loop --to olog -o "$TMPDIR/ring.olog" "$TMPDIR/ring.bp"
check 'a dump has the same networks' second "$slow" omig interaction path "$TMPDIR/ring.olog"
omig interaction draw --step loop --only 'loop 3' -o "$TMPDIR/ring.svg" "$TMPDIR/ring.bp"
check 'a step is drawn' grep -q '<title>Interaction loop 3</title>' "$TMPDIR/ring.svg"

# --- what is missing is said
grep -v 'send.*new=1032 ' "$TMPDIR/ring.bp" >"$TMPDIR/lost.bp"
refused() { # STATUS PATTERN COMMAND...
	status=$1 pattern=$2
	shift 2
	"$@" >"$TMPDIR/out.txt" 2>&1
	[ $? = "$status" ] && grep -q "$pattern" "$TMPDIR/out.txt"
}
check 'a lost send is counted' refused 6 'warning: 1 of 40 receives: their sends are not' \
	omig interaction analyze --step loop "$TMPDIR/lost.bp"
grep -v 'receive.*with=1032 ' "$TMPDIR/ring.bp" >"$TMPDIR/lost.bp"
check 'so is a lost receive' refused 0 'warning: 1 of 40 sends: their receives are not' \
	omig interaction analyze --step loop "$TMPDIR/lost.bp"
sed 's/new=1032\(.*\)uncertain=0/new=1032\1uncertain=1/' "$TMPDIR/ring.bp" >"$TMPDIR/doubt.bp"
check 'an uncertain message is marked' says '^message\+uncertain .* 1$' \
	omig interaction states --step loop "$TMPDIR/doubt.bp"
sed 's/with=1032/with=0/' "$TMPDIR/ring.bp" >"$TMPDIR/wrong.bp"
check 'an event without an id is reported' refused 2 'field with is missing' \
	omig interaction analyze --step loop "$TMPDIR/wrong.bp"
check 'a region that no thread enters is not found' refused 4 "no event of the log begins 'x'" \
	omig interaction analyze --step x "$TMPDIR/ring.bp"
check 'steps exclude requests' refused 2 'exclude each other' \
	omig interaction analyze --step x --request y "$TMPDIR/ring.bp"

# --- requests to a master, which works for one after the other
awk 'function put(t, r, event, rest) {
	printf "ts=%.6f event=%s HOST=h PROG=farm pid=%d tid=%d rank=%d job=farm %s\n",
		t, event, 100 + r, 100 + r, r, rest
}
BEGIN {
	for (i = 1; i <= 5; i++) {
		t = 1000 + i * 0.1
		put(t, 1, "ask.start", "n=" i)
		put(t + 0.001, 1, "interaction.send", "new=" 2 * i " to=0 uncertain=0")
		put(t + 0.0015, 1, "interaction.wait", "")
		put(t + 0.002, 0, "interaction.receive", "with=" 2 * i " from=1 uncertain=0")
		put(t + 0.003, 0, "find.start", "n=" i)
		put(t + 0.053, 0, "find.end", "n=" i)
		put(t + 0.054, 0, "interaction.send", "new=" 2 * i + 1 " to=1 uncertain=0")
		put(t + 0.0545, 0, "interaction.wait", "")
		put(t + 0.055, 1, "interaction.receive", "with=" 2 * i + 1 " from=0 uncertain=0")
		put(t + 0.056, 1, "ask.end", "n=" i)
	}
}' >"$TMPDIR/farm.bp"
check 'a request is slow in its master' second \
	'^The slow stage: rank 0, region find: 250 ms, 89.3 %.$' \
	omig interaction path --request ask "$TMPDIR/farm.bp"
check 'each request is one' says '^5 interactions took 280 ms in all' \
	omig interaction analyze --request ask "$TMPDIR/farm.bp"
tap_end
