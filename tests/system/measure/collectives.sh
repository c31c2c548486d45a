#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The wait at collectives, and the rank that was last in each, against the program's own log.
# timeout: 150
. tests/system/lib.sh
own_host
need python3
COUNT=200
metrics=examples/metrics/wait_at_collectives.pmsl

cat >"$TMPDIR/compare.py" <<'END'
"""compare.py FUNCTION LOG WAIT.csv LAST.csv RANKS: prints what agrees; fails where it must."""
import csv, sys
function, log, waits, lasts, ranks = sys.argv[1:6]
ranks = int(ranks)
enter, left = {}, {}
for r in range(ranks):
    for line in open(f"{log}.{r}"):
        name, number, a, b = line.split()
        if name == function:
            enter.setdefault(int(number), {})[r] = float(a)
            left.setdefault(int(number), {})[r] = float(b)
exact = {n: sum(max(e.values()) - v for v in e.values()) for n, e in enter.items()}
who = {n: max(e, key=e.get) for n, e in enter.items()}

def values(path):
    rows = [row for row in csv.DictReader(open(path)) if row["vt"]]
    return {int(row["vt"]): row for row in rows}

wait, last = values(waits), values(lasts)
whole = [n for n in exact if n in wait and int(wait[n]["k"]) == int(wait[n]["n"]) == ranks]
total, measured = sum(exact[n] for n in whole), sum(float(wait[n]["value"]) for n in whole)
took = {n: [left[n][r] - enter[n][r] for r in enter[n]] for n in enter}
logged = sum(sum(took[n]) - ranks * min(took[n]) for n in whole)
named = [n for n in exact if n in last and last[n]["value"].startswith("rank")]
right = [n for n in named if last[n]["value"].split("@")[0] == f"rank{who[n]}"]
print(f"# {function}: {len(whole)} of {len(exact)} instances, wait {measured:.4f} s, exact {total:.4f} s, "
      f"difference {100 * (measured - total) / total:+.2f} %, from the log's durations "
      f"{100 * (measured - logged) / logged:+.2f} %, last rank right {len(right)} of {len(named)}")
assert sorted(whole) == sorted(exact), "instances are missing"
assert len(named) == len(exact)
# Ranks of a busy machine leave late, so that not all of a duration is a wait.
assert abs(measured - logged) < 0.1 * logged + 0.001 * len(whole), (measured, logged)
assert measured > 0.9 * total, (measured, total)
shortest = [n for n in named if last[n]["value"].split("@")[0] ==
            f"rank{min(enter[n], key=lambda r: left[n][r] - enter[n][r])}"]
assert len(shortest) >= 0.95 * len(named), (len(shortest), len(named))
END

runs_with() { # MPI
	program=$B/tests/libapp/lastcomer.$1 d=$TMPDIR/$1
	[ -x "$program" ] || return 0
	mkdir "$d"
	omig run --job "$1" -- mpirun."$1" -n 2 "$program" "$COUNT" "$d/begin" \
		"$d/log" >"$d/out" 2>"$d/err" \
		</dev/null &
	job=$!
	check "$1: two ranks are visible" until_true 30 job_has_ranks "$1" 2
	check "$1: no other measurement runs" until_true 30 no_measurement_runs
	pids=
	for metric in Wait_at_barrier Last_at_barrier Wait_at_allreduce Last_at_allreduce; do
		omig measure -f "$metrics" $metric --every 200ms --csv --for 10m \
			>"$d/$metric.csv" 2>"$d/$metric.err" &
		pids="$pids $!"
	done
	begun() {
		[ "$(omig explain | grep -c running)" = 4 ]
	}
	check "$1: four measurements run" until_true 30 begun
	: >"$d/begin"
	check "$1: the program ends" wait "$job"
	for call in Barrier Allreduce; do
		low=$(echo $call | tr "[:upper:]" "[:lower:]")
		agrees() {
			python3 "$TMPDIR/compare.py" "MPI_$call" "$d/log" "$d/Wait_at_$low.csv" \
				"$d/Last_at_$low.csv" 2 >"$d/$call.compared" 2>&1
		}
		check "$1: the waits at MPI_$call are those of the log" until_true 20 agrees
		cat "$d/$call.compared"
	done
	# shellcheck disable=SC2086 # a list of numbers
	kill -INT $pids
	for pid in $pids; do
		wait "$pid"
	done
}
for mpi in openmpi mpich; do
	runs_with $mpi
done
tap_end
