#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Functions of programs that were not rebuilt are regions: counts and times are the program's own.
# Refusals have a reason. Afterwards the code is byte for byte that of the file.
# timeout: 120
. tests/system/lib.sh
. tests/system/functions.sh
own_host

said() { # RANK WORD: the number that the program has printed behind the word
	sed -n "s/^rank $1 .*\\b$2 \\([0-9.]*\\).*/\\1/p" "$TMPDIR/out" | head -n 1
}
counts_agree() { # NAME WORD
	for rank in 0 1; do
		echo "rank $rank: $(last_of "$1" $rank), $(said $rank "$2") by the program"
		[ "$(last_of "$1" $rank)" = "$(said $rank "$2")" ] || return 1
	done
}
# By the program's clock, which has two reads more in each call.
times_agree() {
	awk -v a="$(last_of time 0)" -v b="$(sed -n 's/^rank 0 compute_flux [0-9]* //p' \
		"$TMPDIR/out")" 'BEGIN { exit !(a > b * 0.5 && a < b * 1.5) }'
}
is_listed() { # N lines of the last answer
	[ "$(grep -c "^  --region 'function:" "$TMPDIR/says.out")" = "$1" ]
}
chosen() { # the first one of the last answer
	one=$(sed -n "s/^  --region '\(.*\)' in .*/\1/p" "$TMPDIR/says.out" | head -n 1)
	omig measure Region_count --region "$one" --count 1
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
	check "$1: it can be found" says '0,\["compute_flux","functions' \
		omig request ':omig_function_find([],"compute_flux")'
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

one_flavour openmpi
one_flavour mpich

program=$B/tests/system/functions_cxx
if [ -x "$program" ]; then
	over=--oversubscribe
	begin openmpi "$program"
	refuses '2 functions are called flux::compute, name one of them' flux::compute
	refuses '2 functions are called flux::mean, name one of them: .*flux::mean<int>' flux::mean
	check 'all of them are listed' \
		says "^  --region 'function:.*flux::mean<int>.*' in functions_cxx" \
		omig measure Region_count --region function:flux::mean --count 1
	check 'of very many, the number of the others' says 'and 3 more$' \
		omig measure Region_count --region function:flux::among --count 1
	check 'and 200 of them' is_listed 200
	check 'each of them can be chosen' chosen
	# GCC inlines this constructor where it is called, although it has code of its own.
	check 'C++: calls that are not seen are mentioned' \
		says 'some calls are not seen.* 1 copies' omig measure Region_count \
		--region function:flux::made::made --count 1
	measures mean Region_count 'function:flux::mean<int>'
	measures int Region_count 'function:flux::compute(int)'
	measures double Region_count 'function:flux::compute(double)'
	check 'C++: one of them is read' until_true 30 reads_something int
	check 'C++: so is the other' until_true 30 reads_something double
	check 'C++: so is a template' until_true 30 reads_something mean
	: >"$TMPDIR/go"
	both_caught() {
		[ "$(grep -c 'caught 1000' "$TMPDIR/out")" = 2 ]
	}
	check 'C++: exceptions pass through the function' until_true 30 both_caught
	check 'C++: all calls are counted' until_true 10 counts_agree int int
	check 'C++: those of the other, too' until_true 10 counts_agree double double
	check 'C++: those of a template, too' until_true 10 counts_agree mean mean
	finish openmpi "$program"
else
	skip 'C++' 'no compiler for it with MPI'
fi
tap_end
