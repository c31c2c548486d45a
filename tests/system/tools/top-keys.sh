#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig top in a terminal: keys, one rank's page, a filter, another size; the program's end.
# timeout: 120
. tests/system/lib.sh
need tmux
for f in openmpi mpich; do [ -x "$(heat $f)" ] && command -v mpirun.$f >/dev/null && break; done
[ -x "$(heat "$f")" ] || skip_all 'no example program'

how=
[ $f != openmpi ] || how='--oversubscribe --mca mpi_yield_when_idle 1'
# shellcheck disable=SC2086 # words
omig run --job heat -- mpirun.$f $how -n 4 "$(heat $f)" --seconds 900 >"$TMPDIR/out" 2>&1 &
job=$!
check 'the ranks are visible' until_true 20 ranks_are 4
screen() { tmux -f /dev/null -S "$TMPDIR/tmux" "$@"; }
trap 'screen kill-server 2>/dev/null; end_all' EXIT
screen new-session -d -x 120 -y 16 "env LC_ALL=C.UTF-8 TERM=screen omig top; echo over; sleep 900"
shown() { screen capture-pane -p; }
shows() { shown | tee /dev/stderr | grep -Eq -- "$1"; }
press() { screen send-keys "$@"; }

check 'the title is the first line' until_true 20 shows '^omig top .*by rank'
check 'a line in a sentence is above the tables' until_true 20 shows \
	'^heat: 4 ranks, [0-9]+ % of the time|^! heat: rank'
check 'all ranks are there' until_true 20 shows '^ +3 +[^ ]+ +[0-9]+'
press '?'
check 'the keys are explained' until_true 20 shows 'PgUp, PgDn'
press '?' Down Down Enter
check 'one rank has a page' until_true 20 shows '^rank 2 of heat2d'
# The window shows only the call with the most time, which is not always the same.
check 'with its calls' until_true 20 shows '^MPI_[A-Z][a-z]+ +(collective|wait|send) +[0-9.]+'
check 'its partners' until_true 20 shows '^ +[13] +[0-9.]+k? +'
if omig stacks >/dev/null 2>&1; then
	check 'and its stack' until_true 20 shows ' main heat2d.c:[0-9]+'
else
	skip 'and its stack' 'no ptrace'
fi
press Escape
check 'back to all' until_true 20 shows '^4 ranks on'
press '>'
check 'another order' until_true 20 shows '^omig top .*by mpi'
press '/' 'rank<2' Enter
check 'a filter leaves two' until_true 20 shows '^2 ranks on'
check 'and is named' until_true 20 shows '^omig top .*filter rank<2'
press '/' BSpace BSpace BSpace BSpace BSpace BSpace Enter
check 'without it all are back' until_true 20 shows '^4 ranks on'
press j
check 'one job is named' until_true 20 shows '^omig top .*job heat'
screen resize-window -x 60 -y 10
check 'a smaller window has its title' until_true 20 shows '^omig top'
check 'and a number in place of ranks' until_true 20 shows '^\.\.\. .*more'
end_job() { kill $job; wait $job; true; }
check 'the program ends' end_job
check 'which is reported' until_true 20 shows '^! 4 processes have ended'
press q
check 'q ends it, and the terminal is as before' until_true 20 shows '^over'
tap_end
