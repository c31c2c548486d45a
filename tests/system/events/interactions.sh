#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Messages of an MPI program as events, switched on from afar when it has sent some already. A send
# and its receive have the same id in the log. Without --interactions there are no such events.
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
export OMPI_MCA_rmaps_base_oversubscribe=1
mpi=$one_flavour

begin() { # OPTION...
	rm -f "$TMPDIR"/p.*
	omig run "$@" -- "mpirun.$mpi" -n 2 "$T/phased.$mpi" "$TMPDIR/p" </dev/null \
		>"$TMPDIR/job.out" 2>"$TMPDIR/job.err" &
	job=$!
}
phase() { # NUMBER: begins it, and waits for its end
	echo $1 >"$TMPDIR/p.phase.new" && mv "$TMPDIR/p.phase.new" "$TMPDIR/p.phase"
	until_true 60 has_done $1
}
has_done() {
	[ "$(cat "$TMPDIR/p.log.0" "$TMPDIR/p.log.1" | grep -c "^$1 ")" = 2 ]
}
types() { # PATTERN
	omig events list 'interaction.*' >"$TMPDIR/types" 2>&1
	cat "$TMPDIR/types"
	grep -Eq "$1" "$TMPDIR/types"
}
end_job() {
	: >"$TMPDIR/p.go"
	wait $job
}

begin --interactions
check 'two ranks have announced their vertices' until_true 60 types \
	'^interaction.send +Info +2 +0 .* int64 new, int32 to, int32 uncertain'
check 'messages are sent before they are recorded' phase 1
omig events on 'interaction.*' --to "$TMPDIR/run.olog" >"$TMPDIR/on.out" 2>&1 &
on=$!
check 'they are switched on' until_true 60 types '^interaction.send +Info +2 +2 '
check 'messages are sent' phase 2
check 'and more of them' phase 3
check 'the program ends well' end_job
kill -INT $on 2>/dev/null
wait $on
check 'the log can be read' omig log cat "$TMPDIR/run.olog"
omig log cat "$TMPDIR/run.olog" >"$TMPDIR/text" 2>&1
field() { # EVENT FIELD
	sed -n "s/.*event=interaction.$1 .* $2=\([0-9]*\).*/\1/p" "$TMPDIR/text" | sort
}
matched() { # two phases of 10 and of 20 messages and one persistent one of each rank
	field send new >"$TMPDIR/sent"
	field receive with >"$TMPDIR/received"
	wc -l <"$TMPDIR/sent"
	diff "$TMPDIR/sent" "$TMPDIR/received" && [ "$(uniq "$TMPDIR/sent" | wc -l)" = 64 ]
}
check 'each send has its receive' matched
check 'and none is uncertain' sh -c "! grep -q uncertain=1 '$TMPDIR/text'"

begin
check 'without --interactions two ranks are visible' until_true 60 sh -c \
	'omig tree --depth processes | grep -q "rank 1 of 2"'
announces_nothing() {
	omig events list 'interaction.*' >"$TMPDIR/types" && ! grep interaction "$TMPDIR/types"
}
check 'and have announced nothing' announces_nothing
check 'that program ends well, too' end_job
tap_end
