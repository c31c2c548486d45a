#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig log receive with TLS: programs with a certificate of the monitor are served, and any other
# peer is refused with the reason. The receiver is killed under load and attacked.
# timeout: 120
. tests/system/lib.sh
. tests/system/receivers.sh
cd "$TMPDIR" || exit 2

# --- without a monitor
check 'no monitor: no certificate, and what to do' refuses 3 'no certificate for TLS: .*omig run' \
	omig log receive --to ./none.olog --tls
omig run -- true >/dev/null 2>&1

# --- all that is sent arrives
start one ./one.olog --tls x-netlogs://127.0.0.1:0
check 'its address shows TLS' grep -q '"urls":\["x-netlogs://127.0.0.1:' one.out
check 'a C program with omig/event.h sends' send event "x-netlogs://127.0.0.1:$port" 1000
check 'and one with the calls of NetLogger' send netlogger "x-netlogs://127.0.0.1:$port" 1000 1
check 'an unchanged program, by its environment' env \
	OMIG_EVENT_LOG="x-netlogs://localhost:$port" "$B/examples/fileserver" --mib 1 \
	--folder "$TMPDIR"
check 'the receiver has a certificate of its own role' says ' receiver ' omig cert list

# --- a certificate that is revoked
guest() { # COMMAND...: a program of another person, with a certificate of this monitor
	env OMIG_STATE_DIR="$TMPDIR/guest" OMIG_EVENT_MAINSM="$guest_way" "$@"
}
guest_way=$(omig cert token tool-observe --name guest)
mkdir -m 700 guest
guest_sends() { guest "$T/netlogged" event "x-netlogs://127.0.0.1:$port" 10 40; }
check 'a program of another person is served' guest_sends
guest "$T/netlogged" event "x-netlogs://127.0.0.1:$port" 100000 41 10000 1 >/dev/null 2>cut.err &
cut=$!
more() { [ "$(stored one.olog | awk '{ print $2 }')" -gt 2011 ]; }
check 'and one more, which stays connected' until_true 20 more
check 'the certificate of that person is revoked' says '1 revoked' omig cert revoke guest
check 'its connection is ended, with the reason' until_true 20 \
	grep -q 'connection ended: .*is revoked' one.err
revoked() {
	guest "$T/netlogged" event "x-netlogs://127.0.0.1:$port" 10 42 >/dev/null 2>revoked.err
	cat revoked.err
	grep -q 'has not confirmed 10 events: .*certificate is revoked' revoked.err
}
check 'a new program of that person reads why' revoked
kill $cut
wait $cut 2>/dev/null
check 'and others are served' send event "x-netlogs://127.0.0.1:$port" 10 43

# --- peers that are refused
other() { # another monitor of the same user
	env OMIG_STATE_DIR="$TMPDIR/other" OMIG_RUNTIME_DIR="$TMPDIR/other-run" "$@"
}
mkdir -m 700 other-run
other omig run -- true >/dev/null 2>&1
stranger() {
	other "$T/netlogged" event "x-netlogs://127.0.0.1:$port" 10 >/dev/null 2>stranger.err
	cat stranger.err
	grep -q 'has not confirmed 10 events: .*another' stranger.err
}
check 'a program of another monitor reads why' stranger
other omig stop >/dev/null 2>&1
check 'and the receiver names it' until_true 10 grep -q 'refused 127.0.0.1:' one.err
plain() {
	python3 - "$port" <<'END'
import socket, sys
s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
s.sendall(b'DATE=20020329210355.443568 HOST=a PROG=b LVL=Info NL.EVNT=plain V=1\n' * 20)
s.settimeout(60)
try:
    while s.recv(4096): pass
except ConnectionResetError: pass
END
}
check 'a plain program at the address for TLS is cut' plain
# The receiver writes one such line in a while.
named() {
	grep -q 'refused 127.0.0.1:.*does not speak TLS' one.err || { plain && false; }
}
check 'and named' until_true 20 named
alive() { kill -0 $receiver && send event "x-netlogs://127.0.0.1:$port" 10 "$1"; }
check 'the receiver lives' alive 2

# --- handshakes that stall, and bytes that trickle
stall() {
	python3 - "$port" <<'END'
import os, socket, sys, time
at = ('127.0.0.1', int(sys.argv[1]))
hello = b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'
silent, slow = [], []
for i in range(60):
    silent.append(socket.create_connection(at))
    slow.append(socket.create_connection(at))
n = 0
for i in range(600):                              # until the test has seen it
    if os.path.exists('stall.end'): break
    for s in slow:
        try: s.sendall(hello[n % 11:n % 11 + 1])
        except OSError: pass
    n += 1
    time.sleep(0.1)
END
}
stall &
staller=$!
tries=3
served() { # each try has numbers of its own
	tries=$((tries + 1))
	rm -f served.err
	kill -0 $receiver && send event "x-netlogs://127.0.0.1:$port" 10 $tries 2>served.err &&
		[ ! -s served.err ]
}
check 'a program is served while others stall' until_true 20 served
: >stall.end
check 'the stalling ends' wait $staller
check 'the receiver ends well' end
check 'each event is there once' says 'stored 2[0-9]* twice 0' stored one.olog
check 'those of the file server, too' says 'event=server.disk.read.end' omig log cat one.olog
check 'no event of a refused peer' sh -c '! omig log cat one.olog | grep -q event=plain'
check 'nothing is counted as lost' is "$(value lost) $(value dropped)" '0 0'
check 'refused handshakes are counted' test "$(value refused_handshakes)" -ge 3
check 'and the connection that was ended' test "$(value cut_connections)" = 1

# --- the other way round: TLS at an address without it
start bare ./bare.olog x-netlog://127.0.0.1:0
bare() {
	send event "x-netlogs://127.0.0.1:$port" 10 >/dev/null 2>bare.said
	cat bare.said
	grep -q 'has not confirmed 10 events: .' bare.said
}
check 'TLS at an address without it: the program reads why' bare
check 'and plain programs are served' send event "x-netlog://127.0.0.1:$port" 10
end
check 'it is counted' test "$(value broken_connections)" -ge 1
check 'only good events are there' says 'stored 10 twice 0' stored bare.olog

# --- killed under load
start killed ./killed.olog x-netlogs://127.0.0.1:0
fixed=$port
send event "x-netlogs://127.0.0.1:$fixed" 100000 0 1000 200 >event.said 2>&1 &
sender=$!
kill_under_load $sender 3 "x-netlogs://127.0.0.1:$fixed"
wait $sender
check 'killed under load, each event is stored once or counted' each_is_counted 100000
check 'it was killed' test $kills -ge 1

# --- a receiver that is not there
absent() {
	send "$1" x-netlogs://127.0.0.1:1 100000 >absent.out 2>absent.err &&
		grep -q 'written 100000' absent.out
}
check 'a program ends well without its receiver' absent event
check 'and says why' grep -q 'not confirmed .* events: .*refused' absent.err
check 'and with the calls of NetLogger' absent netlogger
missing() {
	OMIG_TUNNEL=/none send event "x-netlogs://127.0.0.1:1" 10 >/dev/null 2>missing.err
	cat missing.err
	grep -q 'omig-tunnel is missing: set OMIG_TUNNEL' missing.err
}
check 'a missing omig-tunnel is named' missing

# --- from receiver to receiver
start last ./last.olog x-netlogs://127.0.0.1:0
last=$receiver
start relay "x-netlogs://127.0.0.1:$port" --spool relay.spool x-netlog://127.0.0.1:0
send event "x-netlog://127.0.0.1:$port" 3000 >/dev/null
passed() { is "$(stored last.olog)" 'stored 3000 twice 0 strange 0'; }
check 'one passes on to another by TLS' until_true 20 passed
check 'the first ends well' end
receiver=$last name=last
check 'and the second' end

# --- words
check '--tls permits no plain address' refuses 2 'has no TLS: write x-netlogs://' \
	omig log receive --to ./x.olog --tls x-netlog://127.0.0.1:0
check 'a bad connection string' refuses 3 'no certificate for TLS' \
	omig log receive --to ./x.olog --tls --mainsm nonsense
tap_end
