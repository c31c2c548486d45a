#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig neko over virtual hosts with a slow link between them: factories, clocks, a partition, and
# whether a simulation agrees.
. tests/system/lib.sh
need python3 ip pgrep
if [ -z "${BED_DIR:-}" ]; then
	"$bed" can || skip_all 'virtual hosts are not permitted here'
	trap - EXIT
	exec "$bed" run -n 3 -s 2 -- sh "$0"
fi
wan=$PWD/tests/testbed/wan
mkdir -p "$XDG_CONFIG_HOME/omig" "$TMPDIR/home"
export HOME="$TMPDIR/home"

# Messages between the sites pass it in both directions; those to the head do not.
"$wan" wan0 5 5 >"$TMPDIR/wan.out" 2>&1 &
wan_pid=$!
trap 'kill $wan_pid 2>/dev/null; end_all' EXIT
until_true 10 grep -q ready "$TMPDIR/wan.out" || skip_all 'there are no tun devices here'
one=$("$bed" address node1) two=$("$bed" address node3) beside=$("$bed" address node2) \
	# node1 and node2 are at one site
slow_way() {
	ip link set wan0 up && echo 0 >/proc/sys/net/ipv4/conf/wan0/rp_filter &&
		echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter &&
		ip route replace default dev wan0 table 77 &&
		ip rule add iif site1 to "${two%.*}.0/24" lookup 77 &&
			ip rule add iif site2 to "${one%.*}.0/24" lookup 77
}
check 'there is a slow way between two sites' slow_way

# A certificate of two minutes is due for renewal at once: it is valid from five minutes before, for
# slow clocks.
mainsm --foreground --listen "$("$bed" address head1)" --cert-lifetime 2m >"$TMPDIR/conn" \
	2>"$TMPDIR/mainsm.log" &
mainsm=$!
trap 'kill $wan_pid $mainsm 2>/dev/null; end_all' EXIT
check 'mainsm is ready' until_true 20 grep -q '^omig1:' "$TMPDIR/conn"
OMIG_MAINSM=$(cat "$TMPDIR/conn")
export OMIG_MAINSM
factories=
for host in node1 node2 node3; do
	"$bed" exec $host omig neko factory --listen "$("$bed" address $host)" \
		>"$TMPDIR/$host.out" 2>"$TMPDIR/$host.err" &
	factories="$factories $!"
done
ready() { [ "$(cat "$TMPDIR"/node?.out | grep -c ':8765')" = 3 ]; }
check 'a factory is ready on each host' until_true 20 ready
renewed() { [ "$(cat "$TMPDIR"/node?.err | grep -c 'certificate renewed')" -ge 3 ]; }
check 'their certificates are renewed before they end' until_true 20 renewed

cat >"$TMPDIR/real.conf" <<END
process.num = 2
process.1.initializer = heartbeat
process.2.initializer = nfd-s
network = wan
network.wan.delay = constant(1ms)
fd.eta = 10ms
fd.delta = 10ms
stat.window = 500ms
simulation.until = 3s
real.hosts = $one, $two
END
run() { omig neko run "$@"; }
check 'the processes run on two hosts' run "$TMPDIR/real.conf" --real --delays "$TMPDIR/delays" -o \
	"$TMPDIR/real.json"
# All clocks are this machine's: their offset is 0, and the bound must hold it. The delay of the
# link is at least 5 ms.
truth() {
	python3 - "$TMPDIR/real.json" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
assert len(r["clocks"]) == 2
for c in r["clocks"]:
    assert abs(c["offset"]) <= c["error"] <= c["worst_error"], c
q = {q["name"]: q for q in r["quantities"]}
e = r["clock_errors"]["delay"]
assert 0 < e["mean"] <= e["max"], e
assert q["delay"]["n"] >= 20 and q["delay"]["min"] >= 0.005 - e["max"], q["delay"]
END
}
check 'their clocks are what they are, within the bound, and so are the delays' truth
sed "s,constant(1ms),file:$TMPDIR/delays," "$TMPDIR/real.conf" >"$TMPDIR/sim.conf"
check 'a simulation replays the delays' run "$TMPDIR/sim.conf" --simulate -o "$TMPDIR/sim.json"
# The simulation replays delays, but not pauses of a sender: if this machine was stopped, the
# results differ.
agrees() {
	omig neko compare "$TMPDIR/sim.json" "$TMPDIR/real.json" && return 0
	run "$TMPDIR/real.conf" --real --delays "$TMPDIR/delays" -o "$TMPDIR/real.json" &&
		run "$TMPDIR/sim.conf" --simulate -o "$TMPDIR/sim.json"
	return 1
}
check 'and agrees with what was measured' until_true 60 agrees
check 'as its sentence reports' says '^0 of [3-5] quantities differ' omig neko compare \
	"$TMPDIR/sim.json" "$TMPDIR/real.json"
run "$TMPDIR/real.conf" --simulate -o "$TMPDIR/other.json" >/dev/null
check 'one with other delays does not' status_is 1 omig neko compare "$TMPDIR/other.json" \
	"$TMPDIR/real.json"

# Hosts on one link: a message of process 1 to the three others is one datagram, wherever they are.
cat >"$TMPDIR/group.conf" <<END
process.num = 4
process.1.initializer = heartbeat
process.2-4.initializer = nfd-s
network = lan
network.lan.delay = constant(1ms)
network.lan.transport = multicast
fd.eta = 10ms
simulation.until = 400ms
real.hosts = $one, $beside
END
to_groups() {
	"$bed" exec node1 awk '/^IpExt:/ { for (i in names) if (names[i] == "OutMcastPkts") n = $i;
		split($0, names) } END { printf "%d", n }' /proc/net/netstat
}
to_group() {
	before=$(to_groups)
	omig neko run "$TMPDIR/group.conf" --real -o "$TMPDIR/group.json" || return 1
	python3 - "$TMPDIR/group.json" $(($(to_groups) - before)) <<'END'
import json, sys
r, datagrams = json.load(open(sys.argv[1])), int(sys.argv[2])
delay = next(q for q in r["quantities"] if q["name"] == "delay")
# Messages of the hosts themselves, about members of groups, are multicast too.
sys.stdout.write(f'{r["sent"]} messages, {r["delivered"]} delivered, {datagrams} datagrams to groups\n')
assert r["sent"] >= 30 and r["sent"] / 3 <= datagrams <= r["sent"] / 3 + 20
assert r["delivered"] >= r["sent"] / 2 and delay["n"] == r["delivered"]
END
}
check 'a message to many over multicast is one datagram, for processes of two hosts' until_true 5 \
	to_group

# The links are cut during the run: both ends give up and report it.
sed 's/simulation.until.*/simulation.until = 10m/' "$TMPDIR/real.conf" >"$TMPDIR/cut.conf"
echo 'real.silence = 1s' >>"$TMPDIR/cut.conf"
processes() { pgrep -fc "factory --listen $two"; }
idle=$(processes)
run "$TMPDIR/cut.conf" --real --messages "$TMPDIR/messages" >"$TMPDIR/cut.out" 2>&1 &
cut=$!
check 'a run is under way' until_true 20 grep -q ' event 2 ' "$TMPDIR/messages"
check 'as a process of a factory' [ "$(processes)" -gt "$idle" ]
"$bed" cut node1
"$bed" cut node3
gone() {
	status_is 6 wait $cut || {
		cat "$TMPDIR/cut.out"
		return 1
	}
	cat "$TMPDIR/cut.out"
	grep -Eq "process 2 on $two:8765: it was silent for 1 s" "$TMPDIR/cut.out"
}
check 'a partition ends it, and what is missing is named' gone
nobody() { [ "$(processes)" = "$idle" ]; }
check 'and no process is left behind it' until_true 20 nobody
ended() {
	for pid in $factories; do
		kill "$(pgrep -P "$pid")" && status_is 0 wait "$pid" || return 1
	done
}
check 'a factory ends when a signal asks for it' ended
tap_end
