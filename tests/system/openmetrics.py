# SPDX-License-Identifier: Apache-2.0
"""A strict reader of the OpenMetrics text format, version 1.0.0; also fetches it, and attacks who serves it.

openmetrics.py check FILE              exit 1 with a line for each mistake
openmetrics.py value FILE NAME [k=v]   the sum of the samples with these labels
openmetrics.py monotone OLD NEW        no counter of OLD fell or vanished
openmetrics.py get URL [HEADER...]     body to stdout, status and type to stderr
openmetrics.py attack HOST PORT        a line for each attack: name, status
"""
import re
import socket
import sys
import time
import urllib.error
import urllib.request

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)?\}})? (\S+)(?: (\S+))?")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?|nan", re.I)
SUFFIXES = {"gauge": [""], "counter": ["_total", "_created"], "info": ["_info"]}


class Family:
    def __init__(self, name):
        self.name, self.kind, self.unit, self.help = name, None, None, None
        self.samples = {}


def labels_of(text):
    found = re.findall(LABEL, text or "")
    pairs = [label.split("=", 1) for label in found]
    return [(k, v[1:-1]) for k, v in pairs]


def read(text):
    """Families by name, and a list of what is wrong."""
    wrong, families, family = [], {}, None
    if not text.endswith("# EOF\n"):
        wrong.append("the text does not end with # EOF")
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1], 1):
        def bad(what):
            wrong.append(f"{number}: {what}: {line}")
        if line == "# EOF":
            if number != len(lines) - 1:
                bad("something follows # EOF")
            continue
        meta = re.fullmatch(rf"# (TYPE|UNIT|HELP) ({NAME}) (.*)", line)
        if meta:
            what, name, value = meta.groups()
            if family is None or family.name != name:
                if name in families:
                    bad("a family that comes twice")
                family = families[name] = Family(name)
            if family.samples:
                bad("metadata behind samples")
            field = {"TYPE": "kind", "UNIT": "unit", "HELP": "help"}[what]
            if getattr(family, field) is not None:
                bad("said twice")
            setattr(family, field, value)
            if what == "TYPE" and value not in SUFFIXES:
                bad("a type that is not used here")
            if what == "UNIT" and not name.endswith("_" + value):
                bad("a unit that is not in the name")
            if what == "HELP" and re.search(r'(?<!\\)(?:\\\\)*\\[^n"\\]', value):
                bad("an escape that does not exist")
            continue
        sample = SAMPLE.fullmatch(line)
        if not sample:
            bad("neither metadata nor a sample")
            continue
        name, labels, value, when = sample.groups()
        if family is None or not family.kind or name not in [family.name + s for s in SUFFIXES[family.kind]]:
            bad("a sample outside its family")
            continue
        pairs = labels_of(labels)
        if len({k for k, _ in pairs}) != len(pairs):
            bad("a label twice")
        if any(k.startswith("__") for k, _ in pairs):
            bad("a reserved label")
        key = (name, tuple(sorted(pairs)))
        if key in family.samples:
            bad("a sample twice")
        if not NUMBER.fullmatch(value):
            bad("no number")
            continue
        family.samples[key] = float(value)
        if when:
            bad("a time, which is not used here")
        if family.kind == "counter" and (float(value) < 0 or value.lower() == "nan"):
            bad("a counter that is below 0")
        if family.kind == "info" and float(value) != 1:
            bad("an info that is not 1")
    for f in families.values():
        if not f.kind or not f.help:
            wrong.append(f"{f.name}: no type or no help")
        for other in families.values():
            if other is not f and f.kind in SUFFIXES and other.name in [f.name + s for s in SUFFIXES[f.kind] if s]:
                wrong.append(f"{f.name} and {other.name} share a name")
    return families, wrong


def load(path):
    with open(path, encoding="utf-8", errors="strict") as f:
        return read(f.read())


def check(path):
    families, wrong = load(path)
    print("\n".join(wrong) or f"{len(families)} families")
    return 1 if wrong or not families else 0


def value(path, name, *wish):
    families, _ = load(path)
    pairs = [tuple(w.split("=", 1)) for w in wish]
    found = [v for f in families.values() for (n, labels), v in f.samples.items()
             if n == name and all(p in labels for p in pairs)]
    print(repr(sum(found)) if found else "none")
    return 0 if found else 1


def monotone(old, new):
    before, after = load(old)[0], load(new)[0]
    fell = [f"{key}: {v} -> {after[f.name].samples.get(key) if f.name in after else None}"
            for f in before.values() if f.kind == "counter" for key, v in f.samples.items()
            if not key[0].endswith("_created") and "daemon" not in f.name
            and (f.name not in after or after[f.name].samples.get(key, -1) < v)]
    print("\n".join(fell) or "no counter fell")
    return 1 if fell else 0


def get(url, *headers):
    request = urllib.request.Request(url, headers=dict(h.split(": ", 1) for h in headers))
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            print(answer.status, answer.headers["Content-Type"], file=sys.stderr)
            sys.stdout.buffer.write(answer.read())
    except urllib.error.HTTPError as e:
        print(e.code, file=sys.stderr)
        return 1
    return 0


def attack(host, port):
    def ask(name, *parts, pause=0.0):
        with socket.create_connection((host, int(port)), timeout=20) as s:
            try:
                for part in parts:
                    s.sendall(part)
                    time.sleep(pause)
            except OSError:
                pass
            said = b""
            try:
                while chunk := s.recv(65536):
                    said += chunk
            except OSError:
                pass
        print(name, said.split(b" ", 2)[1].decode() if said.startswith(b"HTTP/1.1 ") else "cut", flush=True)

    ours = b" HTTP/1.1\r\nHost: localhost\r\n"
    ask("dots", b"GET /../../etc/passwd" + ours + b"\r\n")
    ask("coded-dots", b"GET /%2e%2e/%2e%2e/etc/passwd" + ours + b"\r\n")
    ask("foreign-host", b"GET /metrics HTTP/1.1\r\nHost: evil\r\n\r\n")
    ask("foreign-origin", b"GET /metrics" + ours + b"Origin: http://evil\r\n\r\n")
    ask("post", b"POST /metrics" + ours + b"Content-Length: 0\r\n\r\n")
    ask("large-head", b"GET /metrics" + ours + b"X: " + b"x" * (1 << 20) + b"\r\n\r\n")
    ask("large-body", b"GET /metrics" + ours + b"Content-Length: 10000000000\r\n\r\n", b"x" * (1 << 20))
    ask("chunked", b"GET /metrics" + ours + b"Transfer-Encoding: chunked\r\n\r\n")
    ask("two-hosts", b"GET /metrics" + ours + b"Host: evil\r\n\r\n")
    ask("noise", bytes(range(256)) * 64)
    ask("tls", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
    ask("slow-head", b"GET /metrics HTTP/1.1\r\n", *[b"X" for _ in range(60)], pause=0.2)
    return 0


if __name__ == "__main__":
    command = {"check": check, "value": value, "monotone": monotone, "get": get, "attack": attack}
    if len(sys.argv) < 3 or sys.argv[1] not in command:
        sys.exit(__doc__)
    sys.exit(command[sys.argv[1]](*sys.argv[2:]))
