# SPDX-License-Identifier: Apache-2.0
# browser.py BROWSER PAGE STEP...: opens a page in a real browser without a window and does what the steps say:
#   size=WxH  dark  page=FILE (another one)  load[=#HASH]  open=URL (of a server)  wait=EXPR (until it is true)  eval=EXPR (printed)  key=KEY  click=X,Y  wheel=X,Y,DY
#   type=TEXT (into the field that has the focus)
#   shot=FILE.png
# Exceptions, refused resources and messages on the console are printed as `trouble: ...`. By the browser's own
# debugging pipe: no driver, no port.
import base64
import json
import os
import select
import subprocess
import sys
import tempfile
import time

PATIENCE = 60  # seconds that one step may take on a slow machine


class Browser:
    def __init__(self, program, folder):
        ours, theirs = os.pipe(), os.pipe()

        def pipes():
            os.dup2(ours[0], 3)
            os.dup2(theirs[1], 4)

        # The pipe's ends may be 3 and 4 themselves: make room first.
        if min(ours + theirs) < 5:
            ours, theirs = [tuple(os.dup(os.dup(os.dup(f))) for f in p) for p in (ours, theirs)]
        self.out, self.get, self.rest, self.last = ours[1], theirs[0], b"", 0
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
             "--user-data-dir=" + folder, "--remote-debugging-pipe"],
            preexec_fn=pipes, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.session, self.page, self.origin = None, None, "file:"

    def message(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.get], [], [], left)[0]:
                raise SystemExit("trouble: the browser says nothing")
            part = os.read(self.get, 1 << 20)
            if not part:
                raise SystemExit("trouble: the browser has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def tell(self, m):
        name, p = m.get("method"), m.get("params", {})
        if name == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            print("trouble:", d.get("exception", {}).get("description", d["text"]))
        elif name == "Log.entryAdded":
            print("trouble:", p["entry"]["text"])
        elif name == "Runtime.consoleAPICalled":
            print("trouble: console:", p["type"], [a.get("value") for a in p["args"]])
        elif name == "Network.requestWillBeSent" and not p["request"]["url"].startswith(
                ("file:", "data:", "blob:", self.origin)):
            print("trouble: asks for", p["request"]["url"])
        elif name == "Page.javascriptDialogOpening":
            print("trouble: dialog", p["message"])

    def do(self, method, **params):
        self.last += 1
        m = {"id": self.last, "method": method, "params": params}
        if self.session:
            m["sessionId"] = self.session
        data = json.dumps(m).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            got = self.message()
            if got.get("id") == self.last:
                if "error" in got:
                    raise SystemExit("trouble: %s: %s" % (method, got["error"]["message"]))
                return got["result"]
            self.tell(got)

    def open(self):
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.do("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in "Page", "Runtime", "Log", "Network":
            self.do(part + ".enable")

    def value(self, expr):
        r = self.do("Runtime.evaluate", expression=expr, returnByValue=True)
        if "exceptionDetails" in r:
            raise SystemExit("trouble: %s: %s" % (expr, r["exceptionDetails"].get("exception", {}).get("description")))
        return r["result"].get("value")

    def wait(self, expr):
        end = time.monotonic() + PATIENCE
        while not self.value(expr):
            if time.monotonic() > end:
                raise SystemExit("trouble: never true: " + expr)
            time.sleep(0.05)


def press(b, key):
    code = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
    b.do("Input.dispatchKeyEvent", type="keyDown", key=key, **code)
    b.do("Input.dispatchKeyEvent", type="keyUp", key=key)


def step(b, word):
    name, _, arg = word.partition("=")
    if name == "size":
        w, h = arg.split("x")
        b.do("Emulation.setDeviceMetricsOverride", width=int(w), height=int(h), deviceScaleFactor=1, mobile=False)
    elif name == "dark":
        b.do("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    elif name == "page":
        b.page = arg
    elif name == "load":
        b.do("Page.navigate", url="file://" + os.path.abspath(b.page) + arg)
        b.wait("document.readyState === 'complete'")
    elif name == "open":
        b.origin = "/".join(arg.split("/", 3)[:3]) + "/"
        b.do("Page.navigate", url=arg)
        b.wait("document.readyState === 'complete'")
    elif name == "type":
        b.do("Input.insertText", text=arg)
    elif name == "wait":
        b.wait(arg)
    elif name == "eval":
        print(json.dumps(b.value(arg), ensure_ascii=False))
    elif name == "key":
        press(b, arg)
    elif name == "click":
        x, y = map(float, arg.split(","))
        for kind in "mousePressed", "mouseReleased":
            b.do("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    elif name == "wheel":
        x, y, dy = map(float, arg.split(","))
        b.do("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=dy)
    elif name == "shot":
        time.sleep(0.1)
        b.value("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
        with open(arg, "wb") as f:
            f.write(base64.b64decode(b.do("Page.captureScreenshot", captureBeyondViewport=True)["data"]))
    else:
        raise SystemExit("trouble: no such step: " + word)


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        b = Browser(sys.argv[1], folder)
        try:
            b.open()
            b.page = sys.argv[2]
            for word in sys.argv[3:]:
                step(b, word)
        finally:
            b.process.kill()
            b.process.wait()


main()
