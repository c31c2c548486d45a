#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Probes of real programs, C and Fortran, Open MPI and MPICH: the functions that omig probes makes,
# the program without Omig, events with their parameters, the list of probes.
# timeout: 180
. tests/system/lib.sh

# --- the generated functions
cat >"$TMPDIR/bad.probes" <<'END'
void good(int vt, double x);
void bad(char *name);
PROBE late(VirtualTime);
END
check 'a mistake has its place' says \
	'^[^ ]*bad.probes:2:15: error: a probe takes numbers and no addresses$' \
	omig probes -o "$TMPDIR/bad.c" "$TMPDIR/bad.probes"
check 'and the next one its hint' says 'hint: PROBE late\(Process, VirtualTime, Value ...\);' \
	omig probes "$TMPDIR/bad.probes"
check 'nothing is written then' [ ! -e "$TMPDIR/bad.c" ]
check 'no file is status 4' status_is 4 omig probes "$TMPDIR/none.probes"
check 'the declarations are not overwritten' status_is 2 omig probes -o "$TMPDIR/bad.probes" \
	"$TMPDIR/bad.probes"

flavours=
for f in openmpi mpich; do
	command -v mpirun.$f >/dev/null 2>&1 && [ -x "$B/examples/loops.$f" ] &&
		flavours="$flavours $f"
done
if [ -z "$flavours" ]; then
	skip 'programs with probes' 'no MPI is here'
	tap_end
	exit 0
fi

export OMPI_MCA_rmaps_base_oversubscribe=1
alone() { # FLAVOUR PROGRAM...
	alone_mpi=$1
	shift
	timeout -k 5 $((60 * PATIENCE)) "mpirun.$alone_mpi" -n 2 "$@" </dev/null
}
for f in $flavours; do
	check "$f: runs without omig" alone "$f" "$B/examples/loops.$f" --passes 20 --log \
		"$TMPDIR/alone.$f"
done

# --- events: watch FLAVOUR EVENTS PROGRAM...
two_run() {
	[ "$(omig tree --json | tr '{' '\n' | grep '"rank":' | grep -cv '"state":"ended"')" = 2 ]
}
watch() {
	watch_mpi=$1
	shift
	rm -f "$TMPDIR/enough"
	omig run -- "mpirun.$watch_mpi" -n 2 "$@" </dev/null >"$TMPDIR/job.out" \
		2>"$TMPDIR/job.err" &
	job=$!
	until_true 60 two_run
}
# the parameters of events as "tag vt value", from lines with "tag",...
events_of() {
	sed -n "s/.*\"$1\",p_[0-9a-z_]*,\([0-9.e-]*\),\([0-9.e-]*\).*/\1 \2/p" "$TMPDIR/events"
}
residuum_is_right() {
	followed 'thread_executes_probe([],"iteration_end"): print(["it",$proc,$vt,$par2])' \
		events_are 20
	events_of it | awk \
		'{ n++; if ($2 * $1 < 0.999999 || $2 * $1 > 1.000001) exit 1 } END { exit n < 2 }'
}
vt_is_par1() {
	followed 'thread_executes_probe([],"loop_start"): print(["ls",$proc,$vt,$par1])' \
		events_are 20
	events_of ls | awk '{ n++; if ($1 != $2) exit 1 } END { exit n < 2 }'
}
no_such_probe() {
	followed 'thread_executes_probe([],"loop_strat"): print([$vt])' events_are 1
	grep -q "no process here has a probe 'loop_strat'; there are: loop_start" "$TMPDIR/events"
}

for f in $flavours; do
	check "$f: two ranks with probes are visible" watch "$f" "$B/examples/loops.$f" --passes \
		2000000 --until "$TMPDIR/enough" \
		--work 2000 --log "$TMPDIR/log.$f"
	check "$f: parameters come as the program gave them" residuum_is_right
	check "$f: the virtual time is the first of them" vt_is_par1
	check "$f: a probe that is not there" no_such_probe
	check "$f: the list of probes" says '"?iteration_end"?,\[.*int32.*float64' omig probes \
		--list
	check "$f: which is a request" says 'loop_start' omig request ':proc_get_probes([])'
	check "$f: the program ends as without Omig" enough "$job"
	passes=$(grep -c iteration_end "$TMPDIR/log.$f.0" 2>/dev/null)
	check "$f: and has noted its passes" [ "${passes:-0}" -gt 2 ]
	how=address # without an interface; by the module's with the other MPI
	[ "$f" = openmpi ] || how=module
	if [ -x "$B/tests/libapp/probes_$how.$f" ]; then
		check "$f: Fortran, $how" watch "$f" "$B/tests/libapp/probes_$how.$f" \
			"$TMPDIR/enough"
		check "$f: Fortran, $how: parameters" residuum_is_right
		check "$f: Fortran, $how: ends" enough "$job"
	else
		skip "$f: Fortran, $how" 'no Fortran compiler for it is here'
	fi
done
tap_end
