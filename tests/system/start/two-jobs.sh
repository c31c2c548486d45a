#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two applications under one mainsm, distinguished by name.
# timeout: 120
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
f=$one_flavour

job_named() { # NAME RANKS
	timeout $((100 * PATIENCE)) omig run --job="$1" -- "mpirun.$f" -n "$2" "$T/steady.$f" \
		--hold "$TMPDIR/$1.go" --beat "$TMPDIR/$1.beat" \
		>"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err" &
}
count_is() { # N WHAT COMMAND...
	want=$1 what=$2
	shift 2
	"$@" >"$TMPDIR/count.out"
	cat "$TMPDIR/count.out"
	[ "$(grep -o -- "$what" "$TMPDIR/count.out" | wc -l)" = "$want" ]
}

job_named wind 2
until_true 30 ranks_are 2
job_named rain 3
check 'both are watched' until_true 30 ranks_are 5
jobs_are() { omig jobs "$@" | tee "$TMPDIR/jobs"; }
check 'both are jobs' says '^2 jobs run on 1 node, with 5 ranks$' jobs_are
check 'each with its ranks' says '^wind +steady.* 1 +2 +2 +[0-2]/2 +[0-9.]+s +run$' jobs_are
check 'and the other with its own' says '^rain +steady.* 1 +3 +3 +[0-3]/3 +[0-9.]+s +run$' jobs_are
check 'the tree of one has its ranks' count_is 2 '"rank":[0-9]' omig tree --job wind --json
check 'and names nothing of the other' count_is 0 'rain' omig tree --job wind --json
check 'that of the other as well' count_is 3 '"rank":[0-9]' omig tree --job rain --json
check 'all processes of one are attached by its name' count_is 2 'p_1_[0-9a-z]*' omig request \
	--job wind ':proc_get_info([],1)'
check 'those of the other by its own' count_is 3 'p_1_[0-9a-z]*' omig request --job rain \
	':proc_get_info([],1)'
check 'without a name all are' count_is 5 'p_1_[0-9a-z]*' omig request ':proc_get_info([],1)'
check 'omig top shows the one' count_is 3 '"token":"p_1_' omig top --once --json --job rain
check 'a rank is one of the job that is asked' count_is 2 'rank[01]@' omig measure Send_count \
	--objects 0,1 --by process \
	--job rain --count 1
check 'rank 2 is in one of them only' says 'rain:rank2@.* 1/1' omig measure Send_count --objects 2 \
	--by process --count 1
check 'a rank of both is refused' status_is 2 omig measure Send_count --objects 0 --count 1
check 'with the jobs that have it' says 'rank 0: choose one with --job: (wind, rain|rain, wind)' \
	omig measure Send_count --objects 0 --count 1
check 'partners are ranks of the own job' count_is 13 ':rank[0-9]@[^ ,]* -> ' omig measure \
	Send_count --by process,partner --count 1 --csv
check 'a name that no job has' status_is 4 omig request --job snow ':proc_get_info([],1)'
check 'in the tree too' status_is 4 omig tree --job snow
check 'a name that would be more than one' status_is 4 omig request --job 'wind") print("x' \
	':proc_get_info([],1)'
steady=$(basename "$T/steady.$f")
check 'the name of a program is a job, unless it is of two' comes_out 2 \
	"'$steady' fits several jobs, choose one of them: (wind, rain|rain, wind)" omig tree \
	--job "$steady"
check 'in each command with a job' status_is 2 omig measure Send_count --job "$steady" -n 1
: >"$TMPDIR/wind.go"
one_is_left() { omig jobs | grep -q '^1 job runs'; }
check 'one ends' until_true 20 one_is_left
check 'then it is the other' says '"token":"p_1_' omig top -1 --json --job "$steady"
check 'with its ranks alone' count_is 3 'rank[0-9]@' omig measure Send_count --by process \
	--job "$steady" --count 1
: >"$TMPDIR/rain.go"
wait
has_ended() { omig tree --job wind | grep -q 'ended'; }
check 'a job ends' until_true 20 has_ended
both_have_ended() { omig jobs | grep -q '^no job runs; 2 have ended'; }
check 'both have ended' until_true 20 both_have_ended
check 'jobs that have ended are shown on request' says \
	'^wind +steady.* 2 +2 +- +[0-9.]+s +ended [0-9.]+s ago$' omig jobs --all
check 'what is measured of it is not there' comes_out 4 "job 'wind' has ended" omig measure \
	Send_count --job wind
check 'with --count it is waited for' says ' 1 all - calls 0/0 missing' omig measure Send_count \
	--job wind --count 1
tap_end
