#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Functions of programs that were not rebuilt are regions: counts and times are the program's own.
# Refusals have a reason. Afterwards the code is byte for byte that of the file.
# timeout: 120
. tests/system/lib.sh
own_host

code_of() { # PID PROGRAM: the code in memory, and that of the file
	line=$(grep -m 1 " r-xp .*$2\$" "/proc/$1/maps") || return 1
	# shellcheck disable=SC2086 # words
	set -- "$1" "$2" ${line%% *} $(echo "$line" | cut -d' ' -f3)
	from=$((0x${3%-*})) to=$((0x${3#*-}))
	dd "if=/proc/$1/mem" bs=65536 iflag=skip_bytes,count_bytes skip=$from \
		count=$((to - from)) of="$TMPDIR/in-memory" 2>/dev/null
	dd "if=$2" bs=65536 iflag=skip_bytes,count_bytes skip=$((0x$4)) count=$((to - from)) \
		of="$TMPDIR/in-file" 2>/dev/null
	size=$(stat -c %s "$TMPDIR/in-file")
	head -c "$size" "$TMPDIR/in-memory" >"$TMPDIR/in-memory.cut"
}
is_as_the_file() {
	code_of "$1" "$2" && [ "$size" -gt 1000 ] &&
		cmp -s "$TMPDIR/in-memory.cut" "$TMPDIR/in-file"
}
last_of() { # NAME RANK: the value of the last read
	awk -F, -v of="rank$2@" 'index($4, of) == 1 { v = $6 } END { print v }' "$TMPDIR/$1.csv"
}
measures() { # NAME METRIC REGION
	omig measure "$2" --by process --region "$3" --every 200ms --csv --for 10m \
		>"$TMPDIR/$1.csv" 2>"$TMPDIR/$1.err" &
	pids="$pids $!"
}
reads_something() { # NAME: of both ranks
	grep -q rank0@ "$TMPDIR/$1.csv" && grep -q rank1@ "$TMPDIR/$1.csv"
}
said() { # RANK WORD: the number that the program has printed behind the word
	sed -n "s/^rank $1 .*\\b$2 \\([0-9.]*\\).*/\\1/p" "$TMPDIR/out" | head -n 1
}
counts_agree() { # NAME WORD
	for rank in 0 1; do
		[ "$(last_of "$1" $rank)" = "$(said $rank "$2")" ] || return 1
	done
}
# By the program's clock, which has two reads more in each call.
times_agree() {
	awk -v a="$(last_of time 0)" -v b="$(sed -n 's/^rank 0 compute_flux [0-9]* //p' \
		"$TMPDIR/out")" 'BEGIN { exit !(a > b * 0.5 && a < b * 1.5) }'
}
begin() { # FLAVOUR PROGRAM
	rm -f "$TMPDIR/go" "$TMPDIR/end"
	pids=
	omig run -- "mpirun.$1" $over -n 2 "$2" "$TMPDIR/go" "$TMPDIR/end" >"$TMPDIR/out" \
		2>"$TMPDIR/err" </dev/null &
	job=$!
	check "$1: two ranks come up" until_true 30 ranks_are 2
	pid=$(pgrep -f "^$2 $TMPDIR/go" | head -n 1)
}
finish() {
	# shellcheck disable=SC2086 # a list
	kill -INT $pids
	# shellcheck disable=SC2086 # a list
	wait $pids
	check "$1: the code is that of the file again" until_true 10 is_as_the_file "$pid" "$2"
	: >"$TMPDIR/end"
	check "$1: the program ends well" wait "$job"
}
refuses() { # REASON NAME
	check "refused: $2: $1" says "$1" omig measure Region_count --region "function:$2" --count 1
}

one_flavour() {
	program=$B/tests/system/functions.$1
	over=
	[ "$1" = openmpi ] && over=--oversubscribe
	if [ ! -x "$program" ]; then
		skip "$1" 'no program'
		return
	fi
	begin "$1" "$program"
	refuses 'no file of the process has a function' nowhere_to_find
	refuses 'jump to a place that is not known' in_switch
	refuses 'too short' too_short
	check "$1: the code is that of the file" is_as_the_file "$pid" "$program"
	measures count Region_count function:compute_flux
	measures time Region_delay function:compute_flux
	measures climb Region_count function:climb
	measures leave Region_count function:leave
	measures barrier MPI_Barrier_count function:waits
	measures handled Region_count function:handled
	for name in count time climb leave barrier handled; do
		check "$1: $name is read" until_true 30 reads_something $name
	done
	check "$1: it is listed" says 'compute_flux' omig request --follow 3 \
		':omig_function_on([],"compute_flux")' ':omig_function_list([])'
	check "$1: the code has changed" fails is_as_the_file "$pid" "$program"
	: >"$TMPDIR/go"
	both_said() {
		[ "$(grep -c 'child 0' "$TMPDIR/out")" = 2 ]
	}
	check "$1: the program does its work" until_true 30 both_said
	check "$1: recursion is counted" until_true 10 counts_agree climb climb
	check "$1: longjmp() is counted" until_true 10 counts_agree leave leave
	two_are() {
		[ "$(last_of "$1" 0)" = "$2" ] && [ "$(last_of "$1" 1)" = "$2" ]
	}
	# 20000, 4 threads with 1000 each, and 500 by a tail call
	check "$1: calls of all threads are counted" until_true 10 two_are count 24500
	check "$1: calls of MPI in a function are counted" until_true 10 two_are barrier 40
	check "$1: a handler of signals is counted" until_true 10 two_are handled 200
	check "$1: the time is that of the program" times_agree
	finish "$1" "$program"
}
fails() {
	! "$@"
}

one_flavour openmpi
one_flavour mpich

program=$B/tests/system/functions_cxx
if [ -x "$program" ]; then
	over=--oversubscribe
	begin openmpi "$program"
	refuses '2 functions are called flux::compute, name one of them' flux::compute
	measures int Region_count 'function:flux::compute(int)'
	measures double Region_count 'function:flux::compute(double)'
	check 'C++: one of them is read' until_true 30 reads_something int
	check 'C++: so is the other' until_true 30 reads_something double
	: >"$TMPDIR/go"
	both_caught() {
		[ "$(grep -c 'caught 1000' "$TMPDIR/out")" = 2 ]
	}
	check 'C++: exceptions pass through the function' until_true 30 both_caught
	check 'C++: all calls are counted' until_true 10 counts_agree int int
	check 'C++: those of the other, too' until_true 10 counts_agree double double
	finish openmpi "$program"
else
	skip 'C++' 'no compiler for it with MPI'
fi
tap_end
