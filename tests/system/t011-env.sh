#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig env and omig exec: the same without a wrapper.
# timeout: 120
. tests/system/lib.sh
need mpirun.openmpi
program=$(heat openmpi)
[ -x "$program" ] || skip_all 'no example program'

before=$(env | grep -E '^(OMIG_(MAINSM|LM|JOB|START|SITE)|LD_PRELOAD|OMPI_MCA_mca)' | sort)
omig env --measure=count --job=mine >"$TMPDIR/env"
check 'it prints exports only' sh -c '! grep -v "^export [A-Z]" "$1"' sh "$TMPDIR/env"
check 'values are quoted' grep -q "^export LD_PRELOAD='/.*libomig.so'" "$TMPDIR/env"
# shellcheck disable=SC1091 # made above
. "$TMPDIR/env"
# shellcheck disable=SC2086 # words
mpirun.openmpi -n 2 --oversubscribe --mca mpi_yield_when_idle 1 "$program" $as_long_as_needed >"$TMPDIR/out" 2>"$TMPDIR/err" &
job=$!
check 'both ranks come up' until_true 20 ranks_are 2
check 'under the name of the job' says 'job mine' omig tree
check 'counting was on from the start' says '\[.*,"(collective|send)",[1-9]' omig request ':omig_calls_read([],1)'
enough $job
status=$?
check 'the program is not disturbed' test $status = 0
rm "$TMPDIR/enough"

omig env --unset >"$TMPDIR/unset"
check '--unset unsets each' sh -c 'n=$(wc -l <"$1"); test "$n" -ge 6' sh "$TMPDIR/unset"
# shellcheck disable=SC1091
. "$TMPDIR/unset"
after=$(env | grep -E '^(OMIG_(MAINSM|LM|JOB|START|SITE)|LD_PRELOAD|OMPI_MCA_mca)' | sort)
check 'and leaves the environment as it was' test "$before" = "$after"

# shellcheck disable=SC2086 # words
mpirun.openmpi -n 2 --oversubscribe --mca mpi_yield_when_idle 1 omig exec -- "$program" $as_long_as_needed >"$TMPDIR/out" 2>&1 &
job=$!
check 'omig exec: both ranks come up' until_true 20 ranks_are 2
enough $job
status=$?
check 'omig exec: the exit status is the program'"'"'s' test $status = 0
check '--json: one object' says '^[{]"OMIG_MAINSM":"omig1:.*"OMIG_JOB":"mine".*[}]$' omig env --no-start --job=mine --json
check 'stop --json: the reply' says '^[{]"status":"OK"' omig stop --json
check '--no-start without a mainsm fails' sh -c 'omig stop; OMIG_STATE_DIR=$TMPDIR/none omig env --no-start; test $? = 3'
tap_end
