#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig neko without a monitor: the example, repeatable runs from a seed, errors with their line.
. tests/system/lib.sh
need pgrep pkill

example=examples/neko/nfds.conf

check 'the example ends by its rule' says 'stop rule reached' omig neko run $example --simulate
cp "$TMPDIR/says.out" "$TMPDIR/example.out"
check 'and has the formula beside T_M' grep -Eq \
	'^T_M \(s\) +[0-9]+ +0\.0[67][0-9]* +0\.00[0-9]+ +0\.0726316 ' "$TMPDIR/example.out"
sed 's/stat.stop.*/stat.stop = n >= 500/' $example >"$TMPDIR/some.conf"
same() {
	omig neko run "$TMPDIR/some.conf" --simulate --seed 7 -o "$TMPDIR/1.json" &&
		omig neko run "$TMPDIR/some.conf" --simulate --seed 7 -o "$TMPDIR/2.json" &&
		cmp "$TMPDIR/1.json" "$TMPDIR/2.json" &&
			grep -q '"hash":"[0-9a-f]*"' "$TMPDIR/1.json"
}
check 'two runs of one seed are the same to the byte' same
other() { omig neko run "$TMPDIR/some.conf" --simulate --seed 8 -o "$TMPDIR/3.json" &&
	! cmp "$TMPDIR/1.json" "$TMPDIR/3.json"; }
check 'of another one they are not' other

sed 's/stat.stop.*/simulation.until = 5s/' $example >"$TMPDIR/short.conf"
log() {
	omig neko run "$TMPDIR/short.conf" --simulate --messages "$TMPDIR/log" &&
		grep -q '^1.000000000 sent 1 > 2 lan.heartbeat 8$' "$TMPDIR/log" &&
			grep -q ' event 2 delay 0' "$TMPDIR/log"
}
check 'messages and events are logged' log
sed 's/fd.delta/fd.detla/' $example >"$TMPDIR/bad.conf"
check 'an unknown key is reported with its line' says \
	'bad.conf:16: this run does not use .fd.detla.; did you mean' \
	omig neko run "$TMPDIR/bad.conf" --simulate
check 'which is status 2' status_is 2 omig neko run "$TMPDIR/bad.conf" --simulate
sed 's/(20ms)/(-20ms)/' $example >"$TMPDIR/worse.conf"
check 'a delay before 0 has its line' says 'worse.conf:12: network.lan.delay: .*before it is sent' \
	omig neko run "$TMPDIR/worse.conf" --simulate
check 'no file is status 4' status_is 4 omig neko run "$TMPDIR/none.conf" --simulate
check 'and is named once' says "^omig: $TMPDIR/none.conf: not there" omig neko run \
	"$TMPDIR/none.conf" --simulate
sed 's/stat.stop.*/simulation.until = 10m/' $example >"$TMPDIR/long.conf"
check 'where results cannot be written nothing is run' status_is 1 timeout 60 omig neko run \
	"$TMPDIR/long.conf" --real -o "$TMPDIR/none/real.json"
check 'a seed that is none is blamed on its option' says '--seed -1: a whole number from 0' omig \
	neko run $example --simulate --seed -1
check 'a span that ends before it begins' says 'trace-until is before' omig neko run $example \
	--simulate --trace-from 2s --trace-until 1s
check 'without a monitor there are no other hosts: status 3' status_is 3 omig neko run $example \
	--real --hosts 127.0.0.1
check 'what had no values is named' says '^no values: T_D' omig neko run "$TMPDIR/some.conf" \
	--simulate
check 'what is not a result has a remedy' says 'omig neko run -o' \
	omig neko compare $example $example
sed 's/loss = .*/loss = 0/; s/exponential/constant/' $example >"$TMPDIR/never.conf"
check 'a rule that never holds ends with the deadline' status_is 124 \
	omig neko run "$TMPDIR/never.conf" --simulate --deadline 100ms
check 'the configurator' says '^fd.eta = 9.976' omig neko configure 30s 30d 60s 0.01 \
	'exponential(20ms)'
# --- several runs: --set and --sweep
sed 's/stat.stop.*/stat.stop = n >= 200/' $example >"$TMPDIR/sweep.conf"
sweep() { omig neko run "$TMPDIR/sweep.conf" --simulate "$@"; }
check 'a line of the command holds instead of one of the file' says '^T_M .s. +50 ' sweep --set \
	'stat.stop=n >= 50'
check 'each quantity may have its rule' says '^T_MR .s. +30 ' sweep --set 'stat.stop=n >= 10' \
	--set 'stat.T_MR.stop=n >= 30'
check 'outliers and the last values of a run are left out' says '^T_M .s. +3[0-9] ' sweep --set \
	'stat.stop=n >= 50' --set stat.T_M.drop_last=5 --set 'stat.T_M.trim=5, 5'
check 'an unknown key of it is named' says \
	"this run does not use 'fd.detla'; did you mean" sweep --set fd.detla=1s
check 'which is status 2, too' status_is 2 sweep --set fd.detla=1s
check 'a sweep has a row each, with intervals' says '^1500ms +[0-9.]+ [+]- [0-9.]+ ' sweep --sweep \
	fd.eta=1s..2s:500ms
check 'and reports that' grep -q '^3 of 3 runs; means' "$TMPDIR/says.out"
check 'two keys have a row for each pair' says '^0.1 +2s +' sweep --sweep \
	network.lan.loss=0.05,0.1 --sweep fd.eta=1s,2s
same_as_one() {
	sweep --set fd.eta=2s --json >"$TMPDIR/one.json" &&
		sweep --sweep fd.eta=1s,2s --json -o "$TMPDIR/sweep.json" >"$TMPDIR/sweep.out" &&
		cmp "$TMPDIR/sweep.json" "$TMPDIR/sweep.out" &&
		python3 -c 'import json, sys
one, all = (json.load(open(f)) for f in sys.argv[1:])
row = all["sweep"][1]
assert row["set"] == {"fd.eta": "2s"} and row["end"] == "stop rule" and not all["partial"], row
mean = {q["name"]: q["mean"] for q in one["quantities"] if q["n"]}
assert mean == {q["name"]: q["mean"] for q in row["quantities"] if q["n"]}, (mean, row)' \
			"$TMPDIR/one.json" "$TMPDIR/sweep.json"
}
check 'its values are those of the same run alone' same_as_one
csv() {
	sweep --sweep fd.eta=1s,2s --csv >"$TMPDIR/sweep.csv" && python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert {r["fd.eta"] for r in rows} == {"1s", "2s"}, rows
assert all(float(r["half_95"]) > 0 for r in rows if int(r["n"]) > 1), rows' "$TMPDIR/sweep.csv"
}
check 'as CSV, too' csv
interrupted() { # SIGNAL STATUS
	timeout --preserve-status -s "$1" 3 omig neko run "$TMPDIR/sweep.conf" --simulate --sweep \
		fd.eta=1s,2s --set 'stat.stop=ci(0.95) < 0.001%' >"$TMPDIR/part"
	[ $? = "$2" ] && cat "$TMPDIR/part" &&
		grep -q '^1 of 2 runs: partial results' "$TMPDIR/part" &&
		grep -q 'interrupted$' "$TMPDIR/part"
}
check 'a sweep that is interrupted has the results so far' interrupted INT 130
check 'so has one that is ended' interrupted TERM 143
check 'a simulated cluster, too' says '^interrupted: partial results, [0-9]+ of 9999 worlds' \
	timeout --preserve-status -s TERM 3 omig sim cluster --seeds 1..9999 --hosts 2 --time 5s
without_formula() { omig neko run "$@" --simulate --set simulation.until=30s >"$TMPDIR/out" &&
	! grep FORMULA "$TMPDIR/out"; }
check 'without a formula there is no column of it' without_formula examples/neko/broadcast.conf
check 'results have the modes of the umask' test "$(stat -c %a "$TMPDIR/sweep.json")" = \
	"$(stat -c %a "$TMPDIR/sweep.csv")"
check 'what a process can be' says '^phi ' omig neko list

# Each heartbeat is sent at its freshness point, so each one causes a mistake. (On a loaded machine,
# a process with a turn every 10 ms keeps up with one in 50 ms.)
sed 's/fd.eta.*/fd.eta = 50ms/; s/fd.delta.*/fd.delta = 0s/; s/stat.stop.*/stat.stop = n >= 20/' \
	$example >"$TMPDIR/real.conf"
check 'the same layers run as processes' says '^real, .*: stop rule reached' omig neko run \
	"$TMPDIR/real.conf" --real
recorded() {
	omig neko run "$TMPDIR/real.conf" --real --messages "$TMPDIR/log" -o \
		"$TMPDIR/recorded.json" >"$TMPDIR/recorded" 2>&1 ||
			{ cat "$TMPDIR/recorded"; return 1; }
	head -5 "$TMPDIR/log"
	sort -n -c -k 1,1 "$TMPDIR/log" && grep -q ' sent 1 > 2 lan.heartbeat 8$' "$TMPDIR/log" &&
		grep -q ' delivered 1 > 2 lan.heartbeat 8' "$TMPDIR/log" &&
		grep -q ' event 2 startSuspect' "$TMPDIR/log" &&
		grep -q '"trace":{"messages":\[\[1,2,[0-9.]*,[0-9.]*,"heartbeat"\]' \
			"$TMPDIR/recorded.json"
}
check 'messages of a real run are recorded, by time' recorded
all_of_them() { # each message that was sent has its line
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
kinds = [l.split()[1] for l in open(sys.argv[2])]
assert kinds.count("sent") + kinds.count("lost") == r["sent"], (r["sent"], kinds)
assert kinds.count("delivered") == r["delivered"], (r["delivered"], kinds)' \
		"$TMPDIR/recorded.json" "$TMPDIR/log"
}
check 'all of them' all_of_them
check 'and drawn as arrows' says '>heartbeat<' omig neko plot "$TMPDIR/recorded.json"

# --- results as CSV and for R
r_form() {
	sweep --sweep fd.eta=1s,2s -o "$TMPDIR/sweep.R" >"$TMPDIR/sweep.out" &&
		sweep -o "$TMPDIR/one.R" >"$TMPDIR/one.out" &&
		python3 tests/system/rparse.py "$TMPDIR/sweep.R" neko >"$TMPDIR/sweep.names" &&
		python3 tests/system/rparse.py "$TMPDIR/one.R" neko neko_series
}
check 'the R form is read as R, with the values over time' r_form
check 'that of a sweep has its keys' grep -q \
	'^neko fd.eta quantity unit n mean half_95 deviation min max end$' "$TMPDIR/sweep.names"
csv_file() {
	sweep --sweep fd.eta=1s,2s -o "$TMPDIR/file.csv" >"$TMPDIR/sweep.out" &&
		cmp "$TMPDIR/file.csv" "$TMPDIR/sweep.csv"
}
check 'a file .csv has what --csv prints' csv_file
sed 's/stat.stop.*/simulation.until = 10m/' $example >"$TMPDIR/long.conf"
omig neko run "$TMPDIR/long.conf" --real >"$TMPDIR/gone.out" 2>&1 &
run=$!
two_run() { \
	# with a layer each: a process that ends before the beginning did not start
	[ "$(pgrep -P $run | while read -r pid; do ls "/proc/$pid/task"; done | wc -l)" = 4 ]
}
gone() {
	until_true 20 two_run && pkill -KILL -P $run
	status_is 6 wait $run && grep 'processes are missing: partial results' "$TMPDIR/gone.out"
}
check 'a run whose processes are killed ends, and reports that' gone

# interrupted WORLD CONFIGURATION: Ctrl-C ends the run with the results so far.
interrupted() {
	timeout -s KILL 60 omig neko run "$2" "$1" --json >"$TMPDIR/int.json" 2>"$TMPDIR/int.err" &
	run=$!
	until_true 20 two_processes "$1" && until_true 20 catches_int
	kill -INT "$(pgrep -P $run)"
	status_is 130 wait $run && grep '"interrupted":true' "$TMPDIR/int.json" &&
		grep '"quantities":\[' "$TMPDIR/int.json"
}
# Bit 1 of the mask is SIGINT.
catches_int() { grep -q '^SigCgt:.*[2367abef]$' "/proc/$(pgrep -P $run)/status"; }
two_processes() { [ "$1" = --simulate ] || [ "$(pgrep -P "$(pgrep -P $run)" | wc -l)" = 2 ]; }
printf 'simulation.runs = 1000000\n' | cat "$TMPDIR/short.conf" - >"$TMPDIR/many.conf"
check 'Ctrl-C ends a simulation with the results so far' interrupted --simulate "$TMPDIR/many.conf"
check 'which is reported as partial' grep -q '"runs_requested":1000000' "$TMPDIR/int.json"
check 'Ctrl-C ends a real run with the results so far' interrupted --real "$TMPDIR/long.conf"

cat >"$TMPDIR/both.sed" <<'END'
s/simulation.until.*/simulation.until = 1s/
s/simulation.runs.*/simulation.runs = 10/
/partition/d; /crash/d; /loss/d; /duplicate/d; /relay/d
END
for algorithm in broadcast raft; do
	check "$algorithm keeps its promises in its example" says \
		'^simulated, .*: end of the run.s time' \
		omig neko run examples/neko/$algorithm.conf --simulate
	sed -f "$TMPDIR/both.sed" examples/neko/$algorithm.conf >"$TMPDIR/$algorithm.conf"
	check "and as processes" says '^real, .*: end of the run.s time' omig neko run \
		"$TMPDIR/$algorithm.conf" --real
done
for algorithm in abcast-ct abcast-seq; do
	check "$algorithm has an order with mistakes and a crash" says '^latency \(s\) +[1-9]' \
		omig neko run examples/neko/abcast.conf --simulate --set \
		process.initializer=$algorithm --set process.1.crash=10s --set \
		qos.recurrence=200ms --set qos.duration=5ms --set simulation.runs=5
	check "and as processes" says '^real, .*: end of the run.s time' omig neko run \
		examples/neko/abcast.conf --real --set process.initializer=$algorithm \
		--set simulation.until=3s --set process.1.crash=1s --set qos.recurrence=500ms \
		--set qos.duration=5ms
	check 'with values' grep -Eq '^TimeToDeliver \(s\) +[1-9]' "$TMPDIR/says.out"
done
check 'a decision by one process is found' says 'BROKEN: total order: ' omig neko run \
	examples/neko/abcast.conf --simulate --set process.2.crash=5s --set abcast.quorum=1 --set \
	qos.recurrence=100ms --set qos.duration=20ms --set simulation.runs=20
sed 's/^raft.timeout/raft.quorum = 2\n&/' examples/neko/raft.conf >"$TMPDIR/few.conf"
check 'two leaders are a failure, with the seed that has them' says \
	'two leaders in term [0-9]+: .*; seed [0-9]+$' omig neko run "$TMPDIR/few.conf" --simulate
check 'which is status 1' status_is 1 omig neko run "$TMPDIR/few.conf" --simulate

# --- pictures
omig neko run examples/neko/raft.conf --simulate --trace-from 8s --trace-until 9s -o \
	"$TMPDIR/raft.json" >"$TMPDIR/raft.out"
twice() {
	omig neko plot "$TMPDIR/raft.json" -o "$TMPDIR/raft.svg" &&
		omig neko plot "$TMPDIR/raft.json" | cmp - "$TMPDIR/raft.svg"
}
check 'a picture is the same for the same results' twice
check 'a picture of another kind is not made' status_is 2 omig neko plot "$TMPDIR/raft.json" -o \
	"$TMPDIR/raft.png"
check 'nor its file' test ! -e "$TMPDIR/raft.png"
sed 's/"name":"led"/"name":"<script>\\"\\u0026"/; s/examples/]]><b>/' "$TMPDIR/raft.json" \
	>"$TMPDIR/strange.json"
strange() {
	omig neko plot "$TMPDIR/strange.json" -o "$TMPDIR/strange.svg" &&
		grep -q '&lt;script&gt;.*&quot;&amp;' "$TMPDIR/strange.svg" &&
		! grep -q '<script\|<b>' "$TMPDIR/strange.svg"
}
check 'names are text in it' strange
check 'its table as CSV is that of a sweep without keys' says \
	'^quantity,unit,n,mean,half_95,deviation,min,max,end$' omig neko run \
	examples/neko/raft.conf --simulate --csv
omig neko run examples/neko/raft.conf --simulate --seed 9 -o "$TMPDIR/raft9.json" >/dev/null
over_each_other() {
	omig neko plot "$TMPDIR/raft.json" "$TMPDIR/raft9.json" --log x -o "$TMPDIR/two.svg" &&
		grep -q '>raft.json: simulated, n = ' "$TMPDIR/two.svg" &&
		grep -q '>raft9.json: simulated, n = ' "$TMPDIR/two.svg"
}
check 'two runs are drawn over each other' over_each_other
in_text() { # FILE...: within 80 columns, without escapes
	omig neko plot "$@" --chart auto --glyphs ascii >"$TMPDIR/text" || return 1
	cat "$TMPDIR/text"
	! grep -q "$(printf '\033')" "$TMPDIR/text" && [ "$(wc -L <"$TMPDIR/text")" -le 80 ]
}
check 'a picture of characters' in_text "$TMPDIR/raft.json"
check 'has the mean in words' grep -Eq '^[^ ]+ .*: mean [0-9.e+-]+' "$TMPDIR/text"
check 'and bars' grep -q '##' "$TMPDIR/text"
check 'two runs in characters' in_text "$TMPDIR/raft.json" "$TMPDIR/raft9.json"
check 'each has its name' grep -q 'raft9.json: ' "$TMPDIR/text"
check 'one kind of chart only' says 'over its time' \
	omig neko plot "$TMPDIR/raft.json" --chart line
check 'a kind that is none' says 'line, hist or auto' \
	omig neko plot "$TMPDIR/raft.json" --chart pie
check 'axes are x, y or xy' says 'x, y or xy' omig neko plot "$TMPDIR/raft.json" --log z
omig neko run examples/neko/raft.conf --simulate --sweep raft.heartbeat=30ms,50ms \
	-o "$TMPDIR/sweep.json" >/dev/null
check 'a sweep is drawn' says '>raft.heartbeat \(s\)<' omig neko plot "$TMPDIR/sweep.json"
check 'a sweep in characters' in_text "$TMPDIR/sweep.json"
check 'has the means' grep -q ' (s): mean' "$TMPDIR/text"
check 'but not over another one' says 'is a sweep' omig neko plot "$TMPDIR/sweep.json" \
	"$TMPDIR/sweep.json"
head -c 1000 "$TMPDIR/raft.json" >"$TMPDIR/half.json"
check 'half a file has its place' says 'half.json:1:1001: ' omig neko plot "$TMPDIR/half.json"
echo '{"quantities":7}' >"$TMPDIR/other.json"
check 'other JSON is not a result' says 'write it with omig neko run -o' omig neko plot \
	"$TMPDIR/other.json"
# --- networks by their classes in Neko: figure 12 of the NekoStat report as printed
cat >"$TMPDIR/fig12.conf" <<'END'
simulation=false
process.num=2
process.1.initializer=heartbeat
process.2.initializer=nfd-s
# Used networks:
# UDP for heartbeats, TCP for NekoStat messages
network=lse.neko.networks.comm.UDPNetwork,lse.neko.networks.comm.TCPNetwork
stat.network.index = 1
fd.eta = 50ms
fd.delta = 0s
stat.stop = n >= 20
END
check 'the classes of networks are read' says '^real, .*: stop rule reached' omig neko run \
	"$TMPDIR/fig12.conf"
check 'a simulation needs a delay' says 'fig12.conf:7: network: network udp has no delay; write' \
	omig neko run "$TMPDIR/fig12.conf" --simulate
check 'and takes one' says '^simulated, .*: stop rule reached' omig neko run \
	"$TMPDIR/fig12.conf" --simulate --set 'network.udp.delay=exponential(20ms)' --set \
	'network.tcp.delay=constant(1ms)'
check 'a class without an equivalent is named' says \
	'the class lse.neko.networks.comm.PMNetwork has no equivalent: .*; use UDPNetwork' omig \
	neko run "$TMPDIR/fig12.conf" --set network=lse.neko.networks.comm.PMNetwork
browser=$(command -v chromium-headless-shell || command -v chromium) || browser=
if [ -n "$browser" ] && command -v python3 >/dev/null 2>&1; then
	shown() {
		timeout 120 python3 tests/system/browser.py "$browser" "$TMPDIR/raft.svg" \
			size=1000x1300 load \
			'eval=document.querySelectorAll("path.life").length + " lines " + document.querySelectorAll("rect.bar").length + " bars " + (document.querySelectorAll("svg > path[fill]").length > 50)' \
			>"$TMPDIR/shown" 2>&1
		cat "$TMPDIR/shown"
		grep -Eq '5 lines [1-9][0-9]+ bars true' "$TMPDIR/shown" &&
			! grep -q trouble "$TMPDIR/shown"
	}
	check 'a browser shows its lines, bars and arrows' shown
else
	skip 'a browser shows its lines, bars and arrows' 'chromium or python3 is not here'
fi

if command -v cc >/dev/null 2>&1; then
	mkdir -p "$TMPDIR/include/omig" &&
		cp neko/core/neko.h stats/stats.h "$TMPDIR/include/omig" &&
		cp -r examples/neko/ring examples/neko/figure11 "$TMPDIR"
	check "a user's own algorithm is built with the installed header alone" make -C \
		"$TMPDIR/ring" CPPFLAGS="-I$TMPDIR/include"
	own() { (cd "$TMPDIR/ring" && "$@"); }
	check 'and runs without any source of Omig' says '^round \(s\) +[0-9]' own omig neko run \
		ring.conf --simulate
	sed 's/ring.timeout = 1s/ring.timeout = 20ms/' "$TMPDIR/ring/ring.conf" \
		>"$TMPDIR/ring/early.conf"
	check 'its properties are checked' says \
		'BROKEN: processes [1-4] and [1-4] have a token' own omig neko run early.conf \
		--simulate
	check "a user's handler for algorithms of Omig is built" make -C "$TMPDIR/figure11" \
		CPPFLAGS="-I$TMPDIR/include"
	figure() { (cd "$TMPDIR/figure11" && rm -f tm && omig neko run figure11.conf "$@"); }
	check 'it ends the run by its own condition' says '^simulated, .*: stop rule reached' \
		figure --simulate
	lines() { # as many as the results have
		awk 'END { exit NR < 1000 }' "$TMPDIR/figure11/tm" &&
			grep -Eq "^tm \(s\) +$(wc -l <"$TMPDIR/figure11/tm") " "$TMPDIR/says.out"
	}
	check 'its file has each value' lines
	check 'and its results the statistics' grep -q '^  mean  *0.06[0-9]*' \
		"$TMPDIR/figure11/tm.txt"
	check 'a real run has it, too' says '^tm \(s\) +[1-9]' figure --real --set fd.eta=50ms \
		--set fd.delta=0s --set simulation.until=5s
	again() { (cd "$TMPDIR/figure11" && omig neko run figure11.conf --simulate); }
	check 'values of another run are not written over' says 'tm exists already' again
	check 'an unknown handler is named' says 'stat.handler: there is no .figure12.; did you' \
		figure --simulate --set stat.handler=figure12
	# --- networks of one's own
	cp -r examples/neko/bus "$TMPDIR"
	check "a user's network is built" make -C "$TMPDIR/bus" CPPFLAGS="-I$TMPDIR/include"
	bus() { (cd "$TMPDIR/bus" && omig neko run bus.conf "$@"); }
	check 'a simulation uses it' says '^TimeToDeliver .s. +[1-9][0-9]* +0.01' bus --simulate
	cp "$TMPDIR/says.out" "$TMPDIR/bus.out"
	check 'a seed repeats the run with it' says "$(tail -1 "$TMPDIR/bus.out")" bus --simulate
	check 'its setting counts' says '^TimeToDeliver .s. +[1-9][0-9]* +0.00' bus --simulate \
		--set network.bus.slot=100us
	check 'so does a loss before it' says '^simulated, seed 1, ' bus --simulate \
		--set network.bus.loss=0.2 --messages "$TMPDIR/bus.log"
	check 'which is logged' grep -q ' lost [1-4] > [1-4] bus.link ' "$TMPDIR/bus.log"
	# A queue of Unix datagrams has room for net.unix.max_dgram_qlen of them, mostly 10: two
	# processes send fewer, also when one of them waits for a processor.
	check 'processes use it, too' says '^TimeToDeliver .s. +[1-9][0-9]* ' bus --real --set \
		process.num=2 --set broadcast.every=500ms --set simulation.until=3s \
		--set broadcast.until=2s
	check 'no message of it is lost' grep -Eq ' ([0-9]+) messages, \1 delivered' \
		"$TMPDIR/says.out"
	check 'an unknown setting of it is named' says 'did you mean network.bus.slot' bus --real \
		--set network.bus.slto=1ms
	sed '/\.open = /d' examples/neko/bus/bus.c >"$TMPDIR/bus/bus.c"
	make -C "$TMPDIR/bus" CPPFLAGS="-I$TMPDIR/include" >"$TMPDIR/make.out" 2>&1
	check 'one for simulations is refused in a real run' says \
		'network bus: bus is for simulations .*; use --simulate' bus --real
	sed '/\.send = /d' examples/neko/bus/bus.c >"$TMPDIR/bus/bus.c"
	make -C "$TMPDIR/bus" CPPFLAGS="-I$TMPDIR/include" >"$TMPDIR/make.out" 2>&1
	check 'and one for real runs in a simulation' says \
		'network bus: bus cannot be simulated .*; use --real' bus --simulate
	sed 's/NEKO_ABI,/NEKO_ABI + 1,/' neko/core/neko.h >"$TMPDIR/include/omig/neko.h"
	touch "$TMPDIR/bus/bus.c"
	make -C "$TMPDIR/bus" CPPFLAGS="-I$TMPDIR/include" >"$TMPDIR/make.out" 2>&1
	check 'one of another version has a remedy' says \
		'application: ./bus.so was built with another version .*; build it again' bus \
		--simulate
	cp neko/core/neko.h "$TMPDIR/include/omig"
	# --- clocks of one's own
	mkdir "$TMPDIR/clock"
	check "a user's clock is built" cc -Wall -Werror -fPIC -shared -I"$TMPDIR/include" -o \
		"$TMPDIR/clock/steady.so" tests/system/steady_clock.c
	{ cat "$TMPDIR/real.conf" && printf 'application = ./steady.so\n'; } \
		>"$TMPDIR/clock/clock.conf"
	clock() { # MODEL... : a real run with that clock
		(cd "$TMPDIR/clock" && omig neko run clock.conf --real -o clock.json --set \
			clock.model="$@")
	}
	check 'a real run uses it' says '^real, .*: stop rule reached' clock steady
	check 'its offset and bound are those of the results' grep -q \
		'"offset":0,"error":1e-09' "$TMPDIR/clock/clock.json"
	check 'one that is ahead has the error in the values' says '^delay .* 0.04[0-9]*$' clock \
		ahead --set clock.ahead=20ms
	check 'and its offset' grep -q '"offset":0.02,"error":0.02' "$TMPDIR/clock/clock.json"
	check 'its settings are checked' says 'clock.ahead: .3s. is not a time from 0 to 1 s' \
		clock ahead --set clock.ahead=3s
	check 'an unknown clock is named' says \
		'no clock .stedy. in the shared object; did you mean steady' clock stedy
	# --- the log of events is complete up to the end, and up to a crash
	mkdir "$TMPDIR/ticks"
	check 'another one is built' cc -Wall -Werror -fPIC -shared -I"$TMPDIR/include" -o \
		"$TMPDIR/ticks/ticks.so" tests/system/ticks.c
	ticks() { # LINES... of the configuration; then how it is run
		printf '%s\n' 'application = ./ticks.so' 'process.num = 2' \
			'process.1.initializer = listener' 'process.2.initializer = ticker' \
			'network = lan' 'network.lan.delay = constant(10us)' "$1" \
				>"$TMPDIR/ticks/ticks.conf"
		(cd "$TMPDIR/ticks" && omig neko run ticks.conf "$2" --messages log -o log.json)
	}
	for world in --simulate --real; do
		check "$world: what a layer logs before it ends the run is there" says \
			'^tick \(n\) +20 .* 20( |$)' ticks 'simulation.until = 20s
ticks.stop = 20' $world
		check "$world: bytes of an event are printed by its handler" grep -q \
			' event 1 bytes number 1[0-9]' "$TMPDIR/ticks/log"
		check "$world: others are escaped" grep -q ' event 1 text a\\tb' \
			"$TMPDIR/ticks/log"
		check "$world: they are text in the results" grep -Eq \
			'\[1,[0-9.]+,"bytes","number [0-9]+"\]' "$TMPDIR/ticks/log.json"
		check "$world: the run was ended by a layer, and by no rule" grep -q \
			': ended by a layer$' "$TMPDIR/says.out"
	done
	# messages from before a crash are in the log: crashes at several moments between two of its
	# blocks
	crashes() {
		for ms in 211 223 237 249; do
			ticks "process.2.crash = ${ms}ms
simulation.until = 400ms" --real >"$TMPDIR/crash.out" 2>&1 || { cat "$TMPDIR/crash.out"; return 1; }
			grep -Eq '^heard \(n\) +[1-9]' "$TMPDIR/crash.out" ||
				{ cat "$TMPDIR/crash.out"; return 1; }
		done
	}
	check '--real: what a process logs before it crashes is there' crashes
	sed 's/NEKO_ABI,/NEKO_ABI + 1,/' neko/core/neko.h >"$TMPDIR/include/omig/neko.h"
	touch "$TMPDIR/ring/ring.c"
	make -C "$TMPDIR/ring" CPPFLAGS="-I$TMPDIR/include" >"$TMPDIR/make.out" 2>&1
	check 'an application of another version is reported' says \
		'ring.conf:5: application: ./ring.so was built with another version' own omig neko \
		run ring.conf --simulate
	sed 's/^NEKO_APPLICATION.*//' examples/neko/ring/ring.c >"$TMPDIR/ring/ring.c"
	make -C "$TMPDIR/ring" CPPFLAGS="-I$TMPDIR/include" >"$TMPDIR/make.out" 2>&1
	check 'an application without the entry is reported' says \
		'ring.conf:5: application: ./ring.so has no NEKO_APPLICATION' own omig neko run \
		ring.conf --simulate
else
	skip "a user's own algorithm" 'no compiler'
fi
tap_end
