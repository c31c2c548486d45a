#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig calls: its sums are those of an independent count of the same run (foreign/tally.c). With
# each MPI that is here; while a program runs and after its end.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
F=$B/tests/system/foreign
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 \
	OMPI_MCA_hwloc_base_binding_policy=none
echo 'LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$TALLY_LIBRARY exec "$@"' >"$TMPDIR/beside"

all_ended() { # JOB N
	n=$(omig tree --job "$1" --json | grep -o '"state":"ended"[^}]*"rank":[0-9]' | wc -l)
	[ "$n" = "$2" ]
}
# "NAME calls out in", as the tally counts calls that Omig watches
tallied() {
	cut -d ' ' -f 1 "$TMPDIR/seen" >"$TMPDIR/names"
	cat "$TMPDIR"/tally.[0-9]* | awk '{ n[$3] += $5; o[$3] += $7; i[$3] += $9 }
		END { for (name in n) print name, n[name], o[name], i[name] }' |
		grep -wFf "$TMPDIR/names" | sort
}
sums_equal_the_tally() { # JOB
	omig calls --job "$1" --csv | awk -F, 'NR > 1 { print $1, $3, $14, $15 }' |
		sort >"$TMPDIR/seen"
	tallied >"$TMPDIR/tallied"
	[ -s "$TMPDIR/seen" ] && diff "$TMPDIR/tallied" "$TMPDIR/seen"
}
sums='"calls":\([0-9]*\),.*"longest_.*"bytes_out":\([0-9]*\),"bytes_in":\([0-9]*\),"timed.*'
sums_of_ranks_equal_those_of_calls() { # JOB
	for by in call rank node; do
		omig calls --job "$1" --by $by --json |
			sed -n "s/.*$sums/\\1 \\2 \\3/p" ||
			return 1
	done | sort -u | tee "$TMPDIR/sums"
	[ "$(wc -l <"$TMPDIR/sums")" = 1 ]
}
# Each call that moves bytes counts in one class of sizes, so the classes add up to the calls.
sizes_are_whole() { # JOB
	omig calls --job "$1" --by size --csv | tee "$TMPDIR/sizes" | awk -F, 'NR > 1 {
		n[$1] += $5; bad += $11 < $3 * $5 || ($4 != "" && $11 > $4 * $5)
	} END { for (name in n) print name, n[name]; exit bad }' | sort >"$TMPDIR/sized" || return 1
	omig calls --job "$1" --csv | awk -F, 'NR > 1 { print $1, $3 }' | sort >"$TMPDIR/all"
	grep -q "^MPI_Allreduce " "$TMPDIR/sized" && cat "$TMPDIR/sizes" &&
		[ -z "$(comm -23 "$TMPDIR/sized" "$TMPDIR/all")" ]
}
no_call_is_beyond_min_and_max() { # JOB: of the mean
	omig calls --job "$1" --csv | tee "$TMPDIR/extents" | awk -F, 'NR > 1 {
		n++; bad += !($8 > 0) || $8 > $7 || $9 < $7
	} END { exit bad || !n }'
}
shares_are_whole() {
	omig calls --job "$1" --csv | awk -F, 'NR > 1 { s += $5; bad += $6 < 0 || $6 > 100 }
		END { print s, bad; exit bad || s < 99.99 || s > 100.01 }'
}
interval_has_calls() {
	omig calls --job "$1" --every 200ms --count 2 --csv | tee "$TMPDIR/every" |
		awk -F, '$1 == "MPI_Allreduce" && $3 > 0 { n++ } END { exit n != 2 }'
}

for f in $flavours; do
	export TALLY="$TMPDIR/tally" TALLY_LIBRARY="$F/libtally.$f.so"
	rm -f "$TMPDIR"/tally.*
	check "$f: a program runs under both counts" timeout $((60 * PATIENCE)) \
		omig run --job "short-$f" --measure=volume -- "mpirun.$f" -n 3 sh "$TMPDIR/beside" \
		"$(heat "$f")" --seconds 1
	check "$f: its ranks have ended" until_true 20 all_ended "short-$f" 3
	check "$f: calls and bytes are those of the independent count" \
		sums_equal_the_tally "short-$f"
	check "$f: calls by size are all calls that move bytes" sizes_are_whole "short-$f"
	check "$f: the mean of a call lies between its shortest and its longest" \
		no_call_is_beyond_min_and_max "short-$f"
	check "$f: the first line is in a sentence, the second says that it is over" says \
		'^job short-.*: 3 ranks on 1 node, measured for up to .*; 3 have ended$' \
		omig calls --job "short-$f"
	check "$f: ranks, nodes and calls have the same sums" \
		sums_of_ranks_equal_those_of_calls "short-$f"
	check "$f: shares are of the whole" shares_are_whole "short-$f"

	rm -f "$TMPDIR/enough"
	# shellcheck disable=SC2086,SC2154 # words, of lib.sh
	timeout $((100 * PATIENCE)) omig run --job "long-$f" -- "mpirun.$f" -n 3 "$(heat "$f")" \
		$as_long_as_needed >"$TMPDIR/out" 2>&1 &
	run=$!
	check "$f: a job runs that nothing counts" until_true 30 says '"rank":2' \
		omig tree --job "long-$f" --json
	check "$f: it is the job that is meant, and is counted for a while" says \
		'^job long-.*: 3 ranks on 1 node, measured for up to' omig calls --for 500ms
	check "$f: each interval stands for itself" interval_has_calls "long-$f"
	check "$f: pairs of ranks have bytes" says '^0,1,[1-9][0-9]*,' \
		omig calls --by partner --for 500ms --csv
	check "$f: the program ends well" enough $run
	check "$f: its values are there" says 'takes [0-9.]* % of the time in MPI' \
		omig calls --job "long-$f"
done
check 'several ended jobs are not mixed' says 'choose one with --job: ' omig calls
check 'which is a mistake of use' status_is 2 omig calls
check 'a job that is not there is not found' status_is 4 omig calls --job none
check 'errors are JSON too' says '^\{"error":\{"status":2,' omig calls --json --by colour
check 'contradictions are refused' status_is 2 omig calls --total --every 1s
tap_end
