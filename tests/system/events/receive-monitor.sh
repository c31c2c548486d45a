#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig log receive --to monitor: events of programs in the net become events of the monitor. Each
# comes once or is counted, and none is one of a rank.
# timeout: 120
. tests/system/lib.sh
. tests/system/receivers.sh
cd "$TMPDIR" || exit 2

check 'it starts a monitor and is watched' start receiver monitor x-netlog://127.0.0.1:0
in_tree() { omig tree --depth processes | grep -q 'omig  job receive\.'; }
check 'its process is in the tree' until_true 20 in_tree
check 'and it is not a rank' sh -c '! omig tree --depth processes | grep -q rank'

# --- subscribed before the first event
omig events on 't*' 'old.*' 'received.*' 'all.*' --for 1000s --to all.olog >on.out 2>on.err &
recorder=$!
on() { omig events list --json | grep -q '"on":[1-9]' || [ -s all.olog ]; }
check 'a program sends' send event "x-netlog://127.0.0.1:$port" 10 9
check 'its types are on' until_true 20 on
check 'a C program' send event "x-netlog://127.0.0.1:$port" 20000 0
check 'and one with the calls of NetLogger' send netlogger "x-netlog://127.0.0.1:$port" 20000 1
line() {
	python3 - "$port" <<'END'
import socket, sys
s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
s.sendall(b'DATE=20020329210355.443568 HOST=afar PROG=old LVL=Info NL.EVNT=old.event V=5\n')
END
}
check 'a line of ULM' line
counted() { # N of the name
	[ "$(omig log cat all.olog 2>/dev/null | grep -c "event=$2 ")" = "$1" ]
}
number() { omig log cat all.olog 2>/dev/null | grep -c 'event=t[io]ck .* number='; }
all_there() { is "$(number)" 40010; }
check 'each event is there' until_true 30 all_there
each_once() {
	omig log cat all.olog | sed -n 's/.* number=\([0-9]*\).*/\1/p' >numbers
	is "$(sort numbers | uniq -d | wc -l)" 0
}
check 'and once' each_once
check 'the line, too' until_true 10 counted 1 old.event
shows() { omig log cat all.olog 2>/dev/null | grep "event=$1 " | grep -q -- "$2"; }
check 'with its origin' shows old.event 'V=5 .*origin.host=afar origin.program=old'
check 'and the time of its sender' shows old.event 'origin.time_ns=1017435835443568000'
check 'its process is the receiver' shows tick 'job=receive\.[0-9]* .*origin.program=netlogged'
check 'no event is one of a rank' sh -c '! omig log cat all.olog | grep -q " rank="'

# --- a loss on the way is an event
lossy() {
	"$T/netlogged" event ./whole.olog 20000 5 >/dev/null || return 1
	python3 - "$port" <<'END'
import socket, struct, sys
b = open('whole.olog', 'rb').read()
at, blocks = 0, []
while at < len(b):
    n = struct.unpack_from('<I', b, at + 8)[0]
    blocks.append(b[at:at + n])
    at += n
assert len(blocks) > 2
s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
s.sendall(b''.join(blocks[:1] + blocks[2:]))
END
}
check 'a log without one of its blocks' lossy
balanced() { # what is there and what is reported as lost are all of them
	there=$(omig log cat all.olog | grep -c 'event=t[io]ck .*origin.more=.*' )
	lost=$(omig log cat all.olog |
		sed -n 's/.*event=received.lost .* events=\([0-9]*\).*/\1/p' | awk '{ n += $1 }
			END { print n + 0 }')
	echo "there $there lost $lost"
	[ "$lost" -gt 0 ] && [ $((there + lost)) = 60010 ]
}
check 'what is missing is an event with its number' until_true 30 balanced

# --- the lm does not read: events wait on disk, and the program does not
for p in $(leftovers); do
	[ "$(cat "/proc/$p/comm" 2>/dev/null)" != lm ] || lm=$p
done
kill -STOP "$lm"
check 'a program ends while the lm is stopped' send event "x-netlog://127.0.0.1:$port" 50000 7
failing() { tail -n 1 receiver.out | grep -q '"is_failing":true'; }
check 'the receiver shows that it waits' until_true 20 failing
kill -CONT "$lm"
late() {
	is "$(omig log cat all.olog 2>/dev/null | awk -F'number=' '/event=t[io]ck / {
		split($2, n, " ")
		if (n[1] >= 7 * 2^40 && n[1] < 8 * 2^40)
			c++
	} END { print c + 0 }')" 50000
}
check 'then all of them arrive' until_true 40 late
kill $recorder
wait $recorder

# --- without a subscription
check 'events that none requests' send event "x-netlog://127.0.0.1:$port" 100 8
ends_well() { end || [ $? = 2 ]; }
check 'the receiver ends' ends_well
check 'they are counted' test "$(value unrequested)" -ge 100
sums() { # all that was received had a way
	is "$(value received)" "$(value stored)" &&
		is "$(value without_place)" 0
}
check 'and nothing else is missing' sums
check 'without a monitor it says so' says 'is not watched|cannot be watched' env OMIG_DISABLE=1 \
	omig log receive --to monitor --for 1s x-netlog://127.0.0.1:0
tap_end
