# SPDX-License-Identifier: Apache-2.0
# web.py URL: opens the page of omig web by a link, as a browser does, and sends what a browser would not.
# Each check is a line: its name, a tab, and "ok" or what was wrong.
import http.client
import json
import os
import socket
import sys
import time
import urllib.parse

PATIENCE = 15 * int(os.environ.get("PATIENCE", "4"))
where = urllib.parse.urlsplit(sys.argv[1])
host, port, token = where.hostname, where.port, where.fragment[2:]
JSON = {"Content-Type": "application/json"}


def check(name, truth, said=""):
    print("%s\t%s" % (name, "ok" if truth else "not so: %s" % said), flush=True)


def ask(method, path, body=None, headers=None):
    c = http.client.HTTPConnection(host, port, timeout=PATIENCE)
    c.request(method, path, body, headers or {})
    r = c.getresponse()
    return r


def status(*a, **k):
    r = ask(*a, **k)
    r.read()
    return r.status


def raw(data):
    """The first line of the answer to these bytes."""
    s = socket.create_connection((host, port), timeout=PATIENCE)
    s.sendall(data)
    said = b""
    try:
        while True:
            part = s.recv(65536)
            if not part:
                break
            said += part
    except ConnectionResetError:
        pass
    s.close()
    return said.split(b"\r\n", 1)[0].decode("latin-1")


class Stream:
    def __init__(self, answer):
        self.answer = answer

    def line(self, kind, until=lambda m: True):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            text = self.answer.readline()
            if not text:
                raise SystemExit("the stream has ended")
            m = json.loads(text)
            if m["t"] == kind and until(m):
                return m
        raise SystemExit("no line %s in time" % kind)


def post(path, key, **what):
    r = ask("POST", path, json.dumps(what), {**JSON, "Authorization": "Bearer " + key})
    return r.status, json.loads(r.read() or b"{}")


# --- without a key
page = ask("GET", "/")
text = page.read().decode()
policy = page.headers["Content-Security-Policy"]
check("the page needs no key", page.status == 200 and "<main" in text)
check("its policy permits own scripts only", "script-src 'self';" in policy and "unsafe" not in policy
      and "require-trusted-types-for 'script'" in policy, policy)
parts = [p.split('"')[0] for p in text.split('"a/')[1:]]
size = len(text)
for p in parts:
    r = ask("GET", "/a/" + p)
    size += len(r.read())
    check("a part of the page: " + p.split(".")[-1], r.status == 200 and "immutable" in r.headers["Cache-Control"])
check("the page has two parts, and all is below 80 KB", len(parts) == 2 and size < 80000, size)
for path in "/stream", "/metrics":
    check("without a key %s is refused" % path, status("GET", path) == 401)
for path in "/look", "/check", "/chart", "/drop":
    check("without a key %s is refused" % path, status("POST", path, "{}", JSON) == 401)
check("a wrong key is refused", status("GET", "/stream", None, {"Authorization": "Bearer " + "0" * 64}) == 401)
check("a wrong token is refused", status("POST", "/in", json.dumps({"token": "0" * 64}), JSON) == 401)
for path in "/etc/passwd", "/../../etc/passwd", "/%2e%2e/", "/a/", "/a/../page.css", "/index.html":
    check("no file is at " + path, status("GET", path) == 404)

# --- of a foreign page
body = json.dumps({"token": token})
check("a foreign Host is refused", status("GET", "/", None, {"Host": "evil.example"}) == 403)
check("a foreign Origin is refused", status("POST", "/in", body, {**JSON, "Origin": "http://evil.example"}) == 403)
check("another port of this machine is foreign",
      status("POST", "/in", body, {**JSON, "Origin": "http://%s:%d" % (host, port + 1)}) == 403)
check("a request from another site is refused", status("POST", "/in", body, {**JSON, "Sec-Fetch-Site": "cross-site"}) == 403)
check("a form of another page is refused",
      status("POST", "/in", body, {"Content-Type": "application/x-www-form-urlencoded"}) == 415)

# --- bad input
for what, want in [("{", 400), ("[]", 400), ("", 400), ('{"token":{}}', 400), ('{"token":"a","token":"b"}', 400),
                   ('{"token":"\\u0000"}', 400), ("{" + ",".join('"%d":1' % i for i in range(17)) + "}", 400),
                   ("\xff\xfe", 400), ("x" * 70000, 413)]:
    check("a body of %.20r has status %d" % (what, want), status("POST", "/in", what.encode("latin-1"), JSON) == want)
check("a long head is refused", raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 9000).split()[1] == "431")
check("another method is refused", raw(b"DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n").split()[1] == "405")
check("a body of unknown length is refused",
      raw(b"POST /in HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n").split()[1] == "413")

# --- with the link
first = Stream(ask("POST", "/in", body, JSON))
hello = first.line("hello")
key = hello["key"]
check("the link opens the page", len(key) == 64 and key != token)
check("the link is used up", status("POST", "/in", body, JSON) == 401)
now = first.line("now", lambda m: "compute" in m["answer"] and "%" in m["answer"])
check("the first sentence says what the ranks do", now["answer"].startswith("3 ranks on 1 host compute "), now["answer"])
check("the efficiencies are of all ranks", now["efficiency"]["known"] == 3 == now["efficiency"]["of"]
      and 0 <= now["efficiency"]["parallel"] <= 1, now["efficiency"])
rows = first.line("table", lambda m: len(m["rows"]) == 3)
check("the table has the ranks", [r[1] for r in rows["rows"]] == [0, 1, 2], rows)

second = Stream(ask("GET", "/stream", None, {"Authorization": "Bearer " + key}))
mine = second.line("hello")["viewer"]
strip = second.line("rows", lambda m: len(m["rows"]) == 3)
columns = second.line("columns")
check("a second tab gets the history", all(len(c[1]) == 6 for c in columns["columns"]) and columns["columns"], columns)
check("the tree has the host", second.line("tree")["sites"][0]["nodes"][0]["processes"] == 3)
check("what another viewer looks at cannot be changed", post("/look", key, viewer=mine + 99)[0] == 409)
post("/look", key, viewer=mine, filter="rank<2", sort="rank", reverse=True, count=1)
found = second.line("table", lambda m: m["found"] == 2)
check("the filter, order and window of the table", [r[1] for r in found["rows"]] == [1], found)
post("/look", key, viewer=mine, rows=2)
check("the strip has as many lines as are shown", len(second.line("rows", lambda m: len(m["rows"]) < 3)["rows"]) == 2)
post("/look", key, viewer=mine, chosen=rows["rows"][2][0])
check("a chosen rank has its values", second.line("rank", lambda m: m["known"])["row"][1] == 2)
third = [Stream(ask("GET", "/stream", None, {"Authorization": "Bearer " + key})) for _ in range(2)]
check("a fifth tab is refused, and the reason is in words",
      "tabs" in json.loads(ask("GET", "/stream", None, {"Authorization": "Bearer " + key}).read())["error"])

# --- charts
metrics = json.loads(ask("GET", "/metrics", None, {"Authorization": "Bearer " + key}).read())
check("metrics to choose from", ["Send_volume", "B", True, "process"] == [m for m in metrics if m[0] == "Send_volume"][0][:4])
s, made = post("/chart", key, viewer=mine, metric="Send_volume", by="process", rate=True)
chart = second.line("chart", lambda m: m["reads"] and len(m["names"]) == 3)
check("a chart of a metric has a curve for each rank", chart["unit"] == "B/s" and len(chart["reads"][0]) == 5, chart)
check("its words name the highest", "is highest with" in chart["words"], chart["words"])
s, wrong = post("/chart", key, viewer=mine, metric="No_such_metric", by="process")
check("an unknown metric is refused in words", s == 409 and "No_such_metric" in wrong["error"], wrong)
check("a wrong group is refused", post("/chart", key, viewer=mine, metric="Send_volume", by="x")[0] == 409)
s, said = post("/check", key, viewer=mine, text="M(Process[] p, TimeInterval t) {\n\tRETURN Wait_dely(p, t);\n}\n")
d = said["diagnoses"]
check("a wrong text has its place and a hint", d and d[0]["line"] == 2 and d[0]["kind"] == "error"
      and "Wait_delay" in d[0]["hint"] + d[0]["text"], said)
text = 'M(Process[] p, TimeInterval t) {\n\tRETURN Send_volume(p, t);\n}\n'
s, said = post("/check", key, viewer=mine, text=text)
check("a right text has its metric", said.get("metrics") == ["M"] and not said["diagnoses"], said)
s, typed = post("/chart", key, viewer=mine, metric="M", text=text, by="")
check("and is measured", s == 200 and second.line("chart", lambda m: m["id"] == typed["id"] and m["reads"])["metric"] == "M", typed)
check("two viewers share a chart", post("/chart", key, viewer=hello["viewer"], metric="Send_volume", by="process",
                                        rate=True)[1]["id"] == made["id"])
check("a chart is closed", post("/drop", key, viewer=mine, id=made["id"])[0] == 200)

check("a chart that a page has already is the same one", post("/chart", key, viewer=mine, metric="M", text=text, by="")[1]
      == post("/chart", key, viewer=mine, metric="M", text=text, by="")[1] == typed)
opened = [post("/chart", key, viewer=mine, metric="Send_volume", by=by, rate=rate)[0]
          for by, rate in [("node", True), ("site", True), ("", True), ("node", False), ("site", False), ("", False)]]
check("and takes one place of six", opened == [200] * 5 + [409], opened)

# --- a crowd, and a viewer who reads nothing: the others do not notice
slow = socket.create_connection((host, port), timeout=PATIENCE)
slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
crowd = []
for _ in range(1000):
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex((host, port))
    crowd.append(s)


def is_there():
    """A silent connection may be ended for a newer one before its request arrives: a browser tries again."""
    for _ in range(20):
        try:
            return status("GET", "/") == 200
        except (http.client.HTTPException, OSError):
            time.sleep(0.05)
    return False


check("beside 1,000 connections the page is there", is_there())
before = first.line("now")["sample"]
check("and samples go on", first.line("now", lambda m: m["sample"] > before)["sample"] > before)
for s in crowd:
    s.close()
