#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Signals and stops reach the right processes, from permitted tools only. No process stays stopped
# after its tool has ended.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
f=$one_flavour
A=$T/attack

nobody_there='UNKNOWN_OBJECT n_1: there is no process of this user with that pid and program'
take() { # PID: the state that the node reports
	request ":proc_attach3(n_1,$1,\"\")"
}
as_other() {
	env OMIG_STATE_DIR="$TMPDIR/other" omig request --mainsm "$other" "$@"
}
ranks_stopped() {
	is_stopped "$(cat "$TMPDIR/j.pid.0")" && is_stopped "$(cat "$TMPDIR/j.pid.1")"
}
ranks_run() {
	! is_stopped "$(cat "$TMPDIR/j.pid.0")" && ! is_stopped "$(cat "$TMPDIR/j.pid.1")"
}
all_run_again() {
	until_true "$1" ranks_run && goes_on j
}
# A tool that stops all ranks and remains connected until it is killed; $tool is its process.
stopping_tool() {
	"$A" connect "127.0.0.1:$(mainsm_port)" "$TMPDIR/stopper" hello=tool \
		'request=:site_attach([]) node_attach([]) proc_attach([])' \
			"request=:thread_stop([])" read=60000 \
		>"$TMPDIR/stopper.out" 2>&1 &
	tool=$!
	until_true 10 ranks_stopped
}
# The process lives, and no signal has arrived, by the kernel's masks of pending signals.
untouched() {
	is_alive "$1" && ! is_stopped "$1"
}

job j "$f" 2
check 'the program is watched' until_true 20 ranks_are 2
holds j
lm=$(daemon_pid lm)
conn=$(cat "$OMIG_STATE_DIR/mainsm/mainsm.conn")
rank=$(tokens_of p | head -n 1)
sleep 900 &
bystander=$!
others=
if [ "$(id -u)" = 0 ]; then
	setpriv --reuid=nobody --clear-groups sleep 900 &
	others=$!
	is_nobodys() { [ "$(stat -c %U "/proc/$others")" = nobody ]; }
	until_true 5 is_nobodys
fi

# --- unreachable processes: the same reply for absent and forbidden ones
for pid in 0 1 -1 2147483648 4294967297 -2147483648 999999999 "$lm" "$(daemon_pid mainsm)" \
	$others; do
	[ "$pid" = "$(daemon_pid mainsm)" ] && continue # a process of this user like others
	check "proc_attach3 of pid $pid" comes_out 4 "$nobody_there" take "$pid"
done
[ -n "$others" ] || skip "proc_attach3 of another user's process" 'only root can make one'
check 'proc_attach3 of a process without MPI' comes_out 0 'p_1_' take "$bystander"
taken=$(request ":proc_attach3(n_1,$bystander,\"\")" | grep -o 'p_1_[0-9a-z]*' | head -n 1)
check 'a name that does not run there' comes_out 4 "$nobody_there" request \
	":proc_attach3(n_1,$bystander,\"/bin/other\")"
for token in p_1_aaaaaa p_9_aaaaaa p_1_ p_0_000000; do
	check "a signal for $token" comes_out '[24]' 'UNKNOWN_OBJECT|SYNTAX|TYPE|PARAMETER' \
		request ":proc_send_signal([$token],9)"
done
for sig in 0 65 -1 2147483648; do
	check "signal $sig" comes_out 2 'PARAMETER_ERROR|TYPE_MISMATCH' request \
		":proc_send_signal([$rank],$sig)"
done
check 'an empty list: success without a process' comes_out 0 '^OK$' request --no-attach \
	':proc_send_signal([],9)'
check 'an empty list of threads' comes_out 0 '^OK$' request --no-attach ':thread_stop([])'
check 'what is not attached is not there' comes_out 4 UNKNOWN_OBJECT request --no-attach \
	":proc_send_signal([$rank],9)"
check 'after all that the program continues' goes_on j
check 'the lm runs' untouched "$lm"
check 'the unrelated process runs' untouched "$bystander"
[ -z "$others" ] || check "another user's process lives" untouched "$others"
check 'a signal reaches its process' comes_out 0 '^OK$' request ":proc_send_signal([$taken],15)"
check 'and ends it' until_true 5 is_dead "$bystander"

# --- a tool that may only observe
observer=$(omig cert token tool-observe)
for what in ":proc_send_signal([$rank],9)" ':proc_send_signal([],9)' ':thread_stop([])' \
	':thread_continue([])' \
	':omig_shutdown()' ':omig_cert_token("tool-admin",60,1)' ':omig_cert_revoke("x")'; do
	check "an observer: $what" comes_out 5 'NO_PERMISSION .* needs the right' as_observer \
		"$what"
done
check 'an observer: a condition that would do it' comes_out 5 'NO_PERMISSION .* needs the right' \
	as_observer --follow 5s "proc_has_terminated([]): proc_send_signal([$rank],9)"
check 'it looks' comes_out 0 '^p_1_' as_observer ':proc_get_info([],512)'
check 'the program continues' goes_on j
says_it_is_admin() {
	"$A" connect "127.0.0.1:$(mainsm_port)" \
		"$(dirname "$(find "$TMPDIR/observer/tool" -name cert.pem)")" \
		hello=tool-admin read=60000
}
check 'an observer that says that it is an administrator' says \
	'error 3 the certificate does not allow' says_it_is_admin

# --- the lease of a stop
"$A" issue "$OMIG_STATE_DIR/mainsm" "$TMPDIR/stopper" good tool-manipulate '' stopper
check 'all threads are stopped, all have comes_out' comes_out 0 '^OK$' request ':thread_stop([])'
check 'that tool has ended: they run again' all_run_again 10

check 'a tool stops all ranks' stopping_tool
stopped_in_tree() {
	[ "$(omig tree | grep -c 'rank .*stopped')" = 2 ]
}
check 'the tree shows it' until_true 5 stopped_in_tree
check 'another tool lets them go' request ':thread_continue([])'
check 'they run again' all_run_again 5
kill -KILL "$tool"

check 'a tool stops all ranks again' stopping_tool
kill -KILL "$tool"
check 'the tool is killed: they run again' all_run_again 10

check 'a tool stops all ranks once more' stopping_tool
check 'mainsm is killed' kill_hard mainsm
check 'they run again' all_run_again 10
mainsm >/dev/null

is_back() {
	ranks_are 2
}
both_answer() {
	[ "$(request ':proc_get_info([],512)' | grep -c '^p_')" = 2 ]
}
no_guard() {
	for pid in $(leftovers); do
		[ "$(cat "/proc/$pid/comm")" != lm-guard ] || return 1
	done
}
check 'mainsm is back' until_true 20 is_back
check 'a tool stops all ranks a fourth time' stopping_tool
check 'the lm is killed' kill_hard lm
check 'they run again, and no lm does' all_run_again 5
check 'the guard that let them go has ended' until_true 5 no_guard
kill -KILL "$tool"
env OMIG_MAINSM="$conn" lm 2>/dev/null
check 'another lm is there' until_true 20 both_answer
check 'a tool stops all ranks for the last time' stopping_tool
# lm-guard and the lm are killed. The lm is stopped first, so that it cannot start another lm-guard.
kill -STOP "$(daemon_pid lm)"
kill -KILL "$(pgrep -P "$(daemon_pid lm)" -x lm-guard)"
check 'the lm and its guardian are killed' kill_hard lm
check 'no guard has let them go' ranks_stopped
env OMIG_MAINSM="$conn" lm 2>/dev/null
check 'the lm starts again: they run' all_run_again 5
kill -KILL "$tool"

# --- revoked certificates: disconnected, and refused from then on
check 'the lm is back' until_true 20 is_back
other=$(omig cert token tool-manipulate)
as_other --follow forever 'thread_has_started_lib_call([],"MPI_Barrier"): print([$proc])' \
	>"$TMPDIR/other.out" 2>&1 &
tool=$!
follows() {
	grep -q TRIGG "$TMPDIR/other.out"
}
check 'a tool of its own certificate follows' until_true 20 grep -q p_1_ "$TMPDIR/other.out"
serial=$(omig cert list | sed -n 's/^\([0-9a-f]*\) *tool-manipulate.*/\1/p' | head -n 1)
check 'it is revoked' omig cert revoke "$serial"
check 'it is cut' until_true 10 is_dead $tool
check 'and gets the reason' grep -Eqi 'revoked|lost' "$TMPDIR/other.out"
check 'it does not connect again' comes_out 5 'revoked|token' as_other ':version()'

serial=$(omig cert list | sed -n 's/^\([0-9a-f]*\) *lm .*/\1/p' | head -n 1)
lm=$(daemon_pid lm)
check 'the lm is revoked' omig cert revoke "$serial"
host_is_gone() {
	! omig tree | grep -Eq 'node .* up$'
}
check 'its host is cut' until_true 10 host_is_gone
check 'the program continues' goes_on j
check 'the lm does not come back with it' sh -c 'omig tree | grep -Ev "node .* up$" >/dev/null'
end_job j $job
check 'the program ended well' test $? = 0
check 'and its output is unchanged' same_output j "$f" 2
tap_end
