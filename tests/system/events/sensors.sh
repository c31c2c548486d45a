#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sensors: the load of hosts and nets comes as events. They are in the log of a program, are
# printed, are sent to a receiver, and are under its lifelines.
# timeout: 90
. tests/system/lib.sh
S=$B/examples/fileserver
[ -x "$S" ] || skip_all 'the file server is not built'
cd "$TMPDIR" || exit 2

OMIG_EVENT_LOG=$TMPDIR/run.olog omig run --sensors=20ms --job served -- "$S" --clients 2 --mib 64 \
	--folder "$TMPDIR" --until "$TMPDIR/enough" >served.out 2>served.err &
server=$!
has() { # FILE PATTERN
	omig log cat "$1" 2>/dev/null | grep -q "$2"
}
for event in host.cpu host.memory host.kernel host.net host.tcp tcp.connection; do
	check "the program's own log has $event" until_true 30 has run.olog "event=$event "
done
adds_up() {
	omig log cat run.olog | awk '/event=host.cpu / {
		sum = 0
		for (i = 1; i <= NF; i++) if ($i ~ /_percent=/) { sub(/.*=/, "", $i); sum += $i }
		if (sum < 99.999 || sum > 100.001) bad++
		n++ } END { exit !n || bad }'
}
check 'shares of processor time add up to 100' adds_up
check 'a sample is a request that any tool can make' says '\[\["cpu.user",' \
	omig request ':omig_node_sample([])'
printed() { omig log sense --every 50ms --for 300ms >printed && grep -q 'event=host.cpu ' printed; }
check 'it is printed, too' printed
objects() { omig log sense --json --every 50ms --for 200ms | grep -q '"event":"host.memory"'; }
check 'as JSON' objects
omig log receive --json --to ./sent.olog x-netlog://127.0.0.1:0 >receiver.out 2>&1 &
receiver=$!
until_true 10 grep -q urls receiver.out
port=$(sed -n 's/.*"urls":\["[^"]*:\([0-9]*\)".*/\1/p' receiver.out)
check 'and sent to a receiver' omig log sense --every 50ms --for 300ms \
	--to "x-netlog://127.0.0.1:$port"
check 'which stores it' until_true 10 has sent.olog 'event=host.kernel .*HOST='
kill $receiver
wait $receiver
measured() { omig measure Node_interrupts --by node --since-last --rate --every 200ms --count 2; }
check 'its figures are metrics' says 'interrupts/s' measured
: >enough
wait $server
is_quiet() { [ ! -s served.err ] && grep -q 'MiB/s' served.out; }
check 'it has written nothing else' is_quiet
whole() { omig log cat run.olog >/dev/null; }
check 'the log is whole at the end' until_true 10 whole
under_lines() {
	omig log lifelines --key conn,block -o picture.svg run.olog && grep -q host.cpu picture.svg
}
check 'lifelines have the load under them' under_lines
refuses() { # WORDS COMMAND...
	words=$1
	shift
	"$@" >refused 2>&1
	[ $? = 2 ] && grep -q "$words" refused
}
check 'a time that is none' refuses 'is not a time' omig run --sensors=never -- true
check 'another destination' refuses 'not one of' omig log sense --to http://x
tap_end
