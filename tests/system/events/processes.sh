#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Processes and pipes of programs that were not rebuilt. Each process has its begin, program, end
# and wait in the log, and each byte of a pipe both ends. The network of a shell that waits for its
# command is that of Figure 3 of TR COSC 01/91: a fork, a B-arc of the shell, and a join. The path
# goes through the command.
. tests/system/lib.sh
need python3 mkfifo pgrep tr sort
cd "$TMPDIR" || exit 1
mkfifo hold

record() { # COMMAND...
	omig run --interactions=run.olog -- "$@" >job.out 2>job.err
}
analyze() { # OPTION...
	omig interaction analyze --json "$@" run.olog >net.json 2>net.err
	got=$?
	head -c 2000 net.json net.err
	return $got
}
net() { # EXPRESSION over n, the network, and objects on the path
	python3 -c "
import json
n = json.load(open('net.json'))
used = set(o for k in n['exclusive'] for o in k.split('+') if n['exclusive'][k])
c = n['counts']
print(c, n['exclusive'], n['b_arcs'], n['anomalies'])
assert $1"
}

# --- a shell, two commands and a pipe
check 'the status is that of the command' status_is 3 record sh -c \
	'printf "b\na\n" | sort | tr a-z A-Z; exit 3'
check 'and so is its output' test "$(cat job.out)" = 'A
B'
balanced() {
	omig log cat run.olog >text 2>&1
	cat text
	python3 - <<'P'
import re
of = {}
wrote, read = {}, {}
for line in open("text"):
    f = dict(w.split("=", 1) for w in line.split() if "=" in w)
    kind = f.get("event", "").replace("interaction.", "")
    of.setdefault(kind, []).append(f)
    if kind in ("write", "read"):
        to = wrote if kind == "write" else read
        to[f["stream"]] = max(to.get(f["stream"], 0), int(f["end"]))
        assert f["uncertain"] == "0" and f["unsent"] == "0", line
born = [f["child"] for f in of["spawn"]]
assert len(born) == 3 == len(set(born)), born
assert sorted(born) == sorted(f["child"] for f in of["reap"])
assert sorted(f["PROG"] for f in of["exec"] if f["pid"] in born) == ["sort", "tr"]
for child in born:
    assert [f for f in of["exit"] if f["pid"] == child], child
assert wrote == read and sorted(wrote.values()) == [4, 4], (wrote, read)
P
}
check 'each process has its begin and end, each byte both ends' balanced
check 'the log can be analysed' analyze
check 'it is one whole network without anomalies' net 'not n["anomalies"] and c["source"] == 1'
check 'three forks by the shell, messages in two pipes, all joined' \
	net 'c["join"] == c["fork"] - 1 and c["fork"] >= 6'

# --- Figure 3: the command ends while the shell waits
omig run --interactions=run.olog -- sh -c 'cat hold; true' >job.out 2>job.err &
job=$!
waits() {
	for p in $(pgrep -P $job -x sh); do
		grep -q '^State:.S' "/proc/$p/status" && pgrep -P "$p" -x cat >/dev/null && return 0
	done
	return 1
}
check 'the shell waits for its command' until_true 30 waits
echo line >hold
check 'the command ends' wait $job
check 'the network is whole' analyze
check 'the shell blocks until the join' net \
	'[a for a in n["b_arcs"] if a[0].startswith("sh.") and a[1].startswith("sh.")]'
check 'the path goes through the command' net '"cat" in used and "sh" in used'
check 'one fork by thread, one join, and the job itself' net \
	'(c["fork"], c["join"], c["subtasks"]) == (2, 1, 3)'
check 'bytes from outside are reported' grep -q '1 reads got bytes from outside' net.err

# --- a server, its child, and a client that sends in parts
cat >server.py <<'END'
import os, socket, subprocess
l = socket.socket()
l.bind(("127.0.0.1", 0))
l.listen()
if os.fork() == 0:
    c = socket.create_connection(l.getsockname())
    for i in range(50):
        c.send(b"ab")
        c.sendmsg([b"c"])
    c.shutdown(socket.SHUT_WR)
    got = b""
    while True:
        more = c.recv(7)
        if not more: break
        got += more
    print(len(got), got[:3], flush=True)
    os._exit(0)
s, _ = l.accept()
n = 0
while n < 150:
    n += len(s.recv(64))
s.sendall(subprocess.run(["tr", "a-z", "A-Z"], input=b"abc" * 50, stdout=-1).stdout)
s.close()
os.wait()
END
check 'a client and a server talk by TCP' record python3 server.py
check 'as without Omig' grep -qx "150 b'ABC'" job.out
connected() {
	omig log cat run.olog >text 2>&1
	python3 - <<'P'
last = {}
for line in open("text"):
    f = dict(w.split("=", 1) for w in line.split() if "=" in w)
    kind = f.get("event", "").replace("interaction.", "")
    if kind in ("write", "read"):
        assert f["uncertain"] == "0" and f["unsent"] == "0", line
        of = last.setdefault(f["stream"], {})
        of[kind] = max(of.get(kind, 0), int(f["end"]))
ends = sorted((of.get("write", 0), of.get("read", 0)) for of in last.values())
print(ends)
assert [e for e in ends if e == (150, 150)] == 4 * [(150, 150)], ends
assert all(w == r for w, r in ends), ends
P
}
check 'each byte of two connections and two pipes has both ends' connected
check 'they are one whole network' analyze
check 'with all messages joined' sh -c '! grep -q "not in the log" net.err'

# --- what is not seen is said
cat >killed.py <<'END'
import os, signal, subprocess
p = subprocess.Popen(["sleep", "100"])
p.send_signal(signal.SIGKILL)
p.wait()
END
check 'a program kills its child' record python3 killed.py
check 'that network is whole' analyze
check 'a process without an end is reported' grep -q 'ended without a record' net.err

# --- many processes and threads at once, and signal handlers that write
cat >many.py <<'END'
import os, signal, subprocess, threading
r, w = os.pipe()
signal.signal(signal.SIGALRM, lambda *a: os.write(w, b"a"))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
def run(n):
    for i in range(10):
        if n % 2:
            subprocess.run(["true"])
        elif os.fork() == 0:
            os.write(w, b"c")
            os._exit(0)
        else:
            os.wait()
ts = [threading.Thread(target=run, args=(n,)) for n in range(4)]
for t in ts: t.start()
for t in ts: t.join()
signal.setitimer(signal.ITIMER_REAL, 0)
os.close(w)
got = b""
while True:
    more = os.read(r, 100000)
    if not more: break
    got += more
print(got.count(b"c"))
END
check 'forks in threads, with a signal each ms' record python3 many.py
check 'all of them have written' grep -qx 20 job.out
check 'their network is whole' analyze
check 'nothing is lost' sh -c '! grep -q lost job.err'

# --- a program that writes over the board, one that cuts it, and a limit of file sizes
cat >vandal.py <<'END'
import mmap, os, struct, subprocess, sys
path = os.environ["OMIG_IO"].split("interactions=")[1]
with open(path, "r+b") as f:
    m = mmap.mmap(f.fileno(), 0)
m[128:136] = struct.pack("<Q", 1 << 60)
subprocess.run(["true"])
os._exit(4)
END
check 'a program writes over the places on the board' status_is 4 record python3 vandal.py
check 'what was there is lost' grep -q 'events of processes are lost' job.err
cat >cut.py <<'END'
import os
os.truncate(os.environ["OMIG_IO"].split("interactions=")[1], 0)
os._exit(7)
END
check 'a program cuts the board: its status stays' \
	status_is 7 record env -u LD_PRELOAD python3 cut.py
check 'the loss is said' grep -q 'events of processes' job.err
limited() {
	(ulimit -f 16 && record sh -c 'echo out; exit 5')
}
check 'a limit of file sizes leaves a program alone' status_is 5 limited
check 'and its output' grep -qx out job.out

# --- a program that starts another one behind a filter, which ends it at a call that it never makes
cat >filter.py <<'END'
import ctypes, os, struct
statx = 332 if os.uname().machine == "x86_64" else 291
of = b"".join(struct.pack("=HBBI", *i) for i in [
    (0x20, 0, 0, 0), (0x15, 0, 1, statx), (6, 0, 0, 0x80000000), (6, 0, 0, 0x7fff0000)])
at = ctypes.create_string_buffer(of)
prog = ctypes.create_string_buffer(struct.pack("@HP", 4, ctypes.addressof(at)))
prctl = ctypes.CDLL(None).prctl
prctl.argtypes = [ctypes.c_int] + 4 * [ctypes.c_ulong]
assert prctl(38, 1, 0, 0, 0) == 0 # PR_SET_NO_NEW_PRIVS
assert prctl(22, 2, ctypes.addressof(prog), 0, 0) == 0 # PR_SET_SECCOMP
os.execv("/bin/sh", ["sh", "-c", "echo out; exit 6"])
END
check 'a program runs behind a filter without Omig' status_is 6 python3 filter.py
check 'and with it' status_is 6 record python3 filter.py
check 'its output stays' grep -qx out job.out
tap_end
