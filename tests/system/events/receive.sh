#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig log receive: events of programs in the net, by TCP and UDP. Receivers are killed under load,
# restarted, rotated and attacked: each event is stored once, or counted as lost.
# timeout: 120
. tests/system/lib.sh
. tests/system/receivers.sh
cd "$TMPDIR" || exit 2

# --- all that is sent arrives
start one ./one.olog x-netlog://127.0.0.1:0
check 'a C program with omig/event.h sends' "$T/netlogged" event "x-netlog://127.0.0.1:$port" 1000
check 'and one with the calls of NetLogger' "$T/netlogged" netlogger \
	"x-netlog://127.0.0.1:$port" 1000 1
check 'an unchanged program, by its environment' env \
	OMIG_EVENT_LOG="x-netlog://localhost:$port" "$B/examples/fileserver" --mib 1 \
	--folder "$TMPDIR"
send_lines() {
	python3 - "$port" <<'END'
import socket, sys
line = b'DATE=20020329210355.443568 HOST=a PROG=b LVL=Info NL.EVNT=old.event V=%d\n'
s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
for i in range(100):
    s.sendall(line % i)
s.sendall(line[:-1] % 100)
END
}
many() { # connections that come and go at once
	for i in 1 2 3 4 5; do
		env OMIG_EVENT_LOG="x-netlog://127.0.0.1:$port" "$B/examples/fileserver" \
			--clients 20 --mib 1 --folder "$TMPDIR" 2>many.err || return 1
		[ ! -s many.err ] || { cat many.err; return 1; }
	done
	kill -0 $receiver
}
check 'many programs at once' many
check 'a program that sends lines of ULM' send_lines
send_log() {
	python3 - "$port" tests/golden/eventlog/little.olog <<'END'
import socket, sys
s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
s.sendall(open('one.bin', 'rb').read())
END
}
omig log convert --to olog -o one.bin "$OLDPWD/tests/golden/eventlog/little.olog"
check 'a log that is sent as it is' send_log
has() { omig log tail --for 10ms -n 100000 "$1" | grep -q "$2"; }
check 'all of them are in the file' until_true 10 has one.olog 'event=all.kinds'
check 'a receiver ends well' end
once() { # FILE N: besides events of others
	set -- "$2" $(stored "$1")
	is "$3 twice $5" "$1 twice 0"
}
check 'each event is there once' once one.olog 2000
lines() { is "$(omig log cat one.olog | grep -c "$1")" "$2"; }
check 'and each line' lines 'event=old.event .*V=' 101
check 'and all of the file servers' lines 'event=server.disk.read.end' 1616
check 'nothing is counted as lost' is "$(value lost) $(value dropped)" '0 0'

# --- into an archive, and on to another receiver
start last archive:last.db x-netlog://127.0.0.1:0
last=$receiver last_port=$port
start relay "x-netlog://127.0.0.1:$last_port" --spool relay.spool x-netlog://127.0.0.1:0
"$T/netlogged" event "x-netlog://127.0.0.1:$port" 5000 0 1000 >/dev/null
in_archive() { omig log query last.db count of 't*' | awk '{ n += $NF } END { exit n != 5000 }'; }
check 'a receiver passes on to another one, with an archive' until_true 20 in_archive
check 'the first ends well' end
receiver=$last name=last
check 'and the second' end

# --- what the other receiver does not take at once
start there ./there.olog x-netlog://127.0.0.1:0 && end
there=$port
start relay2 "x-netlog://127.0.0.1:$there" --spool relay2.spool x-netlog://127.0.0.1:0
relay=$receiver relay_port=$port
"$T/netlogged" event "x-netlog://127.0.0.1:$relay_port" 400000 3 1000 1000 >/dev/null
failing() { tail -n 1 relay2.out | grep -q '"is_failing":true'; }
check 'a relay shows that the other one is not there' until_true 20 failing
start there ./there.olog "x-netlog://127.0.0.1:$there"
passed_on() {
	cat there.err relay2.err
	tail -n 1 relay2.out
	is "$(stored there.olog)" 'stored 400000 twice 0 strange 0'
}
passes_on() {
	until_true 40 passed_on || passed_on
}
check 'it passes on all when the other one is there' passes_on
end
receiver=$relay name=relay2
end

# --- killed under load, and restarted
start killed ./killed.olog x-netlog://127.0.0.1:0
fixed=$port
"$T/netlogged" event "x-netlog://127.0.0.1:$fixed" 300000 0 1000 200 >event.said 2>&1 &
by_event=$!
"$T/netlogged" netlogger "x-netlog://127.0.0.1:$fixed" 300000 1 1000 200 >netlogger.said 2>&1 &
by_netlogger=$!
kill_under_load $by_event 5 "x-netlog://127.0.0.1:$fixed"
wait $by_event
wait $by_netlogger
check 'killed five times, each event is stored once or counted' each_is_counted 600000
check 'it was killed' test $kills -ge 2

# --- a receiver that is not there
absent() {
	"$T/netlogged" "$1" "x-netlog://127.0.0.1:1" 200000 >absent.out 2>absent.err &&
		grep -q 'written 200000' absent.out
}
check 'a program ends well without its receiver' absent event
check 'and says what was not confirmed' grep -q 'not confirmed' absent.err
check 'and with the calls of NetLogger' absent netlogger
late() {
	start late ./late.olog x-netlog://127.0.0.1:0 && end
	"$T/netlogged" event "x-netlog://127.0.0.1:$port" 3000 0 300000 1000 >/dev/null &
	program=$!
	start late ./late.olog "x-netlog://127.0.0.1:$port"
	wait $program && end && is "$(stored late.olog)" 'stored 3000 twice 0 strange 0'
}
check 'a receiver that starts later gets all' late

# --- UDP
start udp ./udp.olog x-netlog-udp://127.0.0.1:0
"$T/netlogged" event "x-netlog-udp://127.0.0.1:$port" 20000 0 1000 >/dev/null
"$T/netlogged" netlogger "x-netlog-udp://127.0.0.1:$port" 20000 1 1000 >/dev/null
udp_counts() {
	end || [ $? = 2 ] || return 1
	set -- $(stored udp.olog)
	echo "$* lost $(value lost) dropped $(value dropped)"
	[ "$4" = 0 ] && [ $(($2 + $(value lost) + $(value dropped))) = 40000 ]
}
check 'datagrams are stored or counted' udp_counts

# --- rotation
start rotated ./rotated.olog --rotate-size 1 --older 3 x-netlog://127.0.0.1:0
"$T/netlogged" event "x-netlog://127.0.0.1:$port" 200000 0 500 >/dev/null
end
alone() { # what it lacks is in the files before it
	omig log cat "$1" >alone.bp 2>/dev/null || [ $? = 2 ]
	grep -q 'event=t[io]ck.* HOST=.* number=' alone.bp
}
whole() {
	ls rotated.olog*
	[ -f rotated.olog.1 ] && is "$(stored rotated.olog rotated.olog.[1-3])" \
		'stored 200000 twice 0 strange 0' && alone rotated.olog.1
}
check 'a file that is full is rotated, and each can be read alone' whole

# --- hostile input
start attacked ./attacked.olog x-netlog://127.0.0.1:0
attack() {
	python3 - "$port" <<'END'
import os, socket, sys, time
at = ('127.0.0.1', int(sys.argv[1]))
def say(*parts):
    s = socket.create_connection(at)
    try:
        for p in parts: s.sendall(p)
    except OSError: pass
    return s
say(b'DATE=2002').close()                         # half a line
say(b'x' * (1 << 20)).close()                     # a line of a MiB
say(b'x' * (1 << 20), b'\n').close()
say(b'OMIG-NETLOG/1\n' + os.urandom(1 << 16)).close()
say(b'OMIG-NETLOG/1\nGOLO' + b'\0' * 100).close()
say(b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + os.urandom(500)).close()   # TLS
slow = [say(b'D') for i in range(300)]            # more than it serves, all silent
good = say(b'DATE=20020329210355.443568 HOST=a PROG=b LVL=Info NL.EVNT=still.here V=1\n')
good.close()
for i in range(600):                              # until the test has seen it
    if os.path.exists('attack.end'): break
    time.sleep(0.1)
END
}
attack &
attacker=$!
check 'a program is served during an attack' until_true 20 has attacked.olog event=still.here
: >attack.end
check 'the attack ends' wait $attacker
check 'bad bytes make the status 2' status_is 2 end
check 'refused connections are counted' test "$(value refused_connections)" -gt 0
check 'and broken ones' test "$(value broken_connections)" -gt 0

# --- words
check 'a destination is needed' refuses 2 'needs --to' omig log receive
taken() {
	start first ./first.olog x-netlog://127.0.0.1:0 &&
		refuses 1 'in use' omig log receive --to ./x.olog "x-netlog://127.0.0.1:$port" && end
}
check 'a port that is taken' taken
spooled() {
	start first ./first.olog x-netlog://127.0.0.1:0 &&
		refuses 1 'another' omig log receive --to ./first.olog x-netlog://127.0.0.1:0 && end
}
check 'a file that another receiver writes' spooled
check 'an address that is none' refuses 2 'not one of file' omig log receive --to ./x.olog http://x
check 'a file is not an address' refuses 2 'begins with x-netlog' omig log receive --to ./x.olog y
url_of_file() {
	omig log receive --to "file://$TMPDIR/by-url.olog" --for 100ms x-netlog://127.0.0.1:0 &&
		[ -f by-url.olog ] && [ -d by-url.olog.spool ]
}
check 'a file may be a URL' url_of_file
check 'another destination needs a spool, and the reason is said' refuses 2 \
	'events wait there on disk until x-netlog' omig log receive --to x-netlog://127.0.0.1:1
check 'a folder that is not there' refuses 1 'No such file' omig log receive \
	--to ./none/x.olog x-netlog://127.0.0.1:0
check 'a bare name is not a destination of NetLogger' refuses 1 'neither a path' \
	"$T/netlogged" netlogger run7 1
check 'and no other URL' refuses 1 'is not one of' "$T/netlogged" netlogger http://run7 1
bare() { ! ls | grep -qx run7; }
check 'so no file appears by accident' bare
sums_up() {
	omig log receive --to ./words.olog --for 100ms x-netlog://127.0.0.1:0 >words.out &&
		grep -q '^0 events received, 0 stored in ./words.olog, 0 lost' words.out
}
check 'without --json it sums up in words' sums_up
tap_end
