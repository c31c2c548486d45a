#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Events of a real MPI program that is never restarted: listed, switched on from a tool, shown and
# stored. They are switched off at the end of their time, by another tool, and when their tool is
# killed. They are on again after the lm was killed.
. tests/system/lib.sh
. tests/system/faults.sh

mpi=
for f in openmpi mpich; do
	[ -z "$mpi" ] && command -v mpirun.$f >/dev/null 2>&1 && [ -x "$B/examples/blocks.$f" ] &&
		mpi=$f
done
[ -n "$mpi" ] || skip_all 'no MPI is here'
export OMPI_MCA_rmaps_base_oversubscribe=1

omig run -- "mpirun.$mpi" -n 2 "$B/examples/blocks.$mpi" --until "$TMPDIR/enough" --pause 5000 \
	</dev/null \
	>"$TMPDIR/job.out" 2>"$TMPDIR/job.err" &
job=$!
has_types() { # in both ranks
	omig events list >"$TMPDIR/types" 2>&1
	grep -Eq '^io.write +Debug +2 ' "$TMPDIR/types"
}
check 'two ranks have announced their events' until_true 60 has_types
check 'they are listed with their fields' grep -Eq \
	'^io.write .* int64 number, int32 nbytes, double ms, string file$' "$TMPDIR/types"
is_on() { # NAME N: the event is on in N processes
	omig events list | grep -Eq "^$1 +[A-Z][a-z]+ +2 +$2 "
}
check 'all are off' is_on io.write 0
check 'JSON has them too' says '"io.write"' omig events list --json
check 'no such pattern, no line' sh -c 'test "$(omig events list "none.*" | wc -l)" = 1'

# --- shown
shows() { # ARGUMENT...
	omig events tail "$@" >"$TMPDIR/shown"
}
check 'events are shown as they come' shows --count 20 'io.*'
lines() {
	line='event=io.write level=Debug .* rank=[01] .* number=[0-9]+ nbytes=[0-9]+ ms=0 '
	[ "$(grep -Ec "$line"'file=/dev/null$' "$TMPDIR/shown")" = 20 ]
}
check 'with their fields and their processes' lines
check 'then they are off' until_true 60 is_on io.write 0
check 'conditions are asked' shows --count 6 'block.sent' --where 'nbytes > 65536 and to <= 1'
asked() {
	[ "$(grep -c 'event=block.sent .* nbytes=131072 ' "$TMPDIR/shown")" = 6 ]
}
check 'and hold for each' asked
check 'library calls are events' says 'event=MPI_Bcast.end .* result=0' omig events tail --count 4 \
	'MPI_Bcast'
check 'an unknown field is a mistake' status_is 2 omig events tail 'io.*' --where 'nbytes'
check 'so is a missing pattern' status_is 2 omig events tail

# --- kept
check 'they are kept, and end when their time is over' omig events on 'io.*' --to \
	"$TMPDIR/kept.olog" --for 2s
check 'the log is whole' omig log cat "$TMPDIR/kept.olog"
numbers() { # of each rank without a gap
	omig log cat "$TMPDIR/kept.olog" | sed -n \
		's/.* rank=\([01]\) .* number=\([0-9]*\) .*/\1 \2/p' >"$TMPDIR/numbers"
	awk '{ if ($1 in last && $2 != last[$1] + 1) { print $1, last[$1], $2; exit 1 }
		last[$1] = $2; n[$1]++ }
		END { exit !(n[0] > 5 && n[1] > 5) }' "$TMPDIR/numbers"
}
check 'and no event is missing' numbers

# --- off
omig events tail 'io.*' >"$TMPDIR/tail" 2>&1 &
tail=$!
check 'a tool follows' until_true 60 is_on io.write 2
check 'another one switches off' until_true 60 omig events off 'io.*'
followed() {
	wait $tail
}
check 'the first one ends and reports the reason' followed
check 'in a sentence' grep -q 'switched off by omig_events_off' "$TMPDIR/tail"
check 'there is nothing more to switch off' status_is 4 omig events off all

omig events tail 'io.*' >"$TMPDIR/tail" 2>&1 &
tail=$!
check 'a tool follows again' until_true 60 is_on io.write 2
kill -9 $tail
check 'when it is killed they are off' until_true 60 is_on io.write 0

# --- the lm is killed: the program and its events continue
omig events on 'io.*' --to "$TMPDIR/long.olog" >"$TMPDIR/on" 2>&1 &
on=$!
check 'a tool keeps them' until_true 60 is_on io.write 2
grown() {
	[ "$(wc -c <"$TMPDIR/long.olog")" -gt "$1" ]
}
check 'and events arrive' until_true 60 grown 0
check 'the lm is killed' kill_hard lm
another() { # a rank that finds no lm starts one
	omig run -- "mpirun.$mpi" -n 1 "$B/examples/blocks.$mpi" --passes 1 </dev/null
}
check 'the next program starts another one' another
check 'with another lm they are on again' until_true 60 is_on io.write 2
before=$(wc -c <"$TMPDIR/long.olog")
check 'and its events arrive' until_true 60 grown "$before"
kill -INT $on
ends() { # events that the killed lm had read may be lost
	wait $on
	on=$?
	[ $on = 0 ] || status_is 6 sh -c "exit $on"
}
check 'the tool ends cleanly' ends
reads() { # events that the killed lm held are missing, and reported
	omig log cat "$TMPDIR/long.olog" >"$TMPDIR/cat" 2>"$TMPDIR/cat.err" ||
		grep -q 'in what is missing' "$TMPDIR/cat.err"
}
check 'what it kept can be read' reads
touch "$TMPDIR/enough"
ended() {
	wait $job
}
check 'the program has run as without Omig' ended
check 'to its end' says 'rank 1: passes [0-9]+' cat "$TMPDIR/job.out"
tap_end
