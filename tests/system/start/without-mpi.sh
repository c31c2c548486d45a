#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs without MPI: their probes and events are switched on remotely. That includes later
# threads, child processes, daemons and programs after exec. One that loads MPI later becomes a
# rank. Their output is that of the unwatched programs.
# timeout: 120
. tests/system/lib.sh
. tests/system/faults.sh

# runs NAME PROGRAM MODE: watched, as job NAME, in the background, until $TMPDIR/NAME.end; $job is
# its process
runs() {
	rm -f "$TMPDIR/$1.end" "$TMPDIR/$1.pid"
	omig run --job "$1" -- "$T/$2" "$3" "$TMPDIR/$1.end" "$TMPDIR/$1.pid" </dev/null \
		>"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err" &
	job=$!
}
works() { # NAME: the pid of the working process
	cat "$TMPDIR/$1.pid"
}
bare() { # PROGRAM MODE
	: >"$TMPDIR/bare.end"
	"$T/$1" "$2" "$TMPDIR/bare.end" "$TMPDIR/bare.pid" </dev/null >"$TMPDIR/bare.out" 2>&1
}
# It ends as without Omig: the same status and output, and no message of Omig
ends_as_bare() { # NAME PROGRAM MODE
	: >"$TMPDIR/$1.end"
	wait $job
	got=$?
	bare "$2" "$3"
	want=$?
	echo "status $got, $want without us"
	[ $got = $want ] && cmp "$TMPDIR/bare.out" "$TMPDIR/$1.out" && test ! -s "$TMPDIR/$1.err"
}
is_known() { # NAME: events of the working process
	omig events list --job "$1" | grep -q '^alone.beat '
}
tells_events() { # NAME
	timeout $((20 * PATIENCE)) omig events tail alone.beat --job "$1" --count 3 \
		>"$TMPDIR/events"
	cat "$TMPDIR/events"
	grep "event=alone.beat .* pid=$(works "$1") .*number=" "$TMPDIR/events"
}
tells_probes() { # NAME: by the process that works
	token=$(omig tree --job "$1" | sed -n "s/^ *\(p_[0-9a-z_]*\) .*pid $(works "$1") .*/\1/p")
	[ -n "$token" ] || return 1
	followed "thread_executes_probe([$token],\"iteration_end\"): print([\$vt])" events_are 3
}

for mode in plain threads fork daemon exec; do
	runs $mode alone $mode
	check "$mode: it works" until_true 30 works $mode
	check "$mode: its events are known" until_true 30 is_known $mode
	check "$mode: they are switched on remotely" until_true 30 tells_events $mode
	check "$mode: they have no rank" sh -c "! grep rank= $TMPDIR/events"
	check "$mode: its probes too" until_true 30 tells_probes $mode
	check "$mode: it is not a rank" sh -c "! omig tree --job $mode | grep rank"
	check "$mode: it ends as the unwatched program" ends_as_bare $mode alone $mode
done
until_true 20 sh -c '! omig tree --job daemon | grep -q run$' # it is not a child of this shell

for mode in plain fork daemon; do
	runs probe-$mode alone-probe $mode
	check "$mode, without events: it works" until_true 30 works probe-$mode
	check "$mode, without events: its probes are switched on" until_true 30 tells_probes \
		probe-$mode
	check "$mode, without events: it ends as the unwatched program" ends_as_bare probe-$mode \
		alone-probe $mode
done

# --- a child process sets up its segment while an lm starts: omig run is stopped until the end
mkdir -p "$TMPDIR/slow/bin"
cp "$B/bin/omig" "$TMPDIR/slow/bin/omig"
ln -s "$B/bin/mainsm" "$TMPDIR/slow/bin/mainsm"
printf '#!/bin/sh\nuntil [ -e "%s/early" ]; do sleep 0.05; done\nexec "%s/bin/lm" "$@"\n' \
	"$TMPDIR" "$B" >"$TMPDIR/slow/bin/lm"
chmod 755 "$TMPDIR/slow/bin/lm"
switches() { # PID: the number of its sleeps
	sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$1/status"
}
has_slept() {
	[ "$(switches "$1")" -gt "$2" ]
}
# Its segment comes first. Then it registers, sleeping once at most. Then it works and sleeps 200
# times a second.
has_met_a_probe() { # NAME
	until_true 30 works "$1" && until_true 30 grep -q 'memfd:omig-' "/proc/$(works "$1")/maps" \
		&&
		until_true 30 has_slept "$(works "$1")" $(($(switches "$(works "$1")") + 10))
}
comes_early() ( # NAME
	omig stop >/dev/null 2>&1
	until_true 10 no_leftovers
	export OMIG_LIBRARY="$B/lib/libomig.so"
	PATH=$TMPDIR/slow/bin:$PATH
	runs "$1" alone-probe fork
	echo $job >"$TMPDIR/early.job"
	has_met_a_probe "$1"
	rc=$?
	: >"$TMPDIR/early"
	return $rc
)
ends_early() {
	: >"$TMPDIR/early-child.end"
	until_true 20 is_dead "$(cat "$TMPDIR/early.job")"
}
check 'a child process meets its first probe before the lm is ready' comes_early early-child
check 'its probes are switched on' until_true 30 tells_probes early-child
check 'it ends' ends_early

bare alone mpi
if [ $? = 77 ]; then
	skip 'MPI that is loaded later' 'no Open MPI is here'
else
	runs later alone mpi
	check 'before MPI_Init: its probes' until_true 30 tells_probes later
	is_rank() {
		omig tree --job later | grep -q 'rank 0 of 1 .*openmpi'
	}
	check 'then it is a rank' until_true 30 is_rank
	check 'its events continue' until_true 30 tells_events later
	check 'its calls are events' says 'event=MPI_Reduce_local.end' timeout $((20 * PATIENCE)) \
		omig events tail MPI_Reduce_local.end --job later --count 2
	check 'it ends as the unwatched program' ends_as_bare later alone mpi
fi
tap_end
