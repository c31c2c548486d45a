#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 400
# Programs of the system have the same output, errors and status with libomig-io and without. That
# holds in each state of the monitor: none, one that cannot start, runs, is stopped, or was killed.
# It also holds while interactions are recorded, and when their reader was killed.
. tests/system/lib.sh
need python3 tar gzip mkfifo pgrep

mkdir "$TMPDIR/data" "$TMPDIR/cases"
seq 1 3000 | sed 's/$/ a line of some length/' >"$TMPDIR/data/lines"
head -c 300000 /dev/urandom >"$TMPDIR/data/bytes"

case_is() { # NAME: a script on standard input
	{ echo "cd '$TMPDIR/data'" && cat; } >"$TMPDIR/cases/$1"
}
case_is shell <<'END'
ls | sort -r | while read -r f; do echo "$f $(wc -c <"$f")"; done
(echo one; false) || echo "$? two" >&2
x=$(printf 'a\nb\n' | { read -r y; echo "$y"; }); echo "$x"
{ sleep 0.01; echo late; } & wait $!
exit 3
END
case_is files <<'END'
sort -rn lines | uniq | tail -n 3
tar cf - --mtime=@0 --owner=0 --group=0 lines bytes | tar tvf - | cut -c1-30
gzip -9nc lines | gunzip | cmp - lines
cp bytes copy && cat copy bytes | cksum && rm copy
dd if=bytes bs=1000 skip=3 count=7 2>/dev/null | od -An -tx1 | head -n 2
head -c 5 lines | tee /dev/stderr
find . -type f | sort | xargs cksum
awk 'NR % 1000 == 0' lines
cat /no/such/file
cat lines | head -n 1
END
case_is python <<'END'
exec python3 - <<'P'
import os, signal, socket, subprocess, sys, threading, time
print(subprocess.run(["sort", "-n"], input=b"3\n1\n2\n", stdout=-1).stdout)
a, b = socket.socketpair()
t = threading.Thread(target=lambda: [a.sendall(b"x" * 1000) for i in range(50)])
t.start()
n = 0
while n < 50000:
    n += len(b.recv(4096))
t.join()
r, w = os.pipe()
os.set_blocking(r, False)
try:
    os.read(r, 1)
except BlockingIOError as e:
    print(e.errno)
signal.signal(signal.SIGALRM, lambda *a: os.write(w, b"!"))
signal.setitimer(signal.ITIMER_REAL, 0.01)
os.set_blocking(r, True)
print(os.read(r, 10))
def child():
    pid = os.fork()
    if pid == 0:
        os.write(w, b"c")
        os._exit(7)
    return os.waitpid(pid, 0)[1]
ts = [threading.Thread(target=child) for i in range(4)]
for x in ts: x.start()
for x in ts: x.join()
print(len(os.read(r, 10)))
try:
    os.write(99, b"x")
except OSError as e:
    print(e.errno)
os.dup2(1, 5)
os.closerange(6, 4096)
os.write(5, b"behind closerange\n")
print(open("lines").read()[-20:], sorted(os.listdir("/proc/self/fd"))[:3])
sys.stdout.flush()
os.close(r) if False else None
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
r, w = os.pipe()
os.close(r)
os.write(w, b"ends by SIGPIPE")
P
END
case_is fds <<'END'
exec 3<lines 4>out 5>&1
read -r x <&3; echo "$x" >&4; echo "$x" >&5
exec 1>&- 2>&-
echo lost
exec 3<&- 5>&-
cat <out >&4
exit 9
END

run() { # CASE OUT: by a shell
	sh "$TMPDIR/cases/$1" >"$TMPDIR/$2.out" 2>"$TMPDIR/$2.err" </dev/null
	echo "status $?" >>"$TMPDIR/$2.out"
	rm -f "$TMPDIR/data/out"
}
repeated_same() { # CASE RUNS, in the environment of $preload and the variables of the monitor
	run "$1" bare
	for _ in $(seq "$2"); do
		(export LD_PRELOAD="$B/lib/libomig.so:$B/lib/libomig-io.so" && run "$1" watched)
		diff "$TMPDIR/bare.out" "$TMPDIR/watched.out" || return 1
		diff "$TMPDIR/bare.err" "$TMPDIR/watched.err" || return 1
	done
}
each_case() { # STATE RUNS
	for c in shell files python fds; do
		check "$1: $c, $2 times" repeated_same $c "$2"
	done
}

each_case 'no monitor is named' 10
export OMIG_LM=/bin/false OMIG_MAINSM=omig1:127.0.0.1:1:00000000000000000000000000:abcd.efgh
each_case 'an lm that cannot start' 5
OMIG_RUNTIME_DIR=/proc/none each_case 'no place for its socket' 5
unset OMIG_LM OMIG_MAINSM

own_host
[ -n "${OMIG_MAINSM:-}" ] || skip_all 'no monitor here'
each_case 'a monitor runs' 10
check 'they were watched' says ' cat +job .*ended' omig tree
lm_pid() {
	pgrep -x lm | while read -r p; do
		grep -qsz "^OMIG_STATE_DIR=$OMIG_STATE_DIR\$" "/proc/$p/environ" && echo "$p"
	done
}
stopped=$(lm_pid)
# shellcheck disable=SC2086 # a list of numbers
kill -STOP $stopped
each_case 'its lm is stopped' 5
# shellcheck disable=SC2086
kill -KILL $stopped
each_case 'its lm was killed' 5

# --- interactions: on the board of a command that only waits
OMIG_IO=interactions=/no/such/board
export OMIG_IO
each_case 'no board is there' 5
unset OMIG_IO
mkfifo "$TMPDIR/hold"
# shellcheck disable=SC2016 # of the inner shell
omig run --interactions="$TMPDIR/held.olog" -- sh -c 'echo "$OMIG_IO" >"$1"; read -r x <"$2"' sh \
	"$TMPDIR/io" "$TMPDIR/hold" >"$TMPDIR/held.out" 2>&1 &
job=$!
check 'a command has a board' until_true 30 test -s "$TMPDIR/io"
OMIG_IO=$(cat "$TMPDIR/io")
export OMIG_IO
each_case 'interactions are recorded' 10
readers=$(pgrep -P $job -x omig)
# shellcheck disable=SC2086
kill -KILL $readers
each_case 'their reader was killed' 5
unset OMIG_IO
echo end >"$TMPDIR/hold"
wait $job
check 'the command ends well nevertheless' test $? = 0
tap_end
