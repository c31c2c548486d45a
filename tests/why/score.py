#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""score.py [--markdown] [--json] FOLDER...: compares the findings of a search with planted causes.

Each FOLDER has one run: case.json, which says what was planted; truth.json, which the program `plant`
measured; and why.json, the lines that the search printed. Prints precision, recall and F1 by size and
class, times, calibration, a confusion matrix, and each miss. Exits with 2 when a folder is unreadable.

A finding is right when its hypothesis is the planted one or a listed equivalent, when it names the
planted ranks or hosts and no others, and when its severity is the measured one within 3 points or
30 %, or the part of it that the named ranks have caused. It is real when it was not planted, but the program measured that loss, too. Otherwise it is
false, and so are lines that are malformed and second findings of the same hypothesis and place.
"""
import argparse
import json
import os
import statistics
import sys

POINTS, RATIO, THRESHOLD = 0.03, 0.3, 0.02
SIZES = (0.02, 0.05, 0.1, 0.2, 0.4)
# Hypotheses whose losses add up to all waits. The others say it in another way.
PARTS = ("W1", "W2", "W3", "W4", "W5", "W6", "W11", "W13", "W15")
# In these, the last rank of each call is measured to be to blame. In messages it may wait itself.
DIRECT = ("W1", "W2", "W3", "W4")
STATES = ("new", "steady", "stronger", "weaker", "gone")


class Malformed(Exception):
    """A line that is neither a finding nor a summary of the contract."""


def number(line, key, least=None, most=None):
    """The number of that key; None where it is null."""
    value = line.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Malformed(f"{key} is not a number: {value!r}")
    if value != value or (least is not None and value < least) or (most is not None and value > most):
        raise Malformed(f"{key} is out of range: {value!r}")
    return value


def members(line, key, kind):
    """The list of that key, whose members are of that kind."""
    value = line.get(key)
    if not isinstance(value, list) or any(isinstance(v, bool) or not isinstance(v, kind) for v in value):
        raise Malformed(f"{key} is not a list: {value!r}")
    return value


def check_finding(line):
    """Raises Malformed unless the line has what is judged."""
    for key in ("hypothesis", "name", "sure"):
        if not isinstance(line.get(key), str) or not line[key]:
            raise Malformed(f"{key} is not a word: {line.get(key)!r}")
    if number(line, "id") is None or line.get("state") not in STATES:
        raise Malformed("no id or no state")
    if number(line, "severity", 0, 1) is None:
        raise Malformed("no severity")
    low, high = number(line, "low", 0, 1), number(line, "high", 0, 1)
    if low is not None and low > line["severity"] + 1e-9 or high is not None and high < line["severity"] - 1e-9:
        raise Malformed("the severity is outside of its interval")
    for key in ("since", "until", "e", "ratio"):
        number(line, key)
    number(line, "found_after_s", 0)
    members(line, "ranks", int)
    members(line, "hosts", str)
    members(line, "pairs", list)
    for cause in members(line, "causes", dict):
        if not isinstance(cause.get("id"), str):
            raise Malformed("a cause without id")
        number(cause, "share")


def read_lines(path):
    """Returns the findings by id, each as its lines; the summary or None; malformed lines."""
    findings, summary, bad = {}, None, []
    if not os.path.exists(path):
        return findings, summary, bad
    with open(path, encoding="utf-8", errors="replace") as file:
        for text in file:
            if not text.strip():
                continue
            try:
                line = json.loads(text)
                if not isinstance(line, dict) or line.get("v") != 1:
                    raise Malformed("no object of version 1")
                if line.get("kind") == "summary":
                    summary = line
                elif line.get("kind") == "finding":
                    check_finding(line)
                    findings.setdefault(line["id"], []).append(line)
                else:
                    raise Malformed(f"an unknown kind: {line.get('kind')!r}")
            except (json.JSONDecodeError, Malformed, RecursionError) as why:
                bad.append(f"{why}: {text.strip()[:80]}")
    return findings, summary, bad


class Run:
    """One run: what was planted, what was measured, and what was found."""

    def __init__(self, folder):
        with open(os.path.join(folder, "case.json"), encoding="utf-8") as file:
            self.case = json.load(file)
        self.folder = folder
        self.truth = None
        truth = os.path.join(folder, "truth.json")
        if os.path.exists(truth) and os.path.getsize(truth):
            with open(truth, encoding="utf-8") as file:
                self.truth = json.load(file)
        self.findings, self.summary, self.bad = read_lines(os.path.join(folder, "why.json"))
        self.is_control = not self.case["hypotheses"]
        self.judged = [self.judge(lines) for lines in self.in_order()]
        self.mark_duplicates()

    def in_order(self):
        """The findings as a reader sees them at the end, the most severe one first."""
        return sorted(self.findings.values(), key=lambda lines: -standing(lines)["severity"])

    def bins(self, hypothesis):
        """Seconds lost in each bin; None where the program does not measure that."""
        lost = self.truth["lost"]
        if hypothesis == "W7":
            parts = ("W8", "W3") if self.truth["kernel"] == "wavefront" else PARTS
            all_of = lost.get("W", {"bins": []})["bins"]
            waits = [lost[h]["bins"] for h in parts if h in lost]
            return [max(0, b - sum(w[i] for w in waits)) for i, b in enumerate(all_of)]
        if hypothesis == "W5" and self.truth["kernel"] == "wavefront":
            # A sweep loses in receives and, at its end, in the collective.
            return [a - b for a, b in zip(lost["W8"]["bins"], lost["W2"]["bins"])] if "W2" in lost else None
        if hypothesis in lost:
            return lost[hypothesis]["bins"]
        return [0.0] * len(lost.get("W", {"bins": []})["bins"]) if hypothesis in PARTS + ("W", "W8") else None

    def loss(self, hypothesis, since, until):
        """The share of all rank-seconds that was lost from since to until, times since 1970."""
        bins = self.bins(hypothesis)
        if not bins:
            return None
        size, begin = self.truth["bin"], self.truth["begin"]
        first = int(max(0, ((since or begin) - begin) / size))
        last = int(min(len(bins), ((until or begin + size * len(bins)) - begin) / size + 0.5))
        if last <= first:
            first, last = min(first, len(bins) - 1), min(first, len(bins) - 1) + 1
        return sum(bins[first:last]) / ((last - first) * size * self.truth["ranks"])

    def window(self, line):
        """The times that the severity of a finding is about."""
        searched = self.case.get("searched") or [None, None]
        since, until = line.get("since"), line.get("until")
        if since is None or (searched[0] and since < searched[0]):
            since = searched[0]
        return since, until or searched[1]

    def is_place(self, line):
        """Whether the finding names the planted place; None where no place was planted."""
        where, hosts = self.case.get("where"), self.case.get("hosts")
        if not where and not hosts:
            return None
        if hosts and set(line["hosts"]) == set(hosts):
            return True
        named = set(line["ranks"]) or {to for pair in line["pairs"] for to in pair[1:2]}
        return any(named == set(ranks) for ranks in where or [])

    def part(self, line):
        """The part of a loss of which the named ranks are the last ones; None where that is not so plain."""
        blame = self.truth["lost"].get(line["hypothesis"], {}).get("blame", [])
        if line["hypothesis"] not in DIRECT or not line["ranks"] or not sum(blame):
            return None
        return sum(blame[r] for r in set(line["ranks"]) if 0 <= r < len(blame)) / sum(blame)

    def agrees(self, line, true):
        """Whether the severity is the measured loss, or that part of it of which the named ranks are to
        blame: a reader may take it for either."""
        if agrees(line, true):
            return True
        part = self.part(line)
        return part is not None and part >= 0.3 and agrees(line, part * true)

    def is_real(self, line, true):
        """Whether the measured loss is there, and its culprits are to blame for twice their part."""
        if true is None or true < THRESHOLD or not self.agrees(line, true):
            return False
        part = self.part(line)
        return part is None or part >= min(0.5, 2 * len(set(line["ranks"])) / self.truth["ranks"])

    def judge(self, lines):
        """What is right about a finding."""
        line = standing(lines)
        true = self.loss(line["hypothesis"], *self.window(line)) if self.truth else None
        if true is None and self.truth and line["hypothesis"] in self.case["hypotheses"]:
            true = self.loss(self.truth["hypothesis"] or "W", *self.window(line))
        symptom = line["hypothesis"] in self.case["hypotheses"]
        place = self.is_place(line)
        severity = true is not None and self.agrees(line, true)
        right = symptom and place is not False and severity
        causes = self.case.get("causes")
        cause = None
        if causes and symptom and place is not False:
            cause = bool(line["causes"]) and line["causes"][0]["id"] in causes
        low, high = line.get("low"), line.get("high")
        return {"line": line, "true": true, "symptom": symptom, "place": place, "severity": severity,
                "kind": "right" if right else "real" if self.is_real(line, true) else "false",
                "cause": cause, "after": lines[0].get("found_after_s"),
                "cause_after": next((x.get("found_after_s") for x in lines if causes and x["causes"] and
                                     x["causes"][0]["id"] in causes), None),
                "held": None if None in (low, high, true) else low <= true + 1e-9 and true <= high + 1e-9}

    def mark_duplicates(self):
        """The second finding of the same hypothesis, place and time says nothing."""
        seen = set()
        for j in self.judged:
            line = j["line"]
            key = (line["hypothesis"], tuple(sorted(line["ranks"])), tuple(sorted(line["hosts"])),
                   json.dumps(line["pairs"]), line.get("until"))
            if key in seen:
                j["kind"] = "false"
                j["duplicate"] = True
            seen.add(key)

    def right(self):
        """The first right finding in the list, with its place there from 1; None: a miss."""
        for i, j in enumerate(self.judged):
            if j["kind"] == "right":
                return i + 1, j
        return None

    def false_count(self):
        """Findings that are false, and lines that are none."""
        return sum(j["kind"] == "false" for j in self.judged) + len(self.bad)

    def change(self):
        """Of a right finding about a plant that begins later: the error of its begin, and the time
        until it was found, in seconds; None: there is none."""
        found = self.right()
        if not found or not self.truth.get("from") or found[1]["line"].get("since") is None:
            return None
        at = self.truth["begin"] + self.truth["from"]
        after = found[1]["after"]
        return (abs(found[1]["line"]["since"] - at),
                None if after is None else self.case["searched"][0] + after - at)

    def planted_loss(self):
        """What the plant really cost while the search looked."""
        if not self.truth or self.is_control:
            return None
        searched = self.case.get("searched") or [None, None]
        since = searched[0]
        begin = self.truth.get("from") or 0
        if begin and since is not None:
            since = max(since, self.truth["begin"] + begin)
        return self.loss(self.truth["hypothesis"] or self.case["hypotheses"][0], since, searched[1])

    def is_spoiled(self):
        """Whether the plant did not cost 1 %, or other processes delayed other ranks as much."""
        if self.is_control or not self.truth:
            return False
        loss = self.planted_loss()
        if loss is not None and loss < 0.01:
            return True
        blame = self.truth["lost"].get(self.case["hypotheses"][0], {}).get("blame", [])
        if self.case["class"] != "system" or not self.case.get("where") or not sum(blame):
            return False
        return all(sum(blame[r] for r in where) < min(0.6, 2 * len(where) / len(blame)) * sum(blame)
                   for where in self.case["where"])

    def why_missed(self):
        """A few words about a miss."""
        if self.case.get("error"):
            return self.case["error"]
        if not self.truth:
            return "the program wrote no truth"
        near = [j for j in self.judged if j["symptom"]]
        if near:
            j = near[0]
            words = [] if j["place"] is not False else [
                f"named {j['line']['ranks'] or j['line']['hosts'] or j['line']['pairs']}"]
            if not j["severity"]:
                words.append(f"severity {j['line']['severity']:.3f}, measured {j['true']:.3f}"
                             if j["true"] is not None else "severity not measured")
            return ", ".join(words) or "a second finding of the same"
        if self.judged:
            line = self.judged[0]["line"]
            return f"found {line['hypothesis']} ({line['name']}) {line['severity']:.3f} at {line['ranks']}"
        return "; ".join(["found nothing"] + self.bad[:1])

    def name(self):
        """Case, size, MPI and seed."""
        size = f" {100 * self.case['size']:g} %" if self.case.get("size") else ""
        return f"{self.case['name']}{size} {self.case.get('mpi', '')} {self.case.get('seed', '')}".strip()


def standing(lines):
    """The last line of a finding that is not `gone`; it says when it was gone."""
    alive = [line for line in lines if line["state"] != "gone"] or lines
    last = dict(alive[-1])
    if lines[-1]["state"] == "gone":
        last["until"] = lines[-1].get("until") or last.get("until")
    return last


def agrees(line, true):
    """Whether the severity is the measured one."""
    return abs(line["severity"] - true) <= max(POINTS, RATIO * true)


def ratio(part, whole):
    """A quotient, or None when there is nothing to divide by."""
    return part / whole if whole else None


def scores(runs):
    """Precision, recall and so on of these runs."""
    planted = [r for r in runs if not r.is_control]
    found = [r.right() for r in planted]
    right = sum(j["kind"] == "right" for r in runs for j in r.judged)
    real = sum(j["kind"] == "real" for r in runs for j in r.judged)
    false = sum(r.false_count() for r in runs)
    precision, recall = ratio(right, right + false), ratio(sum(f is not None for f in found), len(planted))
    f1 = None
    if precision is not None and recall is not None:
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    elif planted:
        f1 = 0.0
    return {"runs": len(runs), "planted": len(planted), "right": right, "real": real, "false": false,
            "precision": precision, "recall": recall, "f1": f1}


def quantile(values, q):
    """The smallest value of which the part q is not larger."""
    values = sorted(values)
    return values[min(len(values) - 1, int(-(-q * len(values) // 1)) - 1)] if values else None


def of_planted(runs):
    """What is said about the runs with a plant beyond precision and recall."""
    planted = [r for r in runs if not r.is_control]
    placed = [r for r in planted if r.case.get("where") or r.case.get("hosts")]
    near = [[j for j in r.judged if j["symptom"]] for r in placed]
    found = [f for f in (r.right() for r in planted) if f]
    times = [f[1]["after"] for f in found if f[1]["after"] is not None]
    caused = [f[1] for f in found if f[1]["cause"] is not None]
    changes = [c for c in (r.change() for r in planted) if c]
    with_cause = [j["cause_after"] for j in caused if j["cause"] and j["cause_after"] is not None]
    return {"symptom": ratio(sum(any(j["symptom"] for j in r.judged) for r in planted), len(planted)),
            "place": ratio(sum(any(j["place"] for j in js) for js in near), len(placed)),
            "first": ratio(sum(f[0] == 1 for f in found), len(planted)),
            "median_s": statistics.median(times) if times else None, "p90_s": quantile(times, 0.9),
            "since_error_s": max((c[0] for c in changes), default=None),
            "changed_to_found_s": max((c[1] for c in changes if c[1] is not None), default=None),
            "cause": ratio(sum(j["cause"] for j in caused), len(caused)),
            "cause_median_s": statistics.median(with_cause) if with_cause else None,
            "cause_p90_s": quantile(with_cause, 0.9)}


def calibration(runs):
    """By the word for certainty: how many findings are right or real, and how many intervals hold."""
    rows = {}
    for j in (j for r in runs for j in r.judged):
        row = rows.setdefault(j["line"]["sure"], {"findings": 0, "true": 0, "intervals": 0, "held": 0})
        row["findings"] += 1
        row["true"] += j["kind"] != "false"
        row["intervals"] += j["held"] is not None
        row["held"] += bool(j["held"])
    return rows


def confusion(runs):
    """Planted hypothesis, and the first one of the list, with the number of runs."""
    cells = {}
    for r in runs:
        planted = r.case["hypotheses"][0] if r.case["hypotheses"] else "none"
        named = r.judged[0]["line"]["hypothesis"] if r.judged else "none"
        cells[planted, named] = cells.get((planted, named), 0) + 1
    return cells


def hypothesis_key(name):
    """Sorts W2 before W10."""
    return name[:1] if name != "none" else "~", int("0" + "".join(c for c in name if c.isdigit()))


def show(value, is_share=True):
    """A number of a table; `-` when there is none."""
    if value is None:
        return "-"
    return f"{100 * value:.0f} %" if is_share else f"{value:.1f}"


class Table:
    """Rows of words as text or Markdown."""

    def __init__(self, is_markdown):
        self.is_markdown = is_markdown

    def print(self, title, head, rows):
        """Prints rows below a title."""
        print(f"\n## {title}\n" if self.is_markdown else f"\n{title}")
        if self.is_markdown:
            print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
            for row in rows:
                print("| " + " | ".join(str(c).replace("|", "\\|") for c in row) + " |")
            return
        widths = [max(len(str(r[i])) for r in [head] + rows) for i in range(len(head))]
        for row in [head] + rows:
            print("  " + "  ".join(str(c).ljust(w) for c, w in zip(row, widths)).rstrip())


def score_rows(groups):
    """Rows of groups of runs."""
    rows = []
    for name, runs in groups:
        if runs:
            s = scores(runs)
            rows.append([name, s["planted"], s["right"], s["real"], s["false"], show(s["precision"]),
                         show(s["recall"]), "-" if s["f1"] is None else f"{s['f1']:.2f}"])
    return rows


def by(runs, key):
    """Groups of runs with a plant, in order."""
    groups = {}
    for r in runs:
        if not r.is_control:
            groups.setdefault(key(r), []).append(r)
    return sorted(groups.items())


def nearest_size(run):
    """The size of the plant, as one of the sizes of the tables."""
    size = run.case.get("size")
    return min(SIZES, key=lambda s: abs(s - size)) if size else 0


def report(runs, spoiled, table):
    """All tables."""
    head = ["", "planted", "right", "real", "false", "precision", "recall", "F1"]
    table.print("All", head, score_rows([("all", runs)]))
    table.print("By size", head, score_rows(
        [(f"{100 * size:g} %" if size else "not stated", group) for size, group in by(runs, nearest_size)]))
    table.print("By class", head, score_rows(by(runs, lambda r: r.case["class"])))
    table.print("By MPI", head, score_rows(by(runs, lambda r: r.case.get("mpi", "-"))))
    p = of_planted(runs)
    table.print("Of the planted causes", ["figure", "value"], [
        ["symptom found", show(p["symptom"])], ["place named", show(p["place"])],
        ["right one first in the list", show(p["first"])],
        ["seconds to the right one: median", show(p["median_s"], False)],
        ["seconds to the right one: 90 %", show(p["p90_s"], False)],
        ["a plant that begins later: error of its begin, largest, s", show(p["since_error_s"], False)],
        ["seconds from its begin to the finding, largest", show(p["changed_to_found_s"], False)],
        ["cause right, of the right ones", show(p["cause"])],
        ["seconds to its cause: median", show(p["cause_median_s"], False)],
        ["seconds to its cause: 90 %", show(p["cause_p90_s"], False)]])
    table.print("Calibration", ["certainty", "findings", "right or real", "intervals", "hold the measured loss"], [
        [word, row["findings"], show(ratio(row["true"], row["findings"])), row["intervals"],
         show(ratio(row["held"], row["intervals"]))] for word, row in sorted(calibration(runs).items())])
    controls = [r for r in runs if r.is_control and not r.case.get("error")]
    table.print("Healthy runs", ["runs", "with a false finding", "with a real one"], [
        [len(controls), sum(r.false_count() > 0 for r in controls),
         sum(any(j["kind"] == "real" for j in r.judged) for r in controls)]])
    cells = confusion(runs)
    named = sorted({n for _, n in cells}, key=hypothesis_key)
    table.print("Planted, and first in the list", ["planted"] + named, [
        [p] + [cells.get((p, n), 0) or "" for n in named]
        for p in sorted({p for p, _ in cells}, key=hypothesis_key)])
    table.print("Misses", ["case", "planted", "measured", "reason"], [
        [r.name(), " ".join(r.case["hypotheses"]) + " at " + where_words(r),
         show(r.planted_loss()), r.why_missed()] for r in runs if not r.is_control and not r.right()])
    table.print("Left out, because the machine disturbed more than the plant", ["case", "measured"],
                [[r.name(), show(r.planted_loss())] for r in spoiled])
    table.print("False findings", ["case", "finding", "severity", "measured"], [
        row for r in runs for row in false_rows(r)])


def where_words(run):
    """The planted place."""
    where = run.case.get("where") or []
    hosts = run.case.get("hosts") or []
    return " or ".join(["ranks " + ",".join(map(str, w)) for w in where] + hosts) or "no place"


def false_rows(run):
    """A row for each false finding of a run."""
    rows = []
    for j in run.judged:
        if j["kind"] == "false":
            line = j["line"]
            rows.append([run.name(), f"{line['hypothesis']} {line['name']} at "
                         f"{line['ranks'] or line['hosts'] or line['pairs'] or 'no place'}"
                         + (" (twice)" if j.get("duplicate") else ""),
                         f"{line['severity']:.3f}", "-" if j["true"] is None else f"{j['true']:.3f}"])
    return rows + [[run.name(), "malformed: " + text, "-", "-"] for text in run.bad]


def as_json(runs, spoiled):
    """The same numbers for programs."""
    planted = of_planted(runs)
    return {"all": scores(runs), "planted": planted, "calibration": calibration(runs),
            "size": {f"{size:g}": scores(group) for size, group in by(runs, nearest_size)},
            "class": {name: scores(group) for name, group in by(runs, lambda r: r.case["class"])},
            "controls": {"runs": sum(r.is_control and not r.case.get("error") for r in runs),
                         "false": sum(r.is_control and r.false_count() > 0 for r in runs)},
            "confusion": [[p, n, count] for (p, n), count in sorted(confusion(runs).items())],
            "missed": [r.name() for r in runs if not r.is_control and not r.right()],
            "spoiled": [r.name() for r in spoiled],
            "broken": [r.name() for r in runs if not r.truth or not r.summary]}


def main():
    """Reads the words of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("folder", nargs="+")
    options = parser.parse_args()
    try:
        runs = [Run(folder) for folder in options.folder]
    except (OSError, ValueError, KeyError, TypeError) as why:
        print(f"score.py: {why}", file=sys.stderr)
        return 2
    spoiled = [run for run in runs if run.is_spoiled()]
    runs = [run for run in runs if not run.is_spoiled()]
    if options.json:
        print(json.dumps(as_json(runs, spoiled)))
    else:
        report(runs, spoiled, Table(options.markdown))
    return 0


if __name__ == "__main__":
    sys.exit(main())
