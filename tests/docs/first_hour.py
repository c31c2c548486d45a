# SPDX-License-Identifier: Apache-2.0
"""Compares the outputs in a document with what its commands print now.

first_hour.py list DOCUMENT            QUESTION<TAB>COMMAND of each output, numbered from 1
first_hour.py compare DOCUMENT N REAL PROGRAM

Numbers, times, tokens, hosts and calls are masked. The columns of a table must be the same, and
each cell of the same kind. A sentence must be printed now, or its words must be in PROGRAM: some are
about states that this machine is not in, as `5 tasks want 2 processors`.
"""
import re
import sys

STACKS = [  # a tree, and its first line in words
    re.compile(r"^[\s│├└]*\d+ (\[[\d, -]+\] )?\w+( \S+:\d+)?( ─ .+)?$"),
    re.compile(r"^(all \d+|\d+ of \d+) ranks (are|wait) in \w+( \(\S+\))?"
               r"(; (\d+ of \d+ ranks|rank \d+) (is|are|waits?) in \w+( \(\S+\))?)*$"),
]
MASKS = [
    (r"\d{4}-\d\d-\d\d(T[\d:.]+Z)?", "#"),
    (r"\bn_\d+\b|\bp_\w+\b|\bc_\d+\b", "#"),
    (r"\bomig1:\S+", "#"),  # a connection string
    (r"\bMPI_\w+", "#"),
    (r"\S+\.c:\d+", "#"),
    (r"[-+]?\d[\d.,:]*(e[-+]?\d+)?( ?(k|M|G|T)?(B|s|%|K))?(ms|us|ns|s|m|h|d|k|K|M|G|T|B|MB|KB|GB)?\b%?", "#"),
    (r"# (ms|us|ns|s|B|kB|MB|GB|%)(?![\w])", "#"),
    (r"\bnode#|\bvm\b|\blocalhost\b|(?<=ranks are in )\w+", "#"),
]
CUT = 98  # a line that long may be cut, as the document says


def blocks(path):
    """(question, command, lines) of each output; the command is the last shell line before it."""
    question = command = None
    inside, lines, out = False, [], []
    for line in open(path, encoding="utf-8").read().split("\n"):
        if line.startswith("```"):
            if inside:
                out.append((question, command, lines))
            inside, lines = not inside, []
        elif inside:
            lines.append(line)
        elif line.startswith("#"):
            question, command = line.lstrip("# "), None
        elif line.startswith("    "):
            command = line.strip()
    return out


def masked(line):
    for pattern, by in MASKS:
        line = re.sub(pattern, by, line)
    return " ".join(line.split())


def cells(line):
    return re.split(r"\s{2,}", line.strip())


def is_head(line):
    names = cells(line)
    return len(names) > 2 and all(re.fullmatch(r"[A-Z%+/()* -]*[A-Z%]+[A-Z%/()s-]*|to \d+|\d+", n)
                                  for n in names) and re.match(r"[A-Z]{2}", names[0])


def kind(cell):
    if cell in ("-", "."):
        return "none"
    return "number" if masked(cell).strip("#/ ") == "" else "word"


def table_at(lines, i):
    """Rows behind the head at i."""
    rows = []
    for line in lines[i + 1:]:
        if not line.strip() or is_head(line):
            break
        if len(cells(line)) < 3:
            break
        rows.append(cells(line))
    return rows


def check_table(head, rows, real):
    """Words about what differs, or None."""
    wanted = cells(head)
    is_cut = len(head) > CUT - 8
    if is_cut:
        wanted = wanted[:-1]  # half of its name may be there
    is_matrix = wanted[1].startswith("to ")
    for i, line in enumerate(real):
        if not is_head(line):
            continue
        names = cells(line)
        if is_matrix and names[1].startswith("to "):
            return None
        if names != wanted and not (is_cut and names[:len(wanted)] == wanted):
            continue
        found = table_at(real, i)
        if not found:
            return "no rows below " + line
        for row in rows:
            for k, cell in enumerate(row[:len(wanted)]):
                kinds = {kind(r[k]) for r in found if k < len(r)} | {"none"}
                if kind(cell) != "none" and kind(cell) not in kinds and kinds != {"none"}:
                    return "column %s has no %s like %r" % (wanted[k], kind(cell), cell)
        return None
    return "no such columns: " + head


def words_of(program):
    data = open(program, "rb").read()
    text = b"\n".join(re.findall(rb"[\x20-\x7e\xc2-\xf4\x80-\xbf]{3,}", data)).decode("utf-8", "replace")
    return " ".join(re.sub(r"%[-+.*0-9lzjh]*[a-zA-Z%]", "#", text).split())


def check_sentence(line, real, words):
    want = masked(line)
    if len(line) > CUT:
        want = masked(line.rsplit(" ", 1)[0])
        if any(masked(r).startswith(want) for r in real):
            return None
    if any(masked(r) == want for r in real):
        return None
    for stack in STACKS:
        if stack.match(line):
            return None if any(stack.match(r) for r in real) else "no such tree"
    for part in re.split(r"[#!:;,()]+", want):
        part = part.strip()
        if " " in part and part not in words:
            return "is not printed, and %r is not in the program" % part
    return None


def compare(document, n, real_path, program):
    question, command, lines = blocks(document)[n - 1]
    real = open(real_path, encoding="utf-8").read().split("\n")
    words, bad, i, printed = words_of(program), [], 0, 0
    while i < len(lines):
        line = lines[i]
        if is_head(line):
            rows = table_at(lines, i)
            why = check_table(line, rows, real)
            i += len(rows)
            printed += not why
        elif line.count(",") > 5 and " " not in line:
            why = None if lines[0] in real else "no such head of CSV"
            if i:
                first = next((r for r in real if r and r != lines[0]), "")
                same = line.split(",")[:-1]
                kinds = [kind(a) == kind(b) or not a for a, b in zip(same, first.split(","))]
                why = None if all(kinds[:-1]) else "a row of CSV has other kinds: " + first
            printed += not why
        elif line.strip():
            why = check_sentence(line, real, words)
            printed += any(masked(r) == masked(line) for r in real) or \
                any(s.match(line) and not why for s in STACKS)
        else:
            why = None
        if why:
            bad.append("%s\n    %s" % (line, why))
        i += 1
    if not printed:
        bad.append("no line of it is printed now")
    for b in bad:
        print(b)
    if bad:
        print("printed now:", *real[:30], sep="\n    ")
    return 1 if bad else 0


if sys.argv[1] == "list":
    for q, c, _ in blocks(sys.argv[2]):
        print("%s\t%s" % (q, c))
else:
    sys.exit(compare(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]))
