#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Interactions that cross two virtual hosts, contracted by their lms and added up while they run.
# timeout: 180
. tests/system/lib.sh
served=$B/tests/system/served.openmpi
[ -x "$served" ] || skip_all 'no program with interactions'
within_bed 2 1
bed_mainsm

# shellcheck disable=SC2046 # words
omig run -- $("$bed" mpirun openmpi node1,node2) -n 2 "$served" "$TMPDIR/stop" \
	>"$TMPDIR/out" 2>"$TMPDIR/err" &
job=$!
check 'two ranks are visible' until_true 30 ranks_are 2

watch() {
	omig interaction watch --inherit ws1 --state db=db --state asked=db+ws1 --state no=none "$@"
}
shows() {
	watch --for 8s >"$TMPDIR/lines" 2>"$TMPDIR/watch.err"
	status=$?
	cat "$TMPDIR/lines" "$TMPDIR/watch.err"
	return $status
}
check 'interactions are watched as long as requested' shows
words='^[0-9.]+ interactions a second, mean [0-9.]+ ms \+- .*, [0-9.]+ % in state (db|asked)'
check 'the first words say what is going on' \
	grep -Eq "$words; slowest: request[0-9]+ " "$TMPDIR/lines"
check 'the end has all states' grep -Eq '^(db|asked) +[0-9.]+ m?s ' "$TMPDIR/lines"
check 'the slowest path crosses both hosts' grep -Eq '^Slowest path: .* n_[0-9]+ .* n_[0-9]+' \
	"$TMPDIR/lines"

verifies() {
	watch --json --verify --member db+ws1 --for 8s >"$TMPDIR/json" 2>"$TMPDIR/watch.err"
	status=$?
	tail -1 "$TMPDIR/json"
	cat "$TMPDIR/watch.err"
	[ $status = 0 ] && tail -1 "$TMPDIR/json" | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d["last"] and d["differ"] == 0 and d["compared"] >= 5, d
assert d["interactions"] >= d["compared"] and d["wrong"] == d["torn"] == d["lost_arcs"] == 0, d
db = d["composite"]["db"]
assert db["sum"] == d["composite"]["asked"]["sum"], d
assert db["sum"] >= 20000000 * db["interactions"] and db["interactions"] == d["interactions"], d
assert db["sum"] <= d["RT"]["sum"] and d["composite"]["no"]["sum"] == 0, d'
}
check 'each interaction is as the analysis of all its events has it' verifies
check 'and 20 ms of each are in the database' test -s "$TMPDIR/json"

no_member() {
	watch --json --member nothing --for 4s >"$TMPDIR/json" 2>"$TMPDIR/watch.err"
	tail -1 "$TMPDIR/json" | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d["interactions"] == 0 and d["discarded"] > 0, d'
}
check 'others than those of the set are counted as discarded' no_member

refused() {
	omig interaction watch --state db >"$TMPDIR/refused" 2>&1
	[ $? = 2 ] && grep -q 'db: a state is NAME=OBJECT' "$TMPDIR/refused"
}
check 'a state without objects is refused' refused

: >"$TMPDIR/stop"
wait $job
check 'the program has ended as without Omig' test $? = 0
check 'its output is its own' grep -Eqx '[0-9]+' "$TMPDIR/out"
tap_end
