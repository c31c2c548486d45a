#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What commands show on a terminal alone. Pipes, files and JSON do not have it.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
need python3
cat >"$TMPDIR/terminal.py" <<'END'
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
END
on_terminal() { # COMMAND...: what it says there is in the file said
	TERM=xterm python3 "$TMPDIR/terminal.py" "$@" </dev/null >"$TMPDIR/said" 2>&1
	on_terminal_rc=$?
	cat "$TMPDIR/said"
	return $on_terminal_rc
}
terminal_says() { # PATTERN COMMAND...
	pattern=$1
	shift
	on_terminal "$@"
	grep -Eq -- "$pattern" "$TMPDIR/said"
}
f=$one_flavour
watched_steady "$f" 2 --hold "$TMPDIR/end" >"$TMPDIR/out" 2>&1 &
job=$!
check 'the ranks come up' until_true 30 ranks_are 2

# --- names in place of tokens
check 'a reply has ranks' terminal_says '^rank1@[^ ]+: 1' omig request ':proc_get_info([],1)'
check 'a value has them too' terminal_says '\[rank1@[^],]+,' omig request ':omig_tree()'
check 'an event has ranks' terminal_says "rank[01]@" omig request --follow 2s \
	'thread_has_started_lib_call([],"MPI_Barrier"): print([$proc])'
check 'tokens are there when they are wanted' terminal_says '^p_[^ ]+: 1' omig request --tokens \
	':proc_get_info([],1)'
check 'and in a pipe' says '^p_[^ ]+: 1' omig request ':proc_get_info([],1)'
check 'and in JSON' terminal_says '"objects":\["p_' omig request --json ':proc_get_info([],1)'
: >"$TMPDIR/end"
check 'the program ends well' wait $job
tap_end
