#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measurements over two sites of two virtual hosts each have the values of the program's own log.
# Meanwhile an lm and an sm are killed, a link is cut and a rank is killed. The measurements
# continue with the other ranks, flag their values as partial, and are complete again later.
# timeout: 180
. tests/system/lib.sh
within_bed 4 2
bed_mainsm
f=$TMPDIR/phased

# shellcheck disable=SC2046 # words
omig run -- $("$bed" mpirun openmpi node1,node2,node3,node4) --enable-recovery -n 4 \
	"$B/tests/system/phased.openmpi" "$f" \
	>"$TMPDIR/out" 2>"$TMPDIR/err" &
job=$!
check 'four ranks on four nodes are visible' until_true 60 ranks_are 4

measures() { # NAME OPTION...: in the background, as CSV in $TMPDIR/NAME.csv
	name=$1
	shift
	: >"$TMPDIR/$name.csv" # emptied before the tool starts
	omig measure --csv --every 500ms "$@" >"$TMPDIR/$name.csv" 2>"$TMPDIR/$name.err" &
}
lines() {
	wc -l <"$TMPDIR/$1.csv"
}
has_more() { # NAME N
	[ "$(lines "$1")" -gt "$2" ]
}
last() { # NAME: value k n
	tail -n 1 "$TMPDIR/$1.csv" | awk -F, '{ print $6, $9, $10 }'
}
logged() { # FIELD
	cat "$f".log.? | awk -v field="$1" '{ v += $field } END { print v }'
}
is_whole() { # NAME FIELD: all four ranks contribute, the value is right, nothing is lost
	tail -n 1 "$TMPDIR/$1.csv"
	echo "logged $(logged "$2")"
	[ "$(last "$1")" = "$(logged "$2") 4 4" ] || return 1
	! tail -n 1 "$TMPDIR/$1.csv" | grep -q 'lost'
}
goes_on_without() { # NAME N: a read since line N lacks ranks, and is flagged
	tail -n "+$(($2 + 1))" "$TMPDIR/$1.csv" | awk -F, \
		'$9 < 4 && $13 ~ /partial/ { n++ } END { exit !n }'
}
phase_is() {
	echo "$1" >"$f.phase.new" && mv "$f.phase.new" "$f.phase"
	until_true 30 phase_is_done "$1"
}
phase_is_done() {
	[ "$(logged 1)" = $((4 * $1)) ]
}
ends_with() { # PID STATUS
	wait "$1"
	got=$?
	echo "status $got"
	[ $got = "$2" ]
}
killed() { # HOST PROGRAM: the process id of a program in that host
	"$bed" exec "$1" sh -c 'for p in /proc/[0-9]*; do
		[ "$(cat "$p/comm" 2>/dev/null)" = "$1" ] && kill -KILL "${p#/proc/}" && n=1; done;
			[ "${n:-}" ]' - "$2"
}

measures all Send_volume
all=$!
measures sites Send_count --by site
measures worst -f examples/metrics/send_volume.pmsl Send_volume_for_interaction
check 'reads come' until_true 30 has_more all 2
check 'reads by site come' until_true 30 has_more sites 4
phase_is 1
check 'the sum over two sites is that of the log' until_true 20 is_whole all 3
by_site() {
	tail -n 2 "$TMPDIR/sites.csv"
	[ "$(tail -n 2 "$TMPDIR/sites.csv" | awk -F, '{ print $4, $6, $9, $10 }' | sort |
		tr '\n' ';')" = 'site1 30 2 2;site2 70 2 2;' ]
}
check 'each site has its part' until_true 20 by_site

n=$(lines all)
"$bed" cut node4
check 'while a cable is cut the read continues without that host' \
	until_true 30 goes_on_without all \
	"$n"
"$bed" heal node4
check 'with the cable it is whole again' until_true 30 is_whole all 3

n=$(lines all)
check 'an lm is killed' killed node2 lm
check 'the read continues without it' until_true 20 goes_on_without all "$n"
omig env --job=any >"$TMPDIR/env" 2>/dev/null
check 'there is a new one' "$bed" exec node2 sh -c \
	'. "$TMPDIR/env"; unset LD_PRELOAD; lm --background'
check 'with it the read is whole again' until_true 40 is_whole all 3

n=$(lines all)
check 'an sm is killed' killed site2-gate sm
check 'the read continues without its site' until_true 20 goes_on_without all "$n"
check 'with a new sm it is whole again' until_true 60 is_whole all 3
phase_is 2
check 'what the program does then counts once' until_true 20 is_whole all 3

check 'a rank is killed' killed node3 phased.openmpi
n=$(lines all)
check 'reads continue without the rank' until_true 20 has_more all $((n + 3))
check 'and what it has done stays' until_true 20 is_whole all 3

measures once Send_volume --reconnect-for 0
once=$!
measures waits Send_volume
waits=$!
: >"$TMPDIR/top.csv"
omig top --json --every 500ms >"$TMPDIR/top.csv" 2>"$TMPDIR/top.err" &
top=$!
: >"$TMPDIR/tail.csv"
omig events tail MPI_Barrier >"$TMPDIR/tail.csv" 2>"$TMPDIR/tail.err" &
tail=$!
check 'two more measure' until_true 30 has_more once 1
check 'both' until_true 30 has_more waits 1
check 'and a tool watches' until_true 30 has_more top 1
kill -KILL $mainsm
wait $mainsm 2>/dev/null
check 'a measurement that is not to wait for another mainsm ends' ends_with $once 3
check 'and reports the reason' grep -q 'omig: the connection to mainsm is lost' "$TMPDIR/once.err"
waits_on() { # NAME
	grep -q 'if mainsm is back within 60 s, this continues' "$TMPDIR/$1.err"
}
check 'others wait' until_true 30 waits_on all
check 'each of them' until_true 30 waits_on waits
check 'and so does the tool that watches' until_true 30 waits_on top
check 'and so does the tool that reads events' until_true 30 waits_on tail
n=$(lines all)
watched=$(lines top)
ends_well() { # PID: a tool reports that the killed rank is missing
	wait "$1"
	got=$?
	echo "status $got"
	[ $got = 0 ] || [ $got = 6 ]
}
kill -INT $waits
check 'ctrl-C ends the wait' ends_well $waits
mainsm --foreground --listen "$("$bed" address head1)" >"$TMPDIR/conn" 2>>"$TMPDIR/mainsm.log" &
mainsm=$!
is_cut() { # since line N the earlier data are reported as lost, and numbers of reads continue
	tail -n "+$(($1 + 1))" "$TMPDIR/all.csv"
	tail -n "+$(($1 + 1))" "$TMPDIR/all.csv" |
		awk -F, -v last="$(sed -n "$1p" "$TMPDIR/all.csv" | cut -d, -f1)" '
		$1 <= last || $0 !~ /lost/ { bad = 1 } { last = $1; n++ } $9 >= 3 { whole = 1 }
			END { exit bad || n < 2 || !whole }'
}
check 'with another mainsm it continues' until_true 60 is_cut "$n"
check 'and reports that' grep -q 'mainsm is back after' "$TMPDIR/all.err"
check 'so does the tool that watches' until_true 60 has_more top "$watched"
goes_on() { # NAME
	grep -q 'mainsm is back after' "$TMPDIR/$1.err"
}
check 'and so does the tool that reads events' until_true 60 goes_on tail
kill -INT $all $top $tail
check 'until ctrl-C' ends_well $all
check 'both of them' ends_with $top 0
check 'all of them' ends_with $tail 0

: >"$f.go"
kill -KILL $job 2>/dev/null # its ranks go with the virtual hosts
tap_end
