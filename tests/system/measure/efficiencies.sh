#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The efficiencies of examples/metrics/pop.pmsl, against the program's own log. The uneven work is
# planted: rank 0 has always more, or the ranks take turns.
# timeout: 150
. tests/system/lib.sh
own_host
need python3
COUNT=100
cat >"$TMPDIR/compare.py" <<'END'
"""compare.py LOG RANKS FOLDER WORK: the log's efficiencies are those of the last reads."""
import csv, sys
log, ranks, folder, work = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
rows = [[tuple(map(float, line.split())) for line in open(f"{log}.{r}")] for r in range(ranks)]
passes = range(1, len(rows[0]))
useful = [[rows[r][k][0] - rows[r][k - 1][1] for k in passes] for r in range(ranks)]
took = [sum(rows[r][k][1] - rows[r][k - 1][1] for k in passes) for r in range(ranks)]
total = [sum(u) for u in useful]
mean, most = sum(total) / ranks, max(total)
critical = sum(max(useful[r][i] for r in range(ranks)) for i in range(len(passes)))
exact = {"Parallel_efficiency": mean * ranks / sum(took), "Load_balance": mean / most,
         "Serialisation": most / critical, "Transfer": critical * ranks / sum(took)}
got = {}
for name in exact:
    rows = list(csv.DictReader(open(f"{folder}/{name}.csv")))
    got[name] = float(rows[-1]["value"])
    assert rows[-1]["k"] == rows[-1]["n"] == str(ranks), rows[-1]
    print(f"# {work}: {name} {got[name]:.4f}, by the log {exact[name]:.4f}")
for name in exact:
    assert abs(got[name] - exact[name]) < 0.02, (name, got[name], exact[name])
product = got["Load_balance"] * got["Serialisation"] * got["Transfer"]
assert abs(product - got["Parallel_efficiency"]) < 0.001, (product, got)
# Three to one: the mean of two ranks is two thirds of the larger.
assert got["Load_balance" if work == "one" else "Serialisation"] < 0.85, got
END

works() { # WORK MPI
	program=$B/tests/libapp/uneven.$2 d=$TMPDIR/$1
	[ -x "$program" ] || return 0
	mkdir "$d"
	omig run --job "$1" -- mpirun."$2" -n 2 "$program" "$1" "$COUNT" "$d/begin" \
		"$d/log" >"$d/out" \
		2>"$d/err" </dev/null &
	job=$!
	check "$1: two ranks are visible" until_true 30 job_has_ranks "$1" 2
	check "$1: no other measurement runs" until_true 30 no_measurement_runs
	pids=
	for metric in Parallel_efficiency Load_balance Serialisation Transfer; do
		omig measure -f examples/metrics/pop.pmsl $metric --every 200ms --csv --for 10m \
			>"$d/$metric.csv" 2>"$d/$metric.err" &
		pids="$pids $!"
	done
	begun() {
		[ "$(omig explain | grep -c running)" = 4 ] &&
			[ "$(cat "$d"/*.csv | grep -c '^2,')" = 4 ]
	}
	check "$1: four measurements run" until_true 30 begun
	: >"$d/begin"
	check "$1: the program ends" wait "$job"
	agrees() {
		python3 "$TMPDIR/compare.py" "$d/log" 2 "$d" "$1" >"$d/compared" 2>&1
	}
	check "$1: the efficiencies are those of the log" until_true 20 agrees "$1"
	cat "$d/compared"
	# shellcheck disable=SC2086 # a list of numbers
	kill -INT $pids
	for pid in $pids; do
		wait "$pid"
	done
}
works one openmpi
works turns openmpi
tap_end
