# SPDX-License-Identifier: Apache-2.0
"""Compares what omig measure said (CSV) with the log that the program loops kept: paper_metrics.py LOG DIR RANKS.

Each metric is computed anew from the log alone. A value agrees when it is within its own bound of the logged
one, with SLACK on top where the log looks at the clock just before the probe does, or when at most the passes
at the two ends of an interval differ. Prints a line for each metric; exit status 1 when one does not agree.
"""
import csv
import math
import sys

SLACK_S = 0.005  # between the program's look at the clock and the probe's, on a busy machine
ENOUGH = 0.75  # of the values: between the two looks somebody else may have run

log_name, folder, ranks = sys.argv[1], sys.argv[2], int(sys.argv[3])
at, sent = {}, {}
for rank in range(ranks):
    with open(f"{log_name}.{rank}", encoding="ascii") as f:
        for line in f:
            probe, vt, time, n = line.split()
            at[probe, rank, int(vt)] = float(time)
            sent[probe, rank, int(vt)] = int(n)


def rows(name):
    with open(f"{folder}/{name}.csv", encoding="utf-8") as f:
        out = [r for r in csv.DictReader(f) if r["value"]]
    return out


def rank_of(row):
    return int(row["label"].split("@")[0][len("rank"):])


bad = 0


def judge(name, good, n, what):
    global bad
    agrees = n > 0 and good >= ENOUGH * n
    bad += not agrees
    print(f"{'agrees' if agrees else 'DIFFERS'} {name}: {good} of {n} {what}")


def near(row, logged, slack):
    return abs(float(row["value"]) - logged) <= float(row["error"]) + slack


def each(name, logged_of, slack):
    good, off = 0, []
    for row in rows(name):
        logged = logged_of(row)
        if logged is not None:
            off.append(abs(float(row["value"]) - logged))
            good += near(row, logged, slack)
    middle = sorted(off)[len(off) // 2] if off else 0
    judge(name, good, len(off), f"values; half of them differ by less than {middle:.3g}")


def iteration(rank, vt):
    a, b = at.get(("iteration_end", rank, vt - 1)), at.get(("iteration_end", rank, vt))
    return b - a if a and b else None


def volume(vt):
    if any(("end_send", r, vt) not in sent for r in range(ranks)):
        return None
    return sum(sent["end_send", r, vt] - sent["begin_send", r, vt] for r in range(ranks))


def imbalance(row):
    vt = int(row["vt"])
    if any(("loop_stop", r, vt) not in at for r in range(ranks)):
        return None
    waits = [at["loop_stop", r, vt] - at["end_send", r, vt] for r in range(ranks)]
    return (max(waits) - min(waits)) / (at["loop_stop", 0, vt] - at["loop_start", 0, vt])


def intervals(name):
    """Rows of a measurement since the last read, from the second on, with the interval's ends."""
    reads = {}
    for row in rows(name):
        reads.setdefault(int(row["read"]), []).append(row)
    for r in sorted(reads):
        for row in reads[r]:
            end = float(row["time_ns"]) / 1e9
            if r > 1:
                yield row, end - EVERY_S, end


EVERY_S = 1.0
each("Iteration_time", lambda row: iteration(rank_of(row), int(row["vt"])), SLACK_S)
each("Send_volume_for_interaction_vt", lambda row: volume(int(row["vt"])), 0)
each("Load_imbalance_at_barrier", imbalance, 0.2)

good = n = 0
for row, begin, end in intervals("Loop_Counter"):
    logged = sum(begin < t <= end for (p, r, _), t in at.items() if p == "iteration_end" and r == rank_of(row))
    n += 1
    good += abs(float(row["value"]) - logged) <= 2
judge("Loop_Counter", good, n, "intervals")

good = n = 0
for row, begin, end in intervals("Mean_iteration_time"):
    means = []
    for rank in range(ranks):
        times = [iteration(rank, vt) for (p, r, vt), t in at.items()
                 if p == "iteration_end" and r == rank and begin < t <= end and iteration(rank, vt)]
        if times:
            means.append(sum(times) / len(times))
    if not means:
        continue
    n += 1
    good += near(row, sum(means) / len(means), SLACK_S)
judge("Mean_iteration_time", good, n, "intervals")

largest = max((volume(vt) or 0) for (_, _, vt) in sent)
good = n = 0
for row, begin, end in intervals("Send_volume_for_interaction"):
    logged = 0
    for (p, r, vt), t in at.items():
        if p == "end_send" and r == 0 and begin < t <= end and volume(vt):
            logged += volume(vt)
    n += 1
    good += abs(float(row["value"]) - logged) <= 2 * largest
judge("Send_volume_for_interaction", good, n, "intervals")

# Communication takes no more than the iteration, and no less than nothing.
good = n = 0
for name in ("Comm_delay_per_loop_execution", "Max_comm_delay_per_loop_execution"):
    for row in rows(name):
        n += 1
        value, error = float(row["value"]), float(row["error"])
        good += math.isinf(error) or -error <= value <= 100 + error
judge("Comm_delay", good, n, "values")
sys.exit(1 if bad else 0)
