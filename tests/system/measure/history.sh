#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Samples of jobs on disk: while they run, after their end, and after mainsm was killed.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
f=$one_flavour

asked() { request "$@"; }
sample_is() { # PATTERN JOB
	asked ":omig_history_samples(\"$2\")" | grep -Eq "$1"
}
mainsm_pid() {
	daemon_pid mainsm
}

JOB=wind MEASURE=volume job wind "$f" 2
check 'a job runs' until_true 20 ranks_are 2
check 'it makes its calls' holds wind
check 'its first sample comes at once' until_true 20 says '\["wind","steady' asked \
	':omig_history_jobs()'
check 'its calls are in it' until_true 30 says '"MPI_Barrier","barrier",[1-9][0-9]*,[1-9]' asked \
	':omig_history_calls("wind")'
check 'each of its ranks, too' until_true 20 says '"[^ "]*:0-1",\["send",.*\],\[0,.*\],\[1,' asked \
	':omig_history_ranks("wind")'
check 'calls that are counted are said' until_true 30 \
	sample_is '\[[0-9]+,[0-9]+,2,2,2,1,0,2,2,' wind

# The history switches no counting on.
timeout $((60 * PATIENCE)) omig run --job calm -- "mpirun.$f" -n 2 "$T/steady.$f" --hold \
	"$TMPDIR/calm.go" --beat "$TMPDIR/calm.beat" >"$TMPDIR/calm.out" 2>&1 &
calm=$!
check 'a job that is not counted' holds calm
check 'has samples' until_true 20 sample_is '\[[0-9]+,[0-9]+,2,2,2,1,0,0,0,' calm
nothing_counted='^[0-9]+,[0-9]+,[1-9][0-9]*,[0-9]+,[0-9.]+,0\.0,0\.0,2,1,0,0$'
check 'without calls: they are not known' says "$nothing_counted" \
	asked ':omig_history_calls("calm")'

check 'its calls have no number' says 'calls were not counted then' omig calls --from -1h --job calm
check 'the profile of a time' says '^MPI_Barrier +[0-9.k]+ ' omig calls --from -1h --job wind
check 'several jobs are asked for' comes_out 2 'choose one with --job: (wind, calm|calm, wind)' \
	omig calls --from -1h
check 'partners are not in it' comes_out 2 'no --by' omig calls --from -1h --by partner
check 'ranks as they were' says '^ +1 +.* - +run +[0-9.]+ ' omig top --at now --job wind
check 'in JSON' says '"job":"wind","rank":1,' omig top --at now --job wind --json
check 'a time that is none' comes_out 2 'no such day or time' omig top --at 25:00
check 'an unknown word' comes_out 2 "'noon' is not a time; give 13:05, -2h" omig top --at noon
check 'a time before all' comes_out 4 'the history has no ranks' omig top --at -20d

killed=$(mainsm_pid)
kill -KILL "$killed"
another() { p=$(mainsm_pid) && [ "$p" != "$killed" ]; }
omig run -- true
check 'another mainsm' until_true 20 another
check 'has what there was' until_true 20 says '\["wind","steady' asked ':omig_history_jobs()'
: >"$TMPDIR/calm.go"
wait $calm
ended() {
	asked ':omig_history_jobs()' |
		grep -Eq '\["calm","steady[^"]*",[0-9]+,[0-9]+,[0-9]+,1,0,2,2,2,1,'
}
check 'and continues with the job: its end' until_true 40 ended
: >"$TMPDIR/wind.go"
wait "$job"
# A changed byte invalidates its block only, and mainsm has no process of the jobs any longer.
omig stop >/dev/null
until_true 10 no_leftovers
segment=$(find "$OMIG_STATE_DIR" -path '*/history/*.seg' | sort | head -n 1)
check 'there is a segment' test -s "$segment"
printf '\377' | dd of="$segment" bs=1 seek=200 conv=notrunc 2>/dev/null
omig run -- true
check 'the rest is there' until_true 20 ended
check 'jobs of before' says '^calm +steady.* ended ' omig jobs --all
check 'are none that run' says '^no job is known|^no job runs' omig jobs
tap_end
