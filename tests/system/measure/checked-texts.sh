#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# dfg_check: each text of the corpus has the diagnostics of omig check, place by place.
. tests/system/lib.sh
need python3
own_host
export PYTHONPATH="$PWD/tools/python" PYTHONDONTWRITEBYTECODE=1 OMIG_LIBOMIS="$B/lib/libomis.so"

cat >"$TMPDIR/compare.py" <<'END'
import glob, json, subprocess, sys
import omig

def printed(path):
    """kind, line, column, words and hint of each diagnostic of omig check"""
    out = subprocess.run(["omig", "check", "--json", path], capture_output=True, text=True).stdout
    return [(d["kind"], d.get("line", 0), d.get("column", 0), d["text"], d.get("hint", ""))
            for file in json.loads(out) for d in file["diagnostics"]]

def texts():
    for path in sorted(glob.glob("tests/fuzz/corpus/pmsl/*") + glob.glob("examples/metrics/*")):
        try:
            text = open(path, encoding="utf-8", newline="").read()
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            yield path, text

compared = found = 0
with omig.connect() as m:
    for path, text in texts():
        reply = m.request(b":dfg_check(" + omig.format_value(text) + b")")
        diags, metrics = reply.check().action(1)[0].values
        have = [(d[0], d[3], d[4], d[5], d[6]) for d in diags]
        want = printed(path)
        if have != want:
            sys.exit(f"{path}:\n{have}\n{want}")
        compared += 1
        found += len(have)
print(compared, "texts,", found, "diagnostics")
END
compare() { python3 "$TMPDIR/compare.py" >"$TMPDIR/compared"; }
check 'all texts have the same diagnostics' compare
sed 's/^/# /' "$TMPDIR/compared"
check 'many were compared' awk '{ exit !($1 >= 20 && $3 >= 20) }' "$TMPDIR/compared"
metric='Sent(Process p, TimeInterval t) : Unit(\"B\") { RETURN p.Send_volume(t); }'
check 'a metric has its unit and its parameters' \
	says '\[\["Sent","B",\[\["p","Process"\],\["t","TimeInterval"\]\]\]\]' \
	omig request ":dfg_check(\"$metric\")"
echo "$metric" | tr -d '\\' >"$TMPDIR/sent.pmsl"
check 'a metric is added' says '^sent is version 1$' omig metrics add "$TMPDIR/sent.pmsl"
check 'and known to later texts' says '"Twice"' omig request \
	':dfg_check("Twice(Process p, TimeInterval t) { RETURN 2 * Sent(p, t); }")'
tap_end
