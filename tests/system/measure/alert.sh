#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Alerts of real programs: a planted slow rank, a stopped rank, and conditions that do not
# hold.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
f=$one_flavour

alert() {
	timeout $((30 * PATIENCE)) omig alert --every 1s "$@"
}
check 'a name that is nearly one' comes_out 2 "did you mean 'imbalance'" omig alert \
	'imbalanse > 3 %'

# shellcheck disable=SC2086 # words
timeout $((100 * PATIENCE)) omig run --job slow -- "mpirun.$f" -n 3 "$(heat "$f")" \
	$as_long_as_needed --slow-rank 1 >"$TMPDIR/slow.out" 2>&1 &
slow=$!
check 'a program with a slow rank' until_true 30 ranks_are 3
check 'the slow rank fires' says '^[0-9:]+ imbalance [0-9.]+ % \(rank 1 computes 0\.[0-9]+, mean' \
	alert 'imbalance > 20 % for 2s' --job slow --once
check 'in JSON' says '"state":"firing","condition":"imbalance > 20 %","job":"slow",.*"rank":1,' \
	alert 'imbalance > 20 %' --job slow --once --json
alert 'rss > 1 KB' --once --exec 'cat >"$TMPDIR/hook"; echo "$OMIG_ALERT_STATE $OMIG_ALERT_RANK" \
	>>"$TMPDIR/hook"' >"$TMPDIR/rss.out" 2>&1
check 'a command is started' until_true 10 says '^firing [0-2]$' cat "$TMPDIR/hook"
check 'with the line' says '^rss [0-9.e+]+ KB' cat "$TMPDIR/hook"
check 'a metric a second' says '^[0-9:]+ Collective_count [0-9.]+/s' alert \
	'Collective_count > 1 /s' --once
check 'an expression' says '^[0-9:]+ Collective_count / MPI_Waitall_count [0-9.]+' alert \
	'Collective_count / MPI_Waitall_count > 0.1' --once
timeout 6 omig alert 'Send_volume > 1000 TB/s' --every 1s >"$TMPDIR/none.out" 2>&1
check 'a condition that does not hold prints nothing' test ! -s "$TMPDIR/none.out"
timeout 6 omig alert 'hang for 1s' --every 1s >"$TMPDIR/none.out" 2>&1
check 'a program that runs does not hang' test ! -s "$TMPDIR/none.out"
omig alert 'Send_volume > 1000 TB/s' --job slow --once >"$TMPDIR/end.out" 2>&1 &
ending=$!
enough $slow
wait $ending
check 'the end of a job ends its alert' test $? = 1
check 'and reports that' says 'job slow has ended' cat "$TMPDIR/end.out"

JOB=still job still "$f" 2
check 'a job' holds still
kill -STOP "$(cat "$TMPDIR/still.pid.1")"
check 'a stopped rank is a hang' says '^[0-9:]+ hang still: .* without 1$' alert \
	'hang for 3s' --job still --once
kill -CONT "$(cat "$TMPDIR/still.pid.1")"
end_job still "$job"
tap_end
