#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An unwatched process without MPI: attached by its pid, queried, stopped, continued, and its end is
# an event.
# timeout: 120
. tests/system/lib.sh
need lm sm mainsm omig

own_host

sleep 900 &
pid=$!
sleep 901 &
first=$!
sleep 902 &
second=$!
trap 'kill $pid $first $second 2>/dev/null; end_all' EXIT

# in_state LETTER: the state of the first process by the kernel
in_state() {
	grep -q "^State:[[:space:]]*$1" "/proc/$pid/status"
}

refused() {
	omig request "$1" >"$TMPDIR/no" 2>&1
	got=$?
	cat "$TMPDIR/no"
	[ $got = 4 ] && grep -q 'no process of this user' "$TMPDIR/no"
}

not_watched() {
	! omig tree | grep -q sleep
}

check 'there is no such pid' refused ":proc_attach3([$node],2147483646,\"\")"
check 'it runs another program' refused ":proc_attach3([$node],$pid,\"cat\")"
check 'and is not watched for that' not_watched
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1; then
	setpriv --reuid 65534 --clear-groups sleep 900 &
	other=$!
	is_theirs() {
		grep -q '^Uid:[[:space:]]*65534' "/proc/$other/status"
	}
	check 'a process of another user' until_true 20 is_theirs
	check 'it is of another user' refused ":proc_attach3([$node],$other,\"\")"
	kill "$other"
else
	skip 'it is of another user' 'that takes root and setpriv'
fi

check 'it is attached and asked in one request' says "[^0-9]$pid( |$)" \
	omig request --no-attach \
	":site_attach([]) node_attach([$node]) proc_attach3([$node],$pid,\"/bin/sleep\") proc_get_info([],512)"
token=$(token_of "$pid" sleep)
check 'the tree has it' says sleep omig tree
check 'it shows its command line' says '"sleep","900"' omig request ":proc_get_info([$token],2)"
check 'its token stays the same' says "$token" omig request ":proc_attach3([$node],$pid,\"\")"

# A stopped process continues when its tool disconnects, so each tool remains connected for a while.
stopper=$(token_of "$first" sleep) starter=$(token_of "$second" sleep)
omig request --follow forever "proc_has_terminated([$stopper]): thread_stop([$token]) print([1])" \
	>"$TMPDIR/stop" 2>&1 &
tool1=$!
omig request --follow forever \
	"proc_has_terminated([$starter]): thread_continue([$token]) print([2])" >"$TMPDIR/go" 2>&1 &
tool2=$!
omig request --follow forever "proc_has_terminated([$token]): print([\$proc])" >"$TMPDIR/end" 2>&1 &
tool3=$!
three_armed() {
	[ "$(omig status --json | grep -o '"csrs_enabled",3\|"csrs_enabled":3' | wc -l)" = 1 ]
}
check 'three conditions are armed' until_true 20 three_armed
kill "$first"
check 'it can be stopped' until_true 10 in_state T
kill "$second"
check 'and continued' until_true 10 in_state S
kill "$pid"
check 'its end is an event' until_true 10 grep -q "$token" "$TMPDIR/end"
check 'its last figures stay' says '"sleep"|3' omig request ":proc_get_info([$token],1024)"
check 'what has ended fails nothing that means all' says pa_cl_ omig request \
	':pa_counter_local_create([]) omig_calls_enable([],"count") proc_send_signal([],15)'
check 'unless it is named' status_is 4 omig request ":proc_send_signal([$token],15)"
kill -TERM $tool1 $tool2 $tool3

# More threads than one message can list.
cat >"$TMPDIR/many.py" <<'EOF'
import sys, threading, time
threading.stack_size(65536)
for _ in range(4000):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
print("up", flush=True)
time.sleep(600)
EOF
if command -v python3 >/dev/null 2>&1; then
	many=
	for i in 1 2; do
		python3 "$TMPDIR/many.py" >"$TMPDIR/many.$i" 2>&1 &
		pid=$! many="$many $!"
		check "process $i of 4,000 threads" until_true 60 grep -q up "$TMPDIR/many.$i"
		check 'it is attached' says p_ omig request ":proc_attach3([$node],$pid,\"\")"
	done
	all_threads() {
		[ "$(omig tree --json | grep -o '"token":"t_' | wc -l)" -ge 8002 ]
	}
	check 'the tree has all of them' until_true 20 all_threads
	# shellcheck disable=SC2086 # two numbers
	kill -KILL $many
else
	skip 'processes of 4,000 threads' 'that takes python3'
fi
tap_end
