#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Output that commands show on a terminal only: pipes, files and JSON do not have it.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
need python3
cat >"$TMPDIR/terminal.py" <<'END'
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
END
on_terminal() { # COMMAND...: its output is in the file said
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
check 'the ranks are visible' until_true 30 ranks_are 2

# --- names in place of tokens
check 'a reply has ranks' terminal_says '^rank1@[^ ]+: 1' omig request ':proc_get_info([],1)'
in_order() {
	on_terminal omig request ':proc_get_info([],1)'
	[ "$(grep -o '^rank[01]@' "$TMPDIR/said" | tr -d '\n')" = rank0@rank1@ ]
}
check 'in the order of their numbers' in_order
check 'a value has them too' terminal_says '\[rank1@[^],]+,' omig request ':omig_tree()'
check 'an event has ranks' terminal_says "rank[01]@" omig request --follow 2s \
	'thread_has_started_lib_call([],"MPI_Barrier"): print([$proc])'
check 'tokens are there when they are wanted' terminal_says '^p_[^ ]+: 1' omig request --tokens \
	':proc_get_info([],1)'
check 'and in a pipe' says '^p_[^ ]+: 1' omig request ':proc_get_info([],1)'
check 'and in JSON' terminal_says '"objects":\["p_' omig request --json ':proc_get_info([],1)'
# --- progress of commands that take longer than two seconds
terminal_lacks() { # PATTERN COMMAND...: which works
	pattern=$1
	shift
	on_terminal "$@" && ! grep -Eq -- "$pattern" "$TMPDIR/said"
}
check 'omig calls says how long it measures' terminal_says \
	'omig: measuring, [0-9]+ s of 2\.5 s; ctrl-C shows the results so far' omig calls --for 2.5s
check 'omig waits says how long it counts' terminal_says 'omig: counting, [0-9]+ s of 2\.5 s' \
	omig waits --every 2.5s
check 'omig matrix, too' terminal_says 'omig: counting, [0-9]+ s of 2\.5 s' omig matrix \
	--every 2.5s
check 'omig measure says when its first interval ends' terminal_says \
	'omig: waiting for the first interval, [0-9]+ s of 2\.5 s' omig measure Send_count \
	--every 2.5s --count 1
check 'omig top says how long it samples' terminal_says 'omig: sampling, [0-9]+ s of 2\.5 s' \
	omig top --once --every 2.5s
check 'omig request says that it waits' terminal_says 'omig: waiting for events, [0-9]+ s of 3 s' \
	omig request --follow 3s 'thread_has_started_lib_call([],"MPI_Test"): print([$proc])'
check 'omig alert says that it watches' terminal_says 'omig: watching, [0-9]+ s; ctrl-C ends it' \
	timeout $((3 * PATIENCE)) omig alert 'imbalance > 99 %'
check 'a short command shows nothing' terminal_lacks 'omig: (counting|measuring)' omig calls \
	--for 500ms
check 'nor does JSON' terminal_lacks 'omig: (counting|measuring)' omig waits --every 2.5s --json
check 'nor CSV' terminal_lacks 'omig: (counting|measuring)' omig matrix --every 2.5s --csv
quiet_in_a_pipe() { # the messages are on a terminal, the result is not
	terminal_lacks 'omig: (counting|measuring)' sh -c 'omig calls --for 2.5s | cat'
}
check 'nor a command in a pipe' quiet_in_a_pipe
: >"$TMPDIR/end"
check 'the program ends well' wait $job
tap_end
