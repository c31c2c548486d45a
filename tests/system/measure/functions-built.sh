#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Functions as regions in programs of several compilers and options. Counts are the program's own,
# and its output is that without Omig. Its code is that of the file afterwards.
# timeout: 120
. tests/system/lib.sh
. tests/system/functions.sh
own_host
over=--oversubscribe

ends_as_bare() { # PROGRAM
	: >"$TMPDIR/bare.go"
	mpirun.openmpi -n 1 "$1" "$TMPDIR/bare.go" "$TMPDIR/bare.go" </dev/null \
		>"$TMPDIR/bare.out" 2>/dev/null && cmp "$TMPDIR/bare.out" "$TMPDIR/out"
}
done_with_work() {
	[ -s "$TMPDIR/out" ]
}
is_count() { # NAME COUNT
	[ "$(last_of "$1" 0)" = "$2" ]
}
switched_on() { # FUNCTION WAY
	says "\"$2\"" omig request ":omig_function_on([],\"$1\")"
}

# built HOW WAY: counts two functions
built() {
	program=$B/tests/system/functions_built.$1
	if [ ! -x "$program" ]; then
		skip "$1" 'no compiler for it'
		return
	fi
	begin openmpi "$program" 1
	check "$1: the entry is \"$2\"" switched_on compute_flux "$2"
	check "$1: the code is that of the file once the tool has ended" \
		until_true 10 is_as_the_file "$pid" "$program"
	measures flux Region_count function:compute_flux
	measures quits Region_count function:quits
	check "$1: compute_flux is read" until_true 30 reads_something flux 1
	check "$1: quits is read" until_true 30 reads_something quits 1
	: >"$TMPDIR/go"
	check "$1: the program does its work" until_true 30 done_with_work
	check "$1: all calls are counted" until_true 10 is_count flux 20000
	check "$1: so are those that pthread_exit() ends" until_true 10 is_count quits 50
	refuses 'code elsewhere leads into the bytes that change' jumped_near
	refuses 'code elsewhere leads into the bytes that change' jumped_far
	finish openmpi "$program"
	check "$1: its output is that without Omig" ends_as_bare "$program"
}

built plain moved
built sled sled
built instrumented moved
built slow moved
built xray sled

program=$B/tests/system/functions_built.stripped
if [ -x "$program" ]; then
	begin openmpi "$program" 1
	refuses 'its file has been stripped' compute_flux
	refuses 'the file has been stripped' wait_for
	check 'stripped: its code is that of the file' is_as_the_file "$pid" "$program"
	: >"$TMPDIR/go"
	: >"$TMPDIR/end"
	check 'stripped: the program ends well' wait "$job"
	check 'stripped: its output is that without Omig' ends_as_bare "$program"
else
	skip stripped 'no compiler for it'
fi

program=$B/tests/system/functions_fortran
if [ -x "$program" ]; then
	begin openmpi "$program" 1
	refuses 'no file of the process has a function' flux::missing
	measures inner Region_count function:flux::compute
	measures outer Region_count function:outside
	for name in inner outer; do
		check "Fortran: $name is read" until_true 30 reads_something $name 1
	done
	refuses 'it is on already, under another name' FLUX::Compute
	: >"$TMPDIR/go"
	check 'Fortran: the program does its work' until_true 30 done_with_work
	check 'Fortran: procedures of a module are counted' until_true 10 is_count inner 1000
	check 'Fortran: external procedures, too' until_true 10 is_count outer 300
	finish openmpi "$program"
else
	skip Fortran 'no compiler for it with MPI'
fi
tap_end
