# SPDX-License-Identifier: Apache-2.0
"""What `omig measure` says of examples/metrics/, against the log that examples/loops.c keeps of itself.

	paper_books.py METRIC MEASURED.csv LOG.0 LOG.1 ...

A line of the log: probe, vt, seconds since 1970 before and after the probe, bytes sent, seconds in messages, seconds
in barriers, of the rank so far. A probe was met between the two times; so what is told of a time must lie within what
the log allows, whatever the machine did meanwhile. What is counted must be equal.
"""
import csv
import sys
from fractions import Fraction
from statistics import NormalDist

CLOCK_S = 200e-6  # two readings of one clock on one host: by the kernel, and by ticks that follow it


class Mark:
    def __init__(self, before, after, sent, messages, barriers):
        self.before, self.after = float(before), float(after)
        self.sent, self.messages, self.barriers = int(sent), float(messages), float(barriers)


def read_log(path):
    log = {}
    with open(path) as f:
        for line in f:
            name, vt, *rest = line.split()
            log.setdefault(name, {})[int(vt)] = Mark(*rest)
    return log


def between(first, last):
    """The least and the most time from one mark to another."""
    return last.before - first.after, last.after - first.before


class Row:
    def __init__(self, r):
        self.read, self.time, self.label = int(r["read"]), int(r["time_ns"]) / 1e9, r["label"]
        self.vt = int(r["vt"]) if r["vt"] else None
        self.value = float(r["value"]) if r["value"] else None
        self.error = float(r["error"] or 0)
        self.k, self.n, self.flags = int(r["k"]), int(r["n"]), r["flags"]

    def is_whole(self):
        return self.value is not None and self.k == self.n and not self.flags

    def rank(self):
        return int(self.label[len("rank"):].split("@")[0])


def read_rows(path):
    with open(path) as f:
        return [Row(r) for r in csv.DictReader(f)]


def is_within(value, low, high, slack):
    return low - slack <= value <= high + slack


class Wrong(Exception):
    pass


def each_vt(rows, allowed, at_least):
    """allowed(row): what the log says of it, or None where it has begun later or ended earlier."""
    compared = 0
    for row in rows:
        bounds = allowed(row) if row.is_whole() else None
        if bounds is None:
            continue
        low, high, slack = bounds
        compared += 1
        if not is_within(row.value, low, high, slack):
            raise Wrong(f"vt {row.vt} of {row.label}: {row.value} is not within {low} .. {high}")
    if compared < at_least:
        raise Wrong(f"only {compared} of {len(rows)} values could be compared")
    print(f"# {compared} values")


def marks_of(logs, row, name):
    return logs[row.rank()].get(name, {}).get(row.vt), logs[row.rank()].get(name, {}).get(row.vt - 1)


def iteration_time(logs, rows):
    def allowed(row):
        now, last = marks_of(logs, row, "iteration_end")
        return (*between(last, now), CLOCK_S) if now and last else None
    each_vt(rows, allowed, 20)


def comm_delay(logs, rows):
    """The calls last no longer than what the program sees around them; per cent of a time within its bounds."""
    near = []

    def allowed(row):
        now, last = marks_of(logs, row, "iteration_end")
        if not now or not last:
            return None
        least, most = between(last, now)
        spent = now.messages - last.messages
        if spent > 0:
            near.append(row.value * (least + most) / 200 / spent)
        return 0, 100 * spent / max(least, 1e-9), 100 * CLOCK_S / max(least, 1e-9)
    each_vt(rows, allowed, 20)
    near.sort()
    if not near or near[len(near) // 2] < 0.5:
        raise Wrong(f"half of the values are less than half of the log's: {near}")


def load_imbalance(logs, rows):
    near = []

    def allowed(row):
        marks = [(log.get("loop_start", {}).get(row.vt), log.get("loop_stop", {}).get(row.vt)) for log in logs]
        if not all(a and b for a, b in marks):
            return None
        spent = [b.barriers - a.barriers for a, b in marks]
        least, most = between(*marks[0])
        near.append(abs(row.value - (max(spent) - min(spent)) / ((least + most) / 2)))
        return 0, max(spent) / max(least, 1e-9), CLOCK_S / max(least, 1e-9)
    each_vt(rows, allowed, 20)
    near.sort()
    if not near or near[len(near) // 2] > 0.1:
        raise Wrong(f"half of the values differ by more than 0.1 from the log's: {near}")


def sent_in(logs, vt):
    marks = [(log.get("begin_send", {}).get(vt), log.get("end_send", {}).get(vt)) for log in logs]
    return sum(b.sent - a.sent for a, b in marks) if all(a and b for a, b in marks) else None


def send_volume_vt(logs, rows):
    def allowed(row):
        sent = sent_in(logs, row.vt)
        return None if sent is None else (sent, sent, 0)
    each_vt(rows, allowed, 20)


def last_of_each(rows, n):
    """The last row of each object, of which there are n."""
    last = {row.label: row for row in rows}
    if len(last) != n or not all(row.is_whole() for row in last.values()):
        raise Wrong(f"{len(last)} of {n} objects: {[vars(row) for row in last.values()]}")
    return last.values()


def loop_counter(logs, rows):
    for row in last_of_each(rows, len(logs)):
        passes = len(logs[row.rank()]["iteration_end"])
        if row.value != passes:
            raise Wrong(f"{row.label}: {row.value} of {passes} passes")
        print(f"# {row.label}: {passes}")


def mean_iteration_time(logs, rows):
    for row in last_of_each(rows, len(logs)):
        ends = logs[row.rank()]["iteration_end"]
        low, high = [t / (len(ends) - 1) for t in between(ends[min(ends)], ends[max(ends)])]
        if not is_within(row.value, low, high, CLOCK_S / (len(ends) - 1)):
            raise Wrong(f"{row.label}: {row.value} is not within {low} .. {high}")
        print(f"# {row.label}: {row.value}")


def max_comm_delay(logs, rows):
    """It never falls, and is no more than the log allows."""
    values = [row.value for row in rows if row.value is not None]
    most = 0
    for log in logs:
        ends = log["iteration_end"]
        for vt, now in ends.items():
            if vt - 1 in ends:
                least, _ = between(ends[vt - 1], now)
                most = max(most, 100 * (now.messages - ends[vt - 1].messages + CLOCK_S) / max(least, 1e-9))
    (last,) = last_of_each(rows, 1)
    if sorted(values) != values or not 0 < last.value <= most:
        raise Wrong(f"{values} fall, or are more than {most}")
    print(f"# up to {last.value:.3g} of {most:.3g}")


def send_volume(logs, rows):
    (last,) = last_of_each(rows, 1)
    sent = sum(sent_in(logs, vt) for vt in logs[0]["end_send"])
    if last.value != sent:
        raise Wrong(f"{last.value} of {sent} bytes")
    print(f"# {sent} bytes")


def central_moment(values, k, n):
    """The k-th powers of the distances to the mean, over n."""
    mean = Fraction(sum(values), len(values))
    return float(sum((v - mean) ** k for v in values) / n)


def is_last(rows, want, what):
    (last,) = last_of_each(rows, 1)
    if abs(last.value - want) > 1e-9 * abs(want):
        raise Wrong(f"{last.value!r} is not {want!r} {what}")
    print(f"# {want} {what}")


def residuum_skewness(logs, rows):
    left = [Fraction(1.0 / vt) for log in logs for vt in log["iteration_end"]]
    n = len(left)
    is_last(rows, central_moment(left, 3, n) / central_moment(left, 2, n - 1) ** 1.5, f"of {n} iterations")


def sent_ci(logs, rows):
    """Student's t by the first terms of its expansion: 10 digits for a thousand degrees of freedom."""
    ends = [log["iteration_end"] for log in logs]
    sent = [of[vt].sent - of[vt - 1].sent for of in ends for vt in of if vt - 1 in of]
    n, z = len(sent), NormalDist().inv_cdf(0.975)
    t = z + (z**3 + z) / 4 / (n - 1) + (5 * z**5 + 16 * z**3 + 3 * z) / 96 / (n - 1) ** 2
    is_last(rows, t * (central_moment(sent, 2, n - 1) / n) ** 0.5, f"at 95 % of {n} iterations")


METRICS = {
    "Loop_Counter": loop_counter,
    "Iteration_time": iteration_time,
    "Mean_iteration_time": mean_iteration_time,
    "Comm_delay_per_loop_execution": comm_delay,
    "Max_comm_delay_per_loop_execution": max_comm_delay,
    "Load_imbalance_at_barrier": load_imbalance,
    "Send_volume_for_interaction_vt": send_volume_vt,
    "Send_volume_for_interaction": send_volume,
    "Residuum_skewness": residuum_skewness,
    "Sent_in_iteration_ci": sent_ci,
}


def main(metric, measured, *logs):
    try:
        METRICS[metric]([read_log(path) for path in logs], read_rows(measured))
    except Wrong as e:
        print(e)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
