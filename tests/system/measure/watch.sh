#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig watch: a metric of a real job as pictures, as a file and on a terminal.
# timeout: 180
. tests/system/lib.sh
. tests/system/screen.sh

has() {
	what=$1
	shift
	LC_ALL=C.UTF-8 omig watch "$@" >"$TMPDIR/picture" 2>"$TMPDIR/err" || return 1
	cat "$TMPDIR/picture"
	grep -Eq -- "$what" "$TMPDIR/picture"
}
sent='Send_volume --by process --every 200ms'
# shellcheck disable=SC2086 # words
{
	check 'the first line says which rank is highest' has \
		'^Send_volume: rank[0-3]@[^ ]+ is highest with [0-9.]+ [kMG]?B, the median of 4 is ' \
		$sent --count 3
	check 'curves have an axis of time' has 's before the last read' $sent --count 3
	check 'a bar for each rank' has '^rank3@[^ ]+ .* [0-9.]+ [kMG]?B$' \
		$sent --count 3 --chart bar
	check 'only ASCII on request' has '^rank1@[^ ]+ #+' \
		$sent --count 3 --chart bar --glyphs ascii
	check 'a map' has '^rank2@' $sent --count 3 --chart heat
	check 'with its scale' grep -q 'unknown' "$TMPDIR/picture"
	check 'colours on request' has "$(printf '\033')\\[0;3" $sent --count 3 --color always
	no_escape() {
		has 'Send_volume' $sent --count 3 || return 1
		! grep -q "$(printf '\033')" "$TMPDIR/picture"
	}
	check 'and none in a file' no_escape
	check 'bands of all ranks' has 'least .*median .*most' $sent --count 3 --chart band
	check 'sparks' has '^rank0@.* [0-9.]+ [kMG]?B$' $sent --count 3 --chart spark
	check '--json is that of omig measure' says '"metric":"Send_volume".*"values":\[' \
		omig watch $sent --count 1 --json
	check 'a wrong kind has a remedy' says 'line, band, heat' omig watch $sent --chart pie
	check 'its status' status_is 2 omig watch $sent --chart pie
	check 'an unknown metric is named' says 'Send_volumes' omig watch Send_volumes --count 1
}

opens 100 20 "omig watch $sent"
check 'a terminal shows curves' until_true 20 shows '^Send_volume: rank'
check 'the keys are in the last line' until_true 20 shows '^c: next chart'
press c
check 'c draws another kind' until_true 20 shows ' s before the last read'
press c
check 'and another' until_true 20 shows 'median'
check 'a second of reads is there' until_true 20 shows '^ +-[1-9].* 0$'
press Space
check 'space freezes' until_true 20 shows '^frozen'
same() {
	shown >"$TMPDIR/first"
	reads=$(omig measure Send_volume --every 200ms --count 3 --csv | wc -l)
	shown >"$TMPDIR/second"
	[ "$reads" -ge 3 ] && cmp "$TMPDIR/first" "$TMPDIR/second"
}
check 'a frozen picture stands still while reads arrive' same
differs() {
	shown >"$TMPDIR/second" && ! cmp -s "$TMPDIR/first" "$TMPDIR/second"
}
press Left
check 'left scrolls back' until_true 20 differs
press Space
check 'space goes on' until_true 20 shows '^c: next chart'
screen resize-window -x 30 -y 6
check 'a small window has its first line' until_true 20 shows '^Send_volume'
press q
check 'q ends it, and the terminal is as before' until_true 20 shows '^over'
check 'the program ends' end_job
tap_end
