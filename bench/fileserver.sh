#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench-fileserver: paper 001's Table 3 in small. A file server on the loopback net has 1, 5 and 20
# clients. It runs without events (bare) and with events that a trigger file does not activate
# (inactive). It also runs with activated events, to a file (active) and to a receiver (sent). The
# trigger file is checked each second. They take turns, so that other load concerns all alike.
# Ratios are medians of the ratios of neighbours in time. Half a GiB each time, in memory if
# possible: shorter runs are mostly start and end. Processor time is of the server, its clients, and
# the threads that write or send. On a shared machine it says more than throughput.
set -eu
examples=$(dirname "$0")/../examples
rounds=${ROUNDS:-12}
total=${MIB:-512}
folder=$(mktemp -d /dev/shm/omig-bench.XXXXXX 2>/dev/null || mktemp -d)
omig=$(dirname "$0")/omig
"$omig" log receive --json --to "$folder/all.olog" --rotate-size 64 --older 1 \
	x-netlog://127.0.0.1:0 >"$folder/receiver" 2>/dev/null &
receiver=$!
trap 'kill $receiver; wait $receiver || :; rm -rf "$folder"' EXIT
until grep -q urls "$folder/receiver"; do sleep 0.1; done
port=$(sed -n 's/.*"urls":\["[^"]*:\([0-9]*\)".*/\1/p' "$folder/receiver")
echo all >"$folder/all"

serve() # TRIGGER LOG CLIENTS MIB
{
	OMIG_EVENT_TRIGGER=$folder/$1 "$examples/fileserver" --clients "$3" --mib "$4" \
		--folder "$folder" --log "$2"
	rm -f "$folder/log"
}
bare() { bare=$("$examples/fileserver-bare" --clients "$1" --mib "$2" --folder "$folder"); }
inactive() { inactive=$(serve none "$folder/log" "$@"); }
active() { active=$(serve all "$folder/log" "$@"); }
sent() { sent=$(serve all "x-netlog://127.0.0.1:$port" "$@"); }

for clients in 1 5 20; do
	for round in $(seq 0 "$rounds"); do
		# Runs the four in turn, and in reverse order the next time, because the first one
		# finds other caches.
		for each in $([ $((round % 2)) = 0 ] && echo bare inactive active sent ||
			echo sent active inactive bare); do
			$each $clients $((total / clients))
		done
		# The first round warms up.
		[ "$round" = 0 ] || echo "$bare $inactive $active $sent"
	done | awk -v clients="$clients" '
		function row(name, unit, n, value,	i, j, t) {
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && value[j - 1] > value[j]; j--) {
					t = value[j]; value[j] = value[j - 1]; value[j - 1] = t
				}
			printf "{\"name\":\"fileserver.%s.%s\",\"value\":%.4g,\"unit\":\"%s\",", \
				clients, name, value[int((n + 1) / 2)], unit
			printf "\"min\":%.4g,\"max\":%.4g,\"n\":%d}\n", \
				value[1], value[n], n
		}
		# RATE MiB/s CPU s, four times
		{
			n++; rate[n] = $1; cpu[n] = $3
			off[n] = $5 / $1; on[n] = $9 / $1; sent[n] = $13 / $1
			cpu_off[n] = $7 / $3; cpu_on[n] = $11 / $3; cpu_sent[n] = $15 / $3
		}
		END {
			row("bare.mib_per_s", "MiB/s", n, rate)
			row("inactive.throughput", "ratio", n, off)
			row("active.throughput", "ratio", n, on)
			row("sent.throughput", "ratio", n, sent)
			row("bare.cpu", "s", n, cpu)
			row("inactive.cpu", "ratio", n, cpu_off)
			row("active.cpu", "ratio", n, cpu_on)
			row("sent.cpu", "ratio", n, cpu_sent)
		}'
done
