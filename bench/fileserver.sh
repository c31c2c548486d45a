#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench-fileserver: a small form of paper 001's Table 3. A file server on the loopback net with 1, 5
# and 20 clients. It runs without events, with events that are off, and with events that are
# written. They take turns, so that other load concerns all three alike. Ratios are medians of the
# ratios of neighbours in time. Half a GiB each time, in memory if possible: shorter runs are mostly
# start and end. Processor time is of the server, its clients, and the threads that write the log.
# On a shared machine it says more than throughput.
set -eu
examples=$(dirname "$0")/../examples
rounds=${ROUNDS:-12}
total=${MIB:-512}
folder=$(mktemp -d /dev/shm/omig-bench.XXXXXX 2>/dev/null || mktemp -d)
trap 'rm -rf "$folder"' EXIT

bare() { bare=$("$examples/fileserver-bare" --clients "$1" --mib "$2" --folder "$folder"); }
off() { off=$("$examples/fileserver" --clients "$1" --mib "$2" --folder "$folder"); }
on()
{
	on=$("$examples/fileserver" --clients "$1" --mib "$2" --folder "$folder" --log \
		"$folder/log")
	rm -f "$folder/log"
}

for clients in 1 5 20; do
	for round in $(seq 0 "$rounds"); do
		# Runs the three in turn, and in reverse order the next time, because the first one
		# finds other caches.
		for each in $([ $((round % 2)) = 0 ] && echo bare off on || echo on off bare); do
			$each $clients $((total / clients))
		done
		# The first round warms up.
		[ "$round" = 0 ] || echo "$bare $off $on"
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
		# RATE MiB/s CPU s, three times
		{
			n++; rate[n] = $1; off[n] = $5 / $1; on[n] = $9 / $1
			cpu[n] = $3; cpu_off[n] = $7 / $3; cpu_on[n] = $11 / $3
		}
		END {
			row("bare.mib_per_s", "MiB/s", n, rate)
			row("inactive.throughput", "ratio", n, off)
			row("active.throughput", "ratio", n, on)
			row("bare.cpu", "s", n, cpu)
			row("inactive.cpu", "ratio", n, cpu_off)
			row("active.cpu", "ratio", n, cpu_on)
		}'
done
