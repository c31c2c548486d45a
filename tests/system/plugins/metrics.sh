#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Metrics of plug-ins: omig measure knows them by name, and so do other texts. After a crash there
# is a missing value with a reason, never a wrong number.
. tests/system/lib.sh
own_host
need cc

good=$B/examples/counters.so
[ -e "$good" ] || skip_all 'no example of a plug-in'
cc -DBAD=0 -I"$B/examples/include" -fPIC -shared -o "$TMPDIR/bad.so" tests/system/plugins/bad.c
omig run -- sleep 900 &
job=$!
check 'a host is there' until_true 30 nodes_are 1
refuses() { # WORDS COMMAND...
	words=$1
	shift
	! "$@" >"$TMPDIR/refused" 2>&1 && cat "$TMPDIR/refused" &&
		grep -q -- "$words" "$TMPDIR/refused"
}
measures() { # METRIC [OPTION...]: reads in the background, into $TMPDIR/METRIC
	omig measure "$@" --every 200ms --for 10m --csv >"$TMPDIR/$1" 2>"$TMPDIR/$1.err" &
	tools="${tools:-} $!"
}
reads() { # METRIC CONDITION of awk for one line
	awk -F, -v v=0 "NR > 1 && $2 { found = 1 } { v = \$6 } END { exit !found }" "$TMPDIR/$1"
}

# --- a good one
check 'it is not known yet' refuses 'network_received' omig measure network_received --count 1
check 'the plug-in is added' omig plugin add "$good"
check 'its metrics are listed' until_true 10 says 'plugin.counters .*network_received' \
	omig metrics list
check 'with their units' says 'Unit\("B"\)' omig metrics show network_received
measures network_received
measures process_descriptors --by process
# shellcheck disable=SC2016 # awk's own
check 'a counter of the node grows' until_true 20 reads network_received '$6 > 0 && $7 == "B"'
# shellcheck disable=SC2016
check 'a value of each process' until_true 20 reads process_descriptors \
	'$6 > 0 && $7 == "descriptors" && $4 ~ /sleep/'
# shellcheck disable=SC2016
check 'its bound is 0' reads process_descriptors '$6 > 0 && $8 == 0'
cat >"$TMPDIR/twice.pmsl" <<'END'
Twice(Node n, TimeInterval t) : Unit("B") { RETURN 2 * network_received(n, t); }
Direct(Node n) { RETURN Plugin_process_value("process_descriptors", NOW); }
END
check 'another text uses it' says 'B' omig measure -f "$TMPDIR/twice.pmsl" Twice --every 200ms \
	--count 3
check 'a user adds such a text' omig metrics add "$TMPDIR/twice.pmsl"
check 'and cannot take its name' refuses 'plugin.counters has a metric network_received already' \
	sh -c 'echo "network_received() { RETURN 1; }" >"$TMPDIR/own.pmsl" &&
		omig metrics add "$TMPDIR/own.pmsl"'
check 'a rule ends it' says 'B' omig measure network_received --every 100ms --until 'n >= 5'
check 'a name that no plug-in has' says 'no plug-in of this node has the metric nothing' \
	sh -c 'echo "None(Node n) { RETURN Plugin_node_value(n, \"nothing\", NOW); }" \
		>"$TMPDIR/none.pmsl"; omig measure -f "$TMPDIR/none.pmsl" None --count 1'
check 'at a probe it has no value' refuses 'has no value at a probe' \
	sh -c 'printf "%s\n" "At(Process[] procs, TimeInterval t) {" \
		"PROBE e(Process, VirtualTime); Process p; VirtualTime vt; Value[][] v;" \
		"v[p][vt] = Plugin_process_value(p, \"process_descriptors\", NOW) AT e(p, vt);" \
		"RETURN SUM(v[p][vt] WHERE p IN procs AND v[p][vt].time IN t); }" \
		>"$TMPDIR/at.pmsl"; omig measure -f "$TMPDIR/at.pmsl" At --count 1'

# --- one that crashes
check 'a second one is added' omig plugin add "$TMPDIR/bad.so"
check 'its metric is known' until_true 10 says 'bad_count' omig metrics list
measures bad_count
# shellcheck disable=SC2016
check 'it counts' until_true 20 reads bad_count '$6 > 2'
kill_it() {
	kill -KILL "$(omig plugin list --json | tr '{' '\n' |
		sed -n 's/.*"name":"bad".*"pid":\([0-9]*\).*/\1/p')"
}
check 'its process is killed' kill_it
# shellcheck disable=SC2016
check 'then it has no value' until_true 20 reads bad_count '$6 == "" && $9 == 0'
# shellcheck disable=SC2016
check 'and values again' until_true 30 reads bad_count '$6 != "" && v == "" && NR > 3'
# shellcheck disable=SC2016
never_falls() { awk -F, 'NR > 1 && $6 != "" { if ($6 + 0 < last) bad = 1; last = $6 + 0 }
	END { exit bad }' "$TMPDIR/bad_count"; }
check 'which never fall' never_falls
lost() { tail -n 1 "$TMPDIR/bad_count" | grep -q lost; }
check 'and show that counts were lost' until_true 20 lost
check 'a failing one has no value' says 'bad_broken|-' \
	omig measure bad_broken --every 200ms --count 2
check 'the list of plug-ins has the reason' says 'this one is broken' omig plugin list
# shellcheck disable=SC2086 # a list
kill -INT $tools
# shellcheck disable=SC2086 # a list
wait $tools
kill $job
tap_end
