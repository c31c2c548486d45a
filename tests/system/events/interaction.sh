#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Interaction networks of files: the worked example, sets, what-if, clocks, wrong input, logs.
. tests/system/lib.sh
export LC_ALL=C.UTF-8
message=examples/interactions/message.json date=examples/interactions/date.json
nodes=examples/interactions/two-nodes.json

json() { # FILE EXPRESSION [OPTION...]: a Python expression of the document d is true
	file=$1 expression=$2
	shift 2
	omig interaction analyze --json "$@" "$file" >"$TMPDIR/out.json" 2>"$TMPDIR/err.txt"
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
sys.exit(0 if eval("(" + sys.argv[2] + ")") else str(d))' "$TMPDIR/out.json" "$expression"
}

# --- one interaction
check 'the first line says where the time went' says \
	'^Interaction date took 12.6 ms: 46.8 % of it with date in use.$' \
	omig interaction analyze $date
check 'the path of Figure 3 is that of the paper' says \
	': 1 > 2 > 4 > 5 > 10 > 11 > 16 > 17 > 13 > 14 > 23 > 24 > 26 > 27$' \
	omig interaction path $date
check 'the worked example has its results' json $message \
	'd["RT"] == 90 and d["vf"] == "vT" and d["b_arcs"] == [["v2", "v3"]] and d["cp_unique"]
and d["critical_path"] == ["v0", "vR", "v3", "vT"] and d["counts"]["vertices"] == 7
and d["counts"]["arcs"] == 7 and d["counts"]["subtasks"] == 3 and d["slack"] == {"v3": 20}
and d["exclusive"] == {"cpu+req": 90} and d["cp_by_subtask"] == {"1": 10, "2": 80}
and d["meters"]["sum_TState"] == {"in_req": 90, "in_net": 0} and d["meters"]["sum_RT"] == 90'
check 'a changed arc moves the join' json $message \
	'd["what_if"]["RT"] == 70 and d["what_if"]["b_arcs"] == [["vR", "v3"]]' --what-if vR,v3=5
check 'and the words say by how much' says \
	'^It would take 70 ns in place of 90 ns: 20 ns \(22.2 %\) less' \
	omig interaction what-if --what-if vR,v3=5 $message
check 'states of the command line count' json $message \
	'd["composite"]["mine"] == 90 and d["member"] and d["meters"]["discarded"] == 0' \
	--state mine=cpu+req --member net+cpu

# The member of the file (req and cpu) holds too: this one has none.
sed 's/, "member": \[\["req", "cpu"\]\]//' $message >"$TMPDIR/all.json"
check 'an interaction outside of the set is discarded' json "$TMPDIR/all.json" \
	'not d["member"] and d["meters"]["discarded"] == 1 and d["meters"]["sum_RT"] == 0' \
	--member net+cpu

# --- wrong input
refused() { # STATUS PATTERN COMMAND...
	status=$1 pattern=$2
	shift 2
	"$@" >"$TMPDIR/out.txt" 2>&1
	[ $? = "$status" ] && grep -q "$pattern" "$TMPDIR/out.txt"
}
sed 's/"v3", "t": 50/"v3", "t": 5/' $message >"$TMPDIR/back.json"
check 'time that goes back is refused with its line' refused 1 "back.json:9: vertex 'v3'" \
	omig interaction analyze "$TMPDIR/back.json"
check 'also in JSON' refused 1 '^{"error":{"status":1,"text":".*back.json:9' \
	omig interaction analyze --json "$TMPDIR/back.json"
grep -v '"vS"' $message >"$TMPDIR/short.json"
check 'an incomplete interaction is reported' refused 6 '"incomplete":"the end of sub-task 1"' \
	omig interaction analyze --json "$TMPDIR/short.json"
check 'no network is an error' refused 1 'no interaction network' \
	sh -c 'echo "{}" | omig interaction analyze'
check 'an unknown vertex is not found' refused 4 "no vertex 'x'" \
	omig interaction what-if --what-if x,v3=5 $message
check 'an unknown interaction is not found' refused 4 "no interaction 'x'" \
	omig interaction analyze --only x $message

# --- sets, and lists by node
check 'lists by node are split' json $nodes \
	'len(d["networks"]) == 3 and d["set"]["interactions"] == 3 and d["set"]["RT"]["sum"] == 240000'
check 'a set has its totals' says '^3 interactions took 240 µs in all' \
	omig interaction analyze $nodes
check 'messages bound the clocks' says \
	'^web +db +-1.00 s +-1.00 s +3 +3 +3$' omig interaction clocks $nodes

# --- event logs of every form
awk 'BEGIN {
	print "ts=0 event=interaction.object name=db class=inherit"
	for (i = 0; i < 100; i++) {
		t = i + 1; s = 2 * i + 1; in_ = "event=interaction"
		printf "ts=%d.000000 %s.source st=%d i=r%d use=+cpu\n", t, in_, s, i
		printf "ts=%d.001000 %s.fork st=%d new=%d via=thread use=+db\n", t, in_, s, s + 1
		printf "ts=%d.001500 %s.simple st=%d blocks=1\n", t, in_, s
		printf "ts=%d.010000 %s.join st=%d with=%d\n", t, in_, s, s + 1
		printf "ts=%d.%06d %s.sink st=%d use=-cpu,-db\n", t, 12000 + i, in_, s
		printf "ts=%d.5 event=other n=1\n", t
	}
}' >"$TMPDIR/run.bp"
omig log convert --to olog -o "$TMPDIR/run.olog" "$TMPDIR/run.bp"
omig log convert --to xml -o "$TMPDIR/run.xml" "$TMPDIR/run.bp"
for form in bp olog xml; do
	check "a log in $form has its interactions" json "$TMPDIR/run.$form" \
		'd["set"]["interactions"] == 100 and d["set"]["RT"]["sum"] == 1204950000
and d["set"]["slowest"] == "r99" and d["set"]["exclusive"]["cpu+db"]["sum"] == 204950000'
done
check 'a log comes through a pipe' says '^100 interactions took 1.20 s in all' \
	sh -c "omig interaction analyze <$TMPDIR/run.bp"
sed '3d' "$TMPDIR/run.bp" >"$TMPDIR/lost.bp"
check 'a lost event spoils its own interaction only' json "$TMPDIR/lost.bp" \
	'd["set"]["interactions"] == 99 and d["set"]["incomplete"] == 1'
cat "$TMPDIR/run.bp" "$TMPDIR/run.bp" |
	awk '/source|fork|join|sink/ || !seen[$0]++' >"$TMPDIR/twice.bp"
check 'repeated events count once' json "$TMPDIR/twice.bp" \
	'd["set"]["interactions"] == 100 and d["set"]["wrong"] == 0
and d["set"]["repeated_events"] == 400'

# --- files: each is read back with the same results
omig interaction dump --to olog -o "$TMPDIR/message.olog" $message
check 'a dump has the same results' json "$TMPDIR/message.olog" \
	'd["RT"] == 90 and d["exclusive"] == {"cpu+req": 90} and d["slack"] == {"v3": 20}'
omig interaction split -o "$TMPDIR/parts" $nodes >/dev/null
check 'a split has a file for each' test "$(ls "$TMPDIR/parts" | wc -l)" = 3
check 'a part has its own results' json "$TMPDIR/parts/0002.json" \
	'd["RT"] == 80000 and d["anomalies"] == ["backward_message"]'
omig interaction filter --omit csh --omit telnet $date >"$TMPDIR/few.json"
check 'a filter leaves times and path' json "$TMPDIR/few.json" \
	'd["RT"] == 12600000 and "csh" not in str(d["exclusive"])
and d["exclusive"]["date"] == 5900000'
omig interaction filter --omit all $date >"$TMPDIR/none.json"
check 'all uses can be left out' json "$TMPDIR/none.json" \
	'd["exclusive"] == {"": 12600000} and d["counts"]["simple"] < 9'
for form in svg html dot json otlp; do
	check "a picture in $form is written" \
		omig interaction draw -o "$TMPDIR/date.$form" $date
done
count() { grep -c "$1" "$TMPDIR/date.svg"; }
check 'the picture has all vertices' test "$(count '<circle')" = 27
check 'the path is drawn' test "$(count 'class="path"')" = 13
check 'trace events have their arrows' python3 -c 'import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
sends = [e["id"] for e in events if e["ph"] == "s"]
sys.exit(sorted(sends) != sorted(e["id"] for e in events if e["ph"] == "f") or len(sends) != 9)' \
	"$TMPDIR/date.json"
check 'each sub-task is a span' python3 -c 'import json, sys
spans = json.load(open(sys.argv[1]))["resourceSpans"][0]["scopeSpans"][0]["spans"]
sys.exit(len(spans) != 9 or sum("parentSpanId" in s for s in spans) != 8
	or [len(s["links"]) for s in spans].count(1) != 1)' "$TMPDIR/date.otlp"
check 'several interactions need a choice' refused 2 'only NAME' \
	omig interaction draw "$TMPDIR/run.bp"
check 'a name chooses one' says '<title>Interaction r7</title>' \
	omig interaction draw --only r7 "$TMPDIR/run.bp"

# --- clocks are corrected as times are read, and that is said
check 'the remedy for a clock is printed' says \
	'^--clock db=-999999us sets db by web, within 9.00 µs.$' \
	omig interaction clocks $nodes
check 'a corrected clock has no backward messages' json $nodes \
	'[n["anomalies"] for n in d["networks"]] == [[], [], []]' --clock db=-1s
check 'a correction is reported' says '^omig: warning: clock of db: 9 events moved by \+1s$' \
	omig interaction analyze --clock db=-1s $nodes
check 'a clock of no event is not found' refused 4 'no event is of node x' \
	omig interaction analyze --clock x=1s $nodes

# --- what changed: the same requests, with 5 ms more in the database
sed 's/\(ts=[0-9]*\.\)010000\( event=interaction.join\)/\1015000\2/
	s/\(ts=[0-9]*\.\)012\([0-9]* event=interaction.sink\)/\1017\2/' \
	"$TMPDIR/run.bp" >"$TMPDIR/slow.bp"
check 'a slower set is recognised' says \
	'^The mean response time has surely risen: 12.0 ms before, 17.0 ms after \(\+5.00 ms, ' \
	omig interaction compare "$TMPDIR/run.bp" "$TMPDIR/slow.bp"
check 'and the status says so' refused 7 '"sure":true' \
	omig interaction compare --json "$TMPDIR/run.bp" "$TMPDIR/slow.bp"
check 'the same set has not changed' says '^The mean response time has not surely changed: ' \
	omig interaction compare "$TMPDIR/run.bp" "$TMPDIR/run.olog"

tap_end
