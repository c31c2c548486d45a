#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig attach enters Fortran programs, which call MPI by the modules mpi and mpi_f08.
# timeout: 120
. tests/system/lib.sh
. tests/system/faults.sh

start() {
	over=
	[ "$f" = openmpi ] && over=--oversubscribe
	rm -f "$TMPDIR/enough" "$TMPDIR/result"
	mpirun.$f $over -n 2 "$T/summing_fortran.$f" "$TMPDIR/enough" >"$TMPDIR/result" 2>&1 &
	job=$!
}

ends_right() {
	: >"$TMPDIR/enough"
	wait $job
	status=$?
	cat "$TMPDIR/result"
	[ $status = 0 ] && [ "$(cat "$TMPDIR/result")" = '0 wrong' ]
}

are_listed() { [ "$(omig attach | grep -c "summing_fortran.$f .*unwatched")" = 2 ]; }
are_watched() { says '^2 of 2 processes are watched' omig attach $job; }
are_detached() { says '^2 of 2 processes are detached' omig detach $job; }
# The calls of both modules have reached libomig.
are_called() {
	omig calls >"$TMPDIR/calls"
	for call in MPI_Isend MPI_Irecv MPI_Waitall MPI_Allreduce MPI_Sendrecv MPI_Bcast; do
		grep -q "^ *$call .*[1-9]" "$TMPDIR/calls" || return 1
	done
}

omig status >/dev/null 2>&1
for f in openmpi mpich; do
	if ! [ -x "$T/summing_fortran.$f" ] || ! command -v mpirun.$f >/dev/null; then
		skip "$f: attach" "no Fortran compiler of $f"
		continue
	fi
	start
	check "$f: ranks that run unwatched are listed" until_true 20 are_listed
	omig attach $job >"$TMPDIR/first" 2>&1
	if grep -q 'ptrace_scope\|x86-64' "$TMPDIR/first"; then
		ends_right
		skip_all "$(cat "$TMPDIR/first")"
	fi
	check "$f: they are watched" until_true 60 are_watched
	check "$f: calls of both modules are counted" until_true 20 are_called
	check "$f: and what they send" until_true 20 says ' [1-9][0-9.]* k?B 2/2' \
		omig measure Send_volume --count 2
	check "$f: they are detached" until_true 60 are_detached
	check "$f: and attached once more" until_true 60 are_watched
	check "$f: the program's results are right" ends_right
done
tap_end
