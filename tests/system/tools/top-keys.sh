#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig top in a terminal: keys, one rank's page, a filter, another size; the program's end.
# timeout: 120
. tests/system/lib.sh
. tests/system/screen.sh

opens 120 16 "omig top"
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
check 'the program ends' end_job
check 'which is reported' until_true 20 shows '^! 4 processes have ended'
press q
check 'q ends it, and the terminal is as before' until_true 20 shows '^over'
tap_end
