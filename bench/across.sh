#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench-across: the time of an action across sites. A process at one site ends, and a conditional
# request signals a process at another site. Both sites are virtual hosts with 25 ms between them
# each way, and mainsm is at site 1. The floor is half a round trip of a datagram in the same run:
# no direct way between the sites is faster. Needs virtual hosts, tun devices and python3.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
top=${TOP:-$PWD}
bed=$top/tests/testbed/bed
rounds=${ROUNDS:-10}
delay_ms=25
if [ -z "${BED_DIR:-}" ]; then
	"$bed" can || { echo 'no virtual hosts here: bench-across is left out' >&2; exit 0; }
	TOP=$top exec "$bed" run -n 2 -s 2 -- sh "$0"
fi
folder=$(mktemp -d)
export PATH="$here/bin:$PATH" OMIG_STATE_DIR="$folder/state" OMIG_RUNTIME_DIR="/run/omig-across" \
	XDG_CONFIG_HOME="$folder/config"
wan=
finish() {
	"$bed" exec node1 omig stop >/dev/null 2>&1 || true
	[ -z "$wan" ] || kill "$wan" 2>/dev/null || true
	rm -rf "$folder"
}
trap finish EXIT

# limit SECONDS WHAT COMMAND...: until the command succeeds; without it there are no figures
limit() {
	left=$(($1 * 10)) what=$2
	shift 2
	until "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || { echo "bench-across: $what in vain" >&2; exit 1; }
		sleep 0.1
	done
}
has() { # TEXT FILE
	grep -q "$1" "$2" 2>/dev/null
}

"$top/tests/testbed/wan" wan0 $delay_ms 0.001 >"$folder/wan" 2>&1 &
wan=$!
is_up_or_gone() {
	has ready "$folder/wan" || ! kill -0 $wan 2>/dev/null
}
limit 20 'waited for tun devices' is_up_or_gone
has ready "$folder/wan" || { echo 'no tun devices here' >&2; exit 0; }
one=$("$bed" address node1) two=$("$bed" address node2)
ip link set wan0 up
echo 0 >/proc/sys/net/ipv4/conf/wan0/rp_filter
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
ip route replace default dev wan0 table 77
ip rule add iif site1 to "${two%.*}.0/24" lookup 77
ip rule add iif site2 to "${one%.*}.0/24" lookup 77
cat >"$folder/echo" <<'END'
import socket, statistics, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if sys.argv[1] == "serve":
    s.bind((sys.argv[2], 7777))
    print("ready", flush=True)
    while True:
        s.sendto(*s.recvfrom(64))
s.settimeout(2)
times = []
for i in range(30):
    began = time.monotonic()
    s.sendto(b"%d" % i, (sys.argv[2], 7777))
    s.recv(64)
    times.append(time.monotonic() - began)
print(int(statistics.median(times) * 1e6))
END
"$bed" exec node2 python3 "$folder/echo" serve "$two" >"$folder/served" &
limit 20 'waited for the echo of datagrams' has ready "$folder/served"
rtt_us=$("$bed" exec node1 python3 "$folder/echo" ask "$two")

"$bed" exec node1 mainsm --foreground --listen "$one" >"$folder/conn" 2>"$folder/mainsm.log" &
limit 20 'waited for mainsm' has '^omig1:' "$folder/conn"
OMIG_MAINSM=$(cat "$folder/conn")
export OMIG_MAINSM

# A process that writes the time to FILE when it gets SIGUSR1.
cat >"$folder/waiter" <<'END'
import signal, sys, time
def note(*_):
    with open(sys.argv[1], "w") as f:
        f.write(str(time.time_ns()))
    sys.exit(0)
signal.signal(signal.SIGUSR1, note)
while True:
    signal.pause()
END
living() {
	"$bed" exec node1 omig tree --json | tr '{' '\n' | grep '"program"' |
		grep -v '"state":"ended"'
}
# The living process of that program
token() {
	living | sed -n "s/.*\"token\":\"\(p_[^\"]*\)\".*\"program\":\"$1\".*/\1/p" | tail -n 1
}
is_there() {
	[ -n "$(token "$1")" ]
}
have_ended() {
	! living >/dev/null
}

# A process that ends when FILE is there, and writes the time to it just before.
cat >"$folder/ends" <<'END'
import os, sys, time
while not os.path.exists(sys.argv[1]):
    time.sleep(0.001)
f = os.open(sys.argv[1], os.O_WRONLY)
os.write(f, str(time.time_ns()).encode())
os._exit(0)
END
python=$(python3 -c 'import sys; print(sys.executable)')
ln -s "$python" "$folder/ender"
ln -s "$python" "$folder/getter"

# from_to FROM TO: microseconds from the end of a process at FROM to the signal at TO
from_to() {
	rm -f "$folder/got" "$folder/end"
	"$bed" exec "$1" env OMIG_SITE="site-$1" omig run -- "$folder/ender" "$folder/ends" \
		"$folder/end" >/dev/null 2>&1 &
	"$bed" exec "$2" env OMIG_SITE="site-$2" omig run -- "$folder/getter" "$folder/waiter" \
		"$folder/got" >/dev/null 2>&1 &
	limit 60 'waited for the process that ends' is_there ender
	limit 60 'waited for the process that is signalled' is_there getter
	a=$(token ender) b=$(token getter)
	"$bed" exec node1 omig request --follow 20 \
		"proc_has_terminated([$a]): proc_send_signal([$b],10)" >"$folder/tool" 2>&1 &
	tool=$!
	sleep 2 # until it is armed on the other site: no request shows that
	: >"$folder/end"
	limit 20 'waited for the signal' [ -s "$folder/got" ]
	echo $((($(cat "$folder/got") - $(cat "$folder/end")) / 1000))
	kill $tool 2>/dev/null || true
	limit 20 'waited for the ends of both processes' have_ended
}

row() { # NAME UNIT: the median, least and most of the values in the standard input
	sort -n | awk -v name="$1" -v unit="$2" '
		{ v[NR] = $1 }
		END {
			printf "{\"name\":\"across.%s\",\"value\":%.4g,\"unit\":\"%s\",", name,
				v[int((NR + 1) / 2)], unit
			printf "\"min\":%.4g,\"max\":%.4g,\"n\":%d}\n", v[1], v[NR], NR
		}'
}
each() { # FROM TO
	for _ in $(seq "$rounds"); do
		from_to "$1" "$2"
	done
}
echo "$((rtt_us / 2))" | row one_way us
for way in 'node2 node1 towards_mainsm' 'node1 node2 from_mainsm'; do
	# shellcheck disable=SC2086 # words
	set -- $way
	each "$1" "$2" >"$folder/values"
	row "$3" us <"$folder/values"
	awk -v floor="$((rtt_us / 2))" '{ print $1 / floor }' "$folder/values" | row "$3.floors" x
done
