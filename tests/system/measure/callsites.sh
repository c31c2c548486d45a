#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig calls --callsites: calls from known places of a program (sites.c) are counted at their
# functions and lines, with inlined ones and callers. With each MPI that is here, in C and Fortran,
# while the program runs and after its end.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
line_of() { # PATTERN: its line in the planted program
	grep -n "$1" tests/system/sites.c | head -n 1 | cut -d : -f 1
}
json() {
	omig calls --job "$job" --callsites --json >"$TMPDIR/sites.json"
	sed 's/{"call"/\n&/g' "$TMPDIR/sites.json"
}
has_row() { # PATTERN...: a row has them all
	json >"$TMPDIR/rows"
	for pattern; do
		grep -E -- "$pattern" "$TMPDIR/rows" >"$TMPDIR/rows.left"
		mv "$TMPDIR/rows.left" "$TMPDIR/rows"
	done
	cat "$TMPDIR/rows"
	[ -s "$TMPDIR/rows" ] || { sed 's/{"call"/\n&/g' "$TMPDIR/sites.json"; return 1; }
}
way_two_calls_twice_as_often() {
	awk -F, '$1 == "MPI_Allreduce" && /way_one/ { one += $4 } /way_two/ { two += $4 }
		END { print one, two; exit !(one > 20 && two > 1.8 * one && two < 2.2 * one) }' \
		"$TMPDIR/live.csv"
}
is_waited_for() {
	says '"rank":1' omig tree --job "$job" --json
}

for f in $flavours; do
	rm -f "$TMPDIR/end"
	job=sites-$f
	timeout $((100 * PATIENCE)) omig run --job "$job" -- "mpirun.$f" -n 2 "$T/sites.$f" \
		"$TMPDIR/end" >"$TMPDIR/out" 2>&1 &
	run=$!
	check "$f: the program is there" until_true 30 is_waited_for
	omig calls --job "$job" --callsites --depth 3 --every 300ms --count 1000 --csv \
		>"$TMPDIR/live.csv" 2>&1 &
	live=$!
	check "$f: places are shown live, by function" until_true 30 grep -q ',leaf,' \
		"$TMPDIR/live.csv"
	check "$f: a call has its function and line" until_true 20 has_row \
		'"call":"MPI_Allreduce","function":"leaf"' \
		"\"source\":\"sites.c:$(line_of 'MPI_Allreduce(')\""
	check "$f: its callers distinguish sites" has_row '"function":"leaf"' \
		"\"callers\":\"way_one sites.c:$(line_of '^	leaf();')"
	check "$f: the other way too" has_row '"function":"leaf"' '"callers":"way_two sites.c:'
	check "$f: each is counted as often as it calls" until_true 30 \
		way_two_calls_twice_as_often
	check "$f: an inlined function is named with the one around it" has_row \
		'"call":"MPI_Barrier","function":"inlined_barrier < main"' \
		"\"source\":\"sites.c:$(line_of 'MPI_Barrier(MPI_COMM_WORLD')\""
	check "$f: a function without frames is found, and nothing is invented" has_row \
		'"call":"MPI_Bcast","function":"without_frames"'
	check "$f: a thread has a place of its own" has_row '"function":"in_thread"'
	: >"$TMPDIR/end"
	check "$f: the program ends well" wait $run
	kill $live 2>/dev/null
	wait $live
	check "$f: after the end places are still known" has_row '"function":"leaf"' \
		'"callers":"way_one sites.c:'
	check "$f: the first line says where" says \
		'^MPI_[A-Za-z]* in .* sites.c:[0-9]* takes [0-9.]* % of the time in MPI' \
		omig calls --job "$job" --callsites
	check "$f: CSV has them" says '^MPI_Allreduce,leaf,sites.c:[0-9]+,' \
		omig calls --job "$job" --callsites --csv
done
check 'a depth beyond four is refused' status_is 2 omig calls --callsites --depth 5

for f in $flavours; do
	if ! command -v "mpif90.$f" >/dev/null; then
		skip "$f: Fortran" "mpif90.$f is not here"
		continue
	fi
	cat >"$TMPDIR/f.f90" <<'END'
program f
	use mpi
	integer :: ierr, i
	logical :: over
	call MPI_Init(ierr)
	over = .false.
	do while (.not. over)
		call meet()
		inquire(file='go', exist=over)
	end do
	call MPI_Finalize(ierr)
contains
	subroutine meet()
		call MPI_Barrier(MPI_COMM_WORLD, ierr)
	end subroutine
end program
END
	check "$f: Fortran: the program is built" "mpif90.$f" -g -O0 -o "$TMPDIR/f.$f" \
		"$TMPDIR/f.f90"
	job=fortran-$f
	(cd "$TMPDIR" && exec timeout $((60 * PATIENCE)) omig run --job "$job" -- "mpirun.$f" -n 1 \
		"$TMPDIR/f.$f") >"$TMPDIR/out" 2>&1 &
	run=$!
	check "$f: Fortran: it runs" until_true 30 says '"rank":0' omig tree --job "$job" --json
	check "$f: Fortran: the line of the call is found" until_true 20 says \
		'^MPI_Barrier .*meet.* +f.f90:14 ' omig calls --job "$job" --callsites --for 300ms
	: >"$TMPDIR/go"
	wait $run
	rm -f "$TMPDIR/go"
done
tap_end
