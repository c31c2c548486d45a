#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The bytes that each rank sends to each other rank in each region of the program. They agree with
# the program's own log. Combinations without room in a rank have no value.
. tests/system/lib.sh
own_host
program=$B/examples/loops.openmpi
[ -x "$program" ] || skip_all 'no example program with probes'

omig run -- mpirun.openmpi --oversubscribe -n 3 "$program" --passes 60 --work 1000 \
	--from "$TMPDIR/begin" --log "$TMPDIR/log" >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null &
job=$!
three_run() {
	[ "$(omig tree --json | tr '{' '\n' | grep -c '"rank":')" = 3 ]
}
check 'three ranks are visible' until_true 30 three_run
probes_are_known() {
	[ "$(omig probes --list | grep -o begin_send | wc -l)" -ge 1 ]
}
check 'with their probes' until_true 30 probes_are_known
check 'waits are refused with the reason' says 'not split by partners and regions at once' \
	omig measure Wait_delay --by process,partner,region --region send --count 1
check 'a kind twice' status_is 2 omig measure Send_volume --by partner,partner --count 1
check 'no kind' status_is 2 omig measure Send_volume --by process,partner,colour --count 1

measures() { # NAME METRIC OPTION...
	name=$1
	shift
	omig measure "$@" --every 200ms --csv --for 10m >"$TMPDIR/$name.csv" \
		2>"$TMPDIR/$name.err" &
	pids="$pids $!"
}
pids=
measures both Send_volume --by process,partner,region --region send --region loop
measures pairs Send_volume --by process,partner
both_reads() {
	grep -q ' in send,' "$TMPDIR/both.csv"
}
check 'the first has its room in the ranks' until_true 30 both_reads
measures many Send_count --by process,partner,region --region loop_start..begin_send \
	--region loop_start..end_send --region loop_start..loop_stop --region begin_send..end_send \
	--region begin_send..loop_stop --region begin_send..iteration_end \
	--region end_send..loop_stop --region end_send..iteration_end \
	--region loop_stop..iteration_end --region loop_start..iteration_end \
	--region iteration_end..loop_start --region loop_stop..loop_start
begun() {
	[ "$(omig explain | grep -c running)" = 3 ]
}
check 'three measurements run' until_true 30 begun
: >"$TMPDIR/begin"
check 'the program ends' wait "$job"

last() { # NAME [REGION]: the sum of the values of the last read
	awk -F, -v region="${2:-}" 'NR == 1 { next } $1 != read { sum = 0; read = $1 }
		region == "" || $NF == region { sum += $6 } END { printf "%d\n", sum }' \
		"$TMPDIR/$1.csv"
}
sent() { # by the log: bytes that all ranks have sent
	for log in "$TMPDIR"/log.[012]; do tail -n 1 "$log"; done |
		awk '{ n += $5 } END { print n }'
}
agrees() {
	[ "$(last pairs)" = "$(sent)" ] && [ "$(last both send)" = "$(sent)" ] &&
		[ "$(last both loop)" = "$(sent)" ]
}
check 'the sums are those of the log' until_true 30 agrees
check 'that is something' [ "$(sent)" -gt 1024 ]
of_pairs() { # NAME [REGION]: "RANK > RANK" and the value, of the last read, but nothing
	awk -F, -v region="${2:-}" 'NR == 1 { next } $1 != read { n = 0; read = $1 }
		region == "" || $NF == region { sub(/ in .*/, "", $4); line[n++] = $4 " " $6 }
		END { for (i = 0; i < n; i++) if (line[i] !~ / 0$/) print line[i] }' \
		"$TMPDIR/$1.csv" | sort
}
same_pairs() {
	of_pairs pairs >"$TMPDIR/pairs" && of_pairs both send >"$TMPDIR/in" &&
		diff "$TMPDIR/pairs" "$TMPDIR/in"
}
check 'each pair has in the region what it has at all' same_pairs
check 'three pairs communicate' [ "$(wc -l <"$TMPDIR/pairs")" -ge 3 ]
check 'a label has all three' says 'rank0@[^ ]* -> rank1@[^ ]* in send' cat "$TMPDIR/both.csv"
many_missing() { # missing values, none of which is shown as 0
	awk -F, 'NR > 1 && /missing/ { n++; if ($6 != "" && $6 != "nan") exit 1 }
		END { exit n == 0 }' "$TMPDIR/many.csv"
}
check 'what has no room is missing, never 0' until_true 30 many_missing
check 'and the reason is a warning' says 'more counters by regions than a process has room' \
	cat "$TMPDIR/many.err"
# shellcheck disable=SC2086 # numbers
kill -INT $pids
# shellcheck disable=SC2086
wait $pids
tap_end
