#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stacks, registers, started programs, system calls, signals, addresses and scheduling of a program
# that reports its own. lm-trace and lm are killed meanwhile, without effect on the program.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need lm lm-trace sm mainsm omig
[ -x "$T/traced" ] || skip_all "$T/traced is not built: make faults-tools"
A=$T/attack

own_host

in_state() { # LETTER PID
	grep -q "^State:[[:space:]]*$1" "/proc/$2/status"
}
tracer_of() {
	sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$1/status"
}
is_traced() {
	[ "$(tracer_of "$1")" != 0 ]
}
is_free() {
	[ "$(tracer_of "$1")" = 0 ]
}
fails_with() { # PATTERN REQUEST
	omig request "$2" >"$TMPDIR/answer" 2>&1 && return 1
	cat "$TMPDIR/answer"
	grep -Eq -- "$1" "$TMPDIR/answer"
}
# start NAME WORDS...: the program, which waits for go NAME; $pid and $token are its own
start() {
	name=$1
	shift
	mkfifo "$TMPDIR/$name.in"
	"$T/traced" "$@" <"$TMPDIR/$name.in" >"$TMPDIR/$name.out" &
	pid=$!
	exec 9>"$TMPDIR/$name.in"
	until_true 20 grep -q called "$TMPDIR/$name.out"
	token=$(token_of $pid)
}
go() {
	echo >&9
}
# follow NAME CONDITION: starts a tool, which arms the condition and remains connected
armed_is() {
	[ "$(omig status --json | grep -o '"csrs_enabled"[,:][0-9]*' | head -n 1 |
		grep -o '[0-9]*$')" = "$1" ]
}
followers=
nfollow=0
follow() { # NAME REQUEST...
	into=$TMPDIR/$1
	shift
	omig request --follow forever "$@" >"$into" 2>&1 &
	followers="$followers $!"
	nfollow=$((nfollow + 1))
	until_true 20 armed_is $nfollow
}
unfollow() {
	# shellcheck disable=SC2086 # numbers
	kill $followers 2>/dev/null
	followers=
	nfollow=0
	until_true 20 armed_is 0
}
has_lines() { # NUMBER NAME
	[ "$(grep -c "^t_" "$TMPDIR/$2")" = "$1" ]
}
did() { # NAME STEPS SIGNALS
	grep -qx "steps $2 sum $(($2 / 2)) signals $3" "$TMPDIR/$1.out"
}
tracer() { # the lm-trace of this test
	pgrep -P "$(daemon_pid lm)" -x lm-trace
}

# --- stacks and registers
"$T/traced" wait &
still=$!
trap 'kill -KILL $still $followers 2>/dev/null; end_all' EXIT
stack=$(token_of $still)
# The process is visible before its loader has ended.
waits_or_cannot() {
	omig request ":omig_backtrace([$stack],0)" >"$TMPDIR/stack" 2>&1
	grep -q 'traced_wait_here\|ptrace_scope\|UNSUPPORTED' "$TMPDIR/stack"
}
until_true 10 waits_or_cannot
if grep -q 'ptrace_scope\|UNSUPPORTED' "$TMPDIR/stack"; then
	skip_all "ptrace is not for us here: $(cat "$TMPDIR/stack")"
fi
check 'frames of program, library and program, all without frame pointers' \
	says \
	'traced","traced_wait_here",[0-9]+,"[^"]*traced.c",[1-9][0-9]*\],.*libtraced.so","traced_library_inner",[0-9]+,"[^"]*",[0-9]+\],.*"traced_library_outer",[0-9]+,"[^"]*",[0-9]+\],.*traced","main",' \
	cat "$TMPDIR/stack"
check 'without names and no deeper than asked' \
	says '^t_[0-9a-z_]*:? *2,\[[0-9]+,[0-9]+\],\[[0-9]+,[0-9]+\]$' omig request \
		":thread_get_backtrace([$stack],2)"
check 'a depth below 0 is refused' fails_with PARAMETER ":thread_get_backtrace([$stack],-1)"
check 'no process traces it now' is_free $still
check 'it waits as before' in_state S $still
if [ "$(uname -m)" = x86_64 ]; then
	check 'a register' says ' \[20817\]$' omig request ":thread_read_int_regs([$stack],0,1)"
	check 'written' omig request ":thread_write_int_regs([$stack],0,[4711])"
	check 'and read again' says ' \[4711\]$' omig request ":thread_read_int_regs([$stack],0,1)"
	check 'there is no such register' fails_with 'PARAMETER_ERROR.*0 to 26' \
		":thread_read_int_regs([$stack],27,1)"
	check 'floating point' omig request ":thread_write_fp_regs([$stack],38,[2.5])"
	check 'is read as it was written' says ' \[2\.5\]$' omig request \
		":thread_read_fp_regs([$stack],38,1)"
else
	skip 'registers' 'they are known on x86-64 only'
fi
kill -STOP $still
check 'it is stopped from outside' until_true 10 in_state T $still
check 'its stack is seen all the same' says traced_wait_here omig request \
	":omig_backtrace([$stack])"
check 'and it stays stopped' in_state T $still
kill -CONT $still

# --- without the right
observer=$(omig cert token tool-observe)
for what in "thread_get_backtrace([],0)" "thread_read_int_regs([],0,1)" "thread_goto([],0)" \
	"proc_create([$node],\"/bin/true\",[],[],[])"; do
	check "an observer: $what" says 'NO_PERMISSION' as_observer ":$what"
done
check 'an observer: system calls' says NO_PERMISSION as_observer --follow 5s \
	'thread_has_started_sys_call([],""): print([1])'
"$T/traced" trace $still >"$TMPDIR/trace.out" &
other=$!
until_true 10 grep -q tracing "$TMPDIR/trace.out"
check 'one tracer a process: the other one is named' fails_with \
	"OS_ERROR.*traced already, by process $other" ":omig_backtrace([$stack])"
kill -KILL $other
check 'when it has ended lm-trace may' until_true 10 says traced_wait_here omig request \
	":omig_backtrace([$stack])"

# --- events of a program that counts them itself
start known run 200
step=$(sed -n 's/^step //p' "$TMPDIR/known.out")
follow started "thread_has_started_sys_call([$token],\"getppid\"): print([\$par1])"
follow ended "thread_has_ended_sys_call([$token],\"getppid\"): print([\$par0])"
follow signal "thread_received_signal([$token],[10]): print([\$sig])"
follow step "thread_reached_addr([$token],$step): print([\$time])"
follow blocked "thread_has_blocked([$token]): print([\$time])"
check 'it is held for its system calls' until_true 10 is_traced $pid
kill -USR1 $pid
check 'a signal is an event' until_true 10 has_lines 1 signal
calls=0
if [ "$(uname -m)" = x86_64 ]; then
	calls=1
	check 'a call is put in while it reads' omig request \
		":thread_call([$token],$(sed -n 's/^called //p' "$TMPDIR/known.out"))"
fi
check 'with its number' grep -q '1,10$' "$TMPDIR/signal"
follow stops "thread_received_signal([$token],[18,19]): print([\$sig])"
stopped_and_continued() {
	omig request ":thread_stop([$token])" && omig request ":thread_continue([$token])"
}
check 'a tool stops and continues it' stopped_and_continued
continued_by_others() {
	kill -CONT $pid
	grep -q '1,18$' "$TMPDIR/stops"
}
check 'what others send is an event' until_true 10 continued_by_others
check 'what the monitor sends is none' sh -c '! grep -q "1,19\$" "$1"' sh "$TMPDIR/stops"
go
check 'it ends as without Omig' until_true 30 did known 200 $((1 + calls))
check 'each system call is one event' until_true 10 has_lines 200 started
check 'and one when it returns' until_true 10 has_lines 200 ended
check 'with its result' grep -q "1,$$\$" "$TMPDIR/ended"
if grep -q 'paranoid\|cannot watch' "$TMPDIR/step"; then
	skip 'each step is one event' 'perf_event_open is not for us here'
	skip 'it has waited' 'perf_event_open is not for us here'
else
	check 'each step is one event' until_true 10 has_lines 200 step
	has_waited() {
		[ "$(grep -c '^t_' "$TMPDIR/blocked")" -ge 200 ]
	}
	check 'it has waited' until_true 10 has_waited
fi
check 'there is no such system call' says 'nonsense. is not a system call of this machine' \
	omig request --follow 2s "thread_has_started_sys_call([$stack],\"nonsense\"): print([1])"
unfollow

# --- too many events
start fast fast 300000
follow fast ":pa_counter_local_create([$token])" \
	"thread_has_started_sys_call([$token],\"\"): pa_counter_local_increment({1},1)"
check 'it is held' until_true 10 is_traced $pid
go
check 'the tool learns that it was too much' until_true 60 grep -q 'suspended in this process' \
	"$TMPDIR/fast"
check 'it ends as without Omig' \
	until_true 30 grep -qx 'steps 300000 sum 0 signals 0' "$TMPDIR/fast.out"
unfollow

# --- lm-trace and lm are killed while the program waits, for as long as this takes.
start orphan run 2000 1000
follow orphan "thread_has_started_sys_call([$token],\"getppid\"): print([1])"
check 'it is held' until_true 10 is_traced $pid
go
before=$(tracer)
kill -KILL "$before"
another_tracer() {
	now=$(tracer) && [ "$now" != "$before" ]
}
check 'lm-trace was killed: another one continues' until_true 20 another_tracer
check 'the program is held again' until_true 20 is_traced $pid
go
check 'the lm is killed' kill_hard lm
check 'no process holds the program' until_true 10 is_free $pid
check 'it ends as without Omig' until_true 40 did orphan 2000 0
lm --background 2>>"$TMPDIR/lm.log"
check 'a host is there again' until_true 30 nodes_are 1
# shellcheck disable=SC2086 # numbers
kill $followers 2>/dev/null
followers=
check 'lm-trace was killed: the next request starts one' says traced_wait_here omig request \
	":proc_attach3([$node],$still,\"\") omig_backtrace([])"

# --- started programs
"$A" issue "$OMIG_STATE_DIR/mainsm" "$TMPDIR/creator" good tool-manipulate '' creator
printf 'in\n' >"$TMPDIR/created.in"
"$A" connect "127.0.0.1:$(mainsm_port)" "$TMPDIR/creator" hello=tool \
	'request=:site_attach([]) node_attach([])' \
	"request=:proc_create([$node],\"/bin/sh\",[\"sh\",\"-c\",\"read x; echo \$x \$A \$0; umask; ulimit -n; ulimit -c; env | grep -c SPAWN_ENV; echo err >&2\",\"zero\"],[\"A=b\"],[\"$TMPDIR/created.in\",\"$TMPDIR/created.out\",\"$TMPDIR/created.err\"])" \
	read=60000 >"$TMPDIR/creator.out" 2>&1 &
creator=$!
created() {
	child=$(omig tree --json | tr '{' '\n' | grep '"program":"\(sh\|dash\)"' | grep -o \
		'"pid":[0-9]*' | grep -o '[0-9]*')
	[ -n "$child" ]
}
check 'a program was started' until_true 20 created
check 'it is stopped' until_true 10 in_state T "$child"
check 'and no process traces it' is_free "$child"
check 'it has done nothing yet' test ! -s "$TMPDIR/created.out"
check 'it continues' omig request ":thread_continue([$(token_of "$child")])"
check 'arguments, environment and streams are its own' until_true 10 grep -qx 'in b zero' \
	"$TMPDIR/created.out"
# shellcheck disable=SC3045 # dash and bash have them
{ umask; ulimit -n; ulimit -c; echo 0; } >"$TMPDIR/spawn_env"
as_ordinary() {
	sed 1d "$TMPDIR/created.out" | cmp - "$TMPDIR/spawn_env"
}
check 'mask and limits are those that the lm was started with' until_true 10 as_ordinary
check 'all of them' until_true 10 grep -qx err "$TMPDIR/created.err"
kill -KILL $creator
ln -s "$TMPDIR/created.out" "$TMPDIR/link"
check 'a stream is not a link' fails_with 'OS_ERROR.*cannot be started' \
	":proc_create([$node],\"/bin/true\",[],[],[\"\",\"$TMPDIR/link\"])"
check 'what cannot be started' fails_with 'OS_ERROR.*No such file' \
	":proc_create([$node],\"/bin/no-such-program\",[],[],[])"
kill -KILL $still

# --- a program with MPI, held from its middle to its end
if [ -n "$flavours" ]; then
	need_mpi
	job mpi "$one_flavour" 2
	check 'an MPI program is watched' until_true 30 ranks_are 2
	holds mpi
	omig request --follow forever 'thread_has_ended_sys_call([],"openat"): print([$par0])' \
		>"$TMPDIR/mpi.calls" 2>&1 &
	followers=$!
	rank=$(cat "$TMPDIR/mpi.pid.0")
	was_traced() {
		is_traced "$rank" || grep -q 'suspended in this process' "$TMPDIR/mpi.calls"
	}
	check 'its ranks are held, or make too many calls' until_true 20 was_traced
	check 'it continues' goes_on mpi
	end_job mpi $job
	check 'it ends well' test $? = 0
	check 'and its output is unchanged' same_output mpi "$one_flavour" 2
	kill $followers 2>/dev/null
else
	skip 'a program with MPI' 'no MPI is here'
fi
tap_end
