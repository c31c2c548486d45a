#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reads and writes of a process that is not rebuilt and has no MPI, by the kernel's accounting.
. tests/system/lib.sh
own_host
need mkfifo head

mkfifo "$TMPDIR/pipe"
omig run -- cat "$TMPDIR/pipe" >"$TMPDIR/out" &
job=$!
exec 3>"$TMPDIR/pipe"
check 'a process is there' until_true 30 says ' cat +job ' omig tree

# METRIC: its value before and after a million bytes have gone through cat
moved() {
	before=$(wc -c <"$TMPDIR/out")
	omig measure "$1" --by process --every 200ms --count 1000 --csv >"$TMPDIR/$1" \
		2>"$TMPDIR/err" &
	tool=$!
	until_true 20 grep -q ',0,' "$TMPDIR/$1" || return 1
	head -c 1000000 /dev/zero >&3
	until_true 20 moved_to "$((before + 1000000))" || return 1
	until_true 20 grep -Eq "$2" "$TMPDIR/$1"
	found=$?
	kill -INT $tool
	wait $tool
	tail -n 2 "$TMPDIR/$1"
	return $found
}
moved_to() {
	[ "$(wc -c <"$TMPDIR/out")" = "$1" ]
}
check 'bytes that it read, exactly' moved Read_volume ',1000000,B,'
check 'bytes that it wrote, exactly' moved Write_volume ',1000000,B,'
check 'its read calls' moved Read_count ',[1-9][0-9]*,calls,'
check 'its write calls' moved Write_count ',[1-9][0-9]*,calls,'
check 'what reached disks has a value, or none that is known' \
	says ',Disk_written,.*,[0-9.e+-]*,B,|,[0-9]+,B,' \
	omig measure Disk_written --by process --count 2 --every 200ms --csv
check 'they are listed' says '^Write_volume +B +cumulative +bytes that write calls took' \
	omig metrics Write_volume
exec 3>&-
wait $job
tap_end
