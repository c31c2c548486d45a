# SPDX-License-Identifier: Apache-2.0
# web_rare.py URL URL-2 LM OMIG: omig web with a sample a minute, omig web with the process LM silent, and
# omig web in the background of a terminal.
# Each check is a line: its name, a tab, and "ok" or what was wrong.
import fcntl
import http.client
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import urllib.parse

PATIENCE = 15 * int(os.environ.get("PATIENCE", "4"))
JSON = {"Content-Type": "application/json"}


def check(name, truth, said=""):
    print("%s\t%s" % (name, "ok" if truth else "not so: %s" % said), flush=True)


def ask(url, method, path, body=None, headers=None):
    where = urllib.parse.urlsplit(url)
    c = http.client.HTTPConnection(where.hostname, where.port, timeout=PATIENCE)
    c.request(method, path, body, headers or {})
    return c.getresponse()


def next_line(stream, kind, until=lambda m: True):
    while True:
        m = json.loads(stream.readline() or '{"t":"end"}')
        if m["t"] == "end":
            raise SystemExit("the stream has ended before a line %s" % kind)
        if m["t"] == kind and until(m):
            return m


def rare_samples(url):
    page = ask(url, "GET", "/")
    check("the address of the link is served", page.status == 200, page.status)
    stream = ask(url, "POST", "/in", json.dumps({"token": url.rsplit("=", 1)[1]}), JSON)
    hello = json.loads(stream.readline())
    now = next_line(stream, "now")
    while not now["sample"]:
        check("without a sample its time is unknown", now["ms"] is None, now)
        now = next_line(stream, "now")
    next_line(stream, "table", lambda m: m["found"] == 3)
    key = {**JSON, "Authorization": "Bearer " + hello["key"]}
    done = ask(url, "POST", "/look", json.dumps({"viewer": hello["viewer"], "filter": "rank<1"}), key).status
    again = next_line(stream, "now")
    check("a filter is answered before the next sample", done == 200
          and next_line(stream, "table")["found"] == 1 and again["sample"] == now["sample"], again)
    hosts = next_line(stream, "tree")["sites"][0]["nodes"]
    check("the tree counts the processes", [h["processes"] for h in hosts] == [3], hosts)
    quiet = next_line(stream, "now")
    check("between two samples a page hears that the server is there", quiet["sample"] == now["sample"], quiet)


def silent_host(url, lm):
    stream = ask(url, "POST", "/in", json.dumps({"token": url.rsplit("=", 1)[1]}), JSON)
    next_line(stream, "now", lambda m: m["answer"].startswith("3 ranks"))
    os.kill(lm, signal.SIGSTOP)
    now = next_line(stream, "now", lambda m: not m["answer"].startswith("3 ranks"))
    os.kill(lm, signal.SIGCONT)
    said = [now["answer"]] + [w["text"] for w in now["words"]]
    check("of a silent host nothing is known, not none", all("not known" in s for s in said), said)


def link_of(terminal):
    said = ""
    while True:
        said += os.read(terminal, 4096).decode()
        m = re.search(r"http://\S+#t=[0-9a-f]{64}", said)
        if m:
            return m.group(0)


def background(omig):
    """This process leads the session, like a shell; omig web is in the background of its terminal."""
    os.setsid()
    leader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    web = subprocess.Popen([omig, "web", "--port", "0"], stdin=terminal, stdout=terminal,
                           preexec_fn=lambda: os.setpgid(0, 0))
    url = link_of(leader)
    os.write(leader, b"a line for the shell\n")
    answered = []
    try:
        for _ in range(3):
            answered.append(ask(url, "GET", "/").status)
    except OSError as e:
        answered.append(str(e))
    check("in the background a line for the shell does not stop it", answered == [200] * 3, answered)
    web.send_signal(signal.SIGCONT)
    web.terminate()
    web.wait()


rare_samples(sys.argv[1])
silent_host(sys.argv[2], int(sys.argv[3]))
if os.fork() == 0:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    background(sys.argv[4])
    os._exit(0)
raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))
