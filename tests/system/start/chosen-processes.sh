#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs without libomig: scripts, Python, OpenMP, a static one. Programs that omig run and omig
# exec start are in the tree, with children, job and processor time. Values that need MPI are
# unknown, not 0.
# timeout: 120
. tests/system/lib.sh
. tests/system/faults.sh

in_job() { # JOB PATTERN: of lines of the tree that run
	omig tree --job "$1" | grep 'run$' | grep -Eq "$2"
}
not_in_job() {
	! in_job "$1" "$2"
}

# --- a script and its children
cat >"$TMPDIR/script.sh" <<'END'
#!/bin/sh
"$1" "$3" &
python3 -c 'import os, sys, time
while not os.path.exists(sys.argv[1]):
    sum(range(20000))
    time.sleep(0.002)' "$3" &
"$2" "$3" &
(exec sh -c 'until [ -e "$0" ]; do sleep 0.2; done' "$3") &
wait
echo over
exit 7
END
chmod 755 "$TMPDIR/script.sh"
omig run --job script -- "$TMPDIR/script.sh" "$T/parallel" "$T/parallel-static" \
	"$TMPDIR/script.end" </dev/null \
	>"$TMPDIR/script.out" 2>"$TMPDIR/script.err" &
job=$!
check 'a script is watched by its name' until_true 30 in_job script ' script.sh '
check 'an OpenMP program below it' until_true 30 in_job script ' parallel '
check 'with its threads' until_true 30 sh -c \
	'[ "$(omig tree --job script | grep -A3 " parallel " | grep -c " tid ")" -ge 3 ]'
check 'a static program' until_true 30 in_job script ' parallel-static '
check 'Python' until_true 30 in_job script ' python3'
check 'none of them is a rank' sh -c '! omig tree --job script | grep " rank "'
token() { # NAME
	omig tree --job script | sed -n "s/^ *\(p_[0-9a-z_]*\) .* $1 .*run\$/\1/p" | head -n 1
}
uses_cpu() { # NAME
	omig measure CPU_usage --objects "$(token "$1")" --count 3 >"$TMPDIR/cpu"
	cat "$TMPDIR/cpu"
	grep -Eq ' (0\.[0-9]*[1-9]|[1-9])[0-9.]* % ' "$TMPDIR/cpu"
}
check 'processor time of Python is measured' until_true 30 uses_cpu 'python3[0-9.]*'
check 'processor time of OpenMP is measured' until_true 30 uses_cpu parallel
check 'top has names in place of ranks, and no number of MPI' says \
	'^ *parallel +[^ ]+ +[0-9]+ +[a-z]+ +- +- +- +- +- +- ' \
	omig top --job script --once
check 'totals neither' says '^ *parallel +[^ ]+ +[0-9]+ +[a-z]+ +- +- +- +- +- +- ' \
	omig top --job script --once --total
check 'top counts processes' says '^[0-9]+ processes on 1 node' omig top --job script --once
check 'calls of all are those of no process' says '^OK$' omig request ':omig_calls_read([])'
check 'of one that is named there are none' status_is 4 omig request \
	":omig_calls_read([$(token parallel)])"
check 'no figure of MPI can be measured' status_is 2 omig measure Send_volume --job script --count 1
check 'of one that is named it is -' says ' - B 0/1' omig measure Send_volume --objects \
	"$(token parallel)" --count 1
thread() {
	omig tree --job script | grep -A1 "$(token parallel-static)" |
		sed -n 's/^ *\(t_[^ ]*\).*/\1/p'
}
check 'its stack can be seen' says '\[[0-9]+,[0-9]+' omig request \
	":thread_get_backtrace([$(thread)],3)"
check 'no event is listed' status_is 0 omig events list --job script
: >"$TMPDIR/script.end"
ended() { # its status and output are unchanged
	wait $job
	[ $? = 7 ] && [ "$(tail -n 1 "$TMPDIR/script.out")" = over ] &&
		test ! -s "$TMPDIR/script.err"
}
check 'it ends as without Omig' ended
check 'the tree has its status' until_true 20 sh -c \
	'omig tree --job script | grep -q "script.sh .* ended (status 7)"'

# --- exec of another program
omig run --job exec -- sh -c 'until [ -e "$0.go" ]; do sleep 0.1; done; exec "$1" "$0.end"' \
	"$TMPDIR/exec" "$T/parallel" </dev/null \
	>"$TMPDIR/exec.out" 2>&1 &
job=$!
check 'a shell' until_true 30 in_job exec ' sh '
: >"$TMPDIR/exec.go"
check 'that becomes a program has its name' until_true 30 in_job exec ' parallel '
: >"$TMPDIR/exec.end"
wait $job

# --- the lm is killed: the program continues; the next omig run makes it visible again
omig run --job first -- "$T/parallel" "$TMPDIR/first.end" </dev/null >"$TMPDIR/first.out" \
	2>"$TMPDIR/first.err" &
first=$!
check 'a program' until_true 30 in_job first ' parallel '
check 'whose lm is killed' kill_hard lm
check 'omig exec starts another one' sh -c "omig exec -- '$T/parallel' '$TMPDIR' >'$TMPDIR/one.out'"
check 'which finds it' until_true 30 in_job first ' parallel '
: >"$TMPDIR/first.end"
wait $first
check 'its output is its own' grep -qx 'sum 499999500000' "$TMPDIR/first.out"
check 'no output of Omig' test ! -s "$TMPDIR/first.err"

# --- MPI under a script: its ranks register, and its launcher is not watched
if [ -n "$flavours" ]; then
	f=$(echo "$flavours" | cut -d" " -f2)
	omig run --job mixed -- sh -c \
		'mpirun.'"$f"' -n 2 "$0" --hold "$1.go" --beat "$1.beat"; wait' "$T/steady.$f" \
		"$TMPDIR/mixed" </dev/null \
		>"$TMPDIR/mixed.out" 2>"$TMPDIR/mixed.err" &
	job=$!
	check 'ranks below a script' until_true 60 in_job mixed 'rank 1 of 2'
	check 'and the script' until_true 30 in_job mixed ' (sh|dash) '
	check 'not the launcher, and what it starts' not_in_job mixed \
		'orterun|mpirun|mpiexec|hydra|orted'
	check 'figures of MPI are of the ranks, and whole' status_is 0 omig measure Send_volume \
		--job mixed --count 2
	: >"$TMPDIR/mixed.go"
	wait $job
	omig run --job plain -- "mpirun.$f" -n 1 sh -c 'until [ -e "$0" ]; do sleep 0.1; done' \
		"$TMPDIR/plain.end" </dev/null >/dev/null 2>&1 &
	job=$!
	omig run --job beside -- "$T/parallel" "$TMPDIR/plain.end" </dev/null >/dev/null 2>&1 &
	beside=$!
	check 'a program beside it' until_true 30 in_job beside ' parallel '
	check 'a launcher alone has nothing in the tree' not_in_job plain .
	: >"$TMPDIR/plain.end"
	wait $job $beside
fi

# --- no request is sent that would be refused
check 'OMIG_DISABLE' env OMIG_DISABLE=1 omig run --job never -- "$T/parallel" "$TMPDIR"
check 'is heeded' status_is 4 omig tree --job never
tap_end
