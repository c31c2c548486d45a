#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Daemons, their helpers and tools are killed at random moments. Meanwhile tools stop, suspend,
# trace and signal real programs, with also by lists in braces. At the end no process is stopped, no
# lock is held, and no signal has arrived twice. The reports to the tools agree with the programs'
# counts. OMIG_SOAK=N: until N daemons were killed (5). OMIG_TEST_SEED=N: another order.
# timeout: 7200
. tests/system/lib.sh
. tests/system/faults.sh
need lm sm mainsm omig
[ -x "$T/oracle" ] || skip_all "$T/oracle is not built: make faults-tools"
kills=${OMIG_SOAK:-5}
seed=${OMIG_TEST_SEED:-20261122}
echo "# OMIG_SOAK=$kills OMIG_TEST_SEED=$seed"

# random N: 0 .. N-1, the same for the same seed
random() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	drawn=$((seed / 65536 % $1))
}

killed_mainsm=0 killed_sm=0 killed_lm=0 killed_trace=0 killed_guard=0 killed_tool=0
own_host
programs=
for i in 1 2 3 4; do
	"$T/oracle" count "$TMPDIR/count.$i" &
	programs="$programs $!"
done
# shellcheck disable=SC2086 # numbers
end_programs() {
	kill -KILL $programs $stopper $asker 2>/dev/null
	end_all
}
stopper='' asker=''
trap 'end_programs' EXIT
all_count() {
	for i in 1 2 3 4; do [ -e "$TMPDIR/count.$i" ] || return 1; done
}
check 'four programs count signals' until_true 20 all_count
"$T/attack" issue "$OMIG_STATE_DIR/mainsm" "$TMPDIR/asker" good tool-manipulate '' asker
"$T/attack" issue "$OMIG_STATE_DIR/mainsm" "$TMPDIR/stopper" good tool-manipulate '' stopper
"$T/oracle" ask "$TMPDIR/asker" "127.0.0.1:$(mainsm_port)" "$seed" $((kills * 12)) \
	"$TMPDIR"/count.* >"$TMPDIR/asked" 2>&1 &
asker=$!

# A tool that stops, suspends or traces a process, and is killed or ends meanwhile
stop_something() {
	kill -KILL "$stopper" 2>/dev/null && killed_tool=$((killed_tool + 1))
	random 4
	one=$(echo "$programs" | cut -d' ' -f$((drawn + 2)))
	random 5
	# shellcheck disable=SC2016 # the event's own
	case $drawn in
	0) what=':thread_stop([])' ;;
	1) what=':{thread_suspend([]) thread_suspend([])}' ;;
	2) what=':{thread_suspend([]) print(["held"])}' ;;
	3) what='thread_has_started_sys_call([],""): thread_stop([$thread]) print(["met"])' ;;
	4) what=':omig_backtrace([]) thread_stop([])' ;;
	esac
	"$T/attack" connect "127.0.0.1:$(mainsm_port)" "$TMPDIR/stopper" hello=tool \
		"request=:site_attach([]) node_attach([]) proc_attach3([$node],$one,\"\")" \
			"request=$what" read=3000 \
		>"$TMPDIR/stopper.out" 2>&1 &
	stopper=$!
}
bring_up() {
	[ -n "$(daemon_pid mainsm)" ] || mainsm >/dev/null 2>>"$TMPDIR/mainsm.log"
	[ -n "$(daemon_pid lm)" ] || lm --background 2>>"$TMPDIR/lm.log"
}
all_up() {
	bring_up
	nodes_are 1 && [ -n "$(daemon_pid sm)" ]
}
pid_of() {
	case $1 in
	trace | guard) parent=$(daemon_pid lm) && [ -n "$parent" ] &&
		pgrep -P "$parent" -x "lm-$1" ;;
	*) daemon_pid "$1" ;;
	esac
}
# strike: kills a random daemon or tool at a random moment
strike() {
	random 8
	case $drawn in
	0) d=mainsm ;;
	1) d=sm ;;
	2 | 3) d=lm ;;
	4) d=tool ;;
	5 | 6) d=trace ;;
	7) d=guard ;;
	esac
	if [ "$d" = tool ]; then
		kill -KILL "$stopper" 2>/dev/null && killed_tool=$((killed_tool + 1))
		return 0
	fi
	pid=$(pid_of "$d") && kill -KILL "$pid" || return 0
	eval "killed_$d=\$((killed_$d + 1))"
	struck=$((struck + 1))
}
struck=0
turns=0
until [ $struck -ge "$kills" ] || [ $turns -ge $((kills * 20)) ]; do
	turns=$((turns + 1))
	bring_up
	stop_something
	random 8
	sleep 0.$((drawn + 1))
	strike
	random 10
	[ $drawn -gt 2 ] || until_true 15 all_up
done
echo "# killed: mainsm $killed_mainsm, sm $killed_sm, lm $killed_lm," \
	"lm-trace $killed_trace, lm-guard $killed_guard, tools $killed_tool"
check 'daemons were killed as often as was asked' [ $struck -ge "$kills" ]
check 'all of them are back' until_true 30 all_up
asker_ends() {
	bring_up
	is_dead $asker
}
check 'all has been asked' until_true $((60 + kills * 6)) asker_ends
wait "$asker"
status=$?
sed 's/^/# /' "$TMPDIR/asked"
check 'no signal came twice, and what was reported is true' [ $status = 0 ]
kill -KILL "$stopper" 2>/dev/null
nobody_stopped() {
	for pid in $programs; do
		is_stopped "$pid" && return 1
	done
	return 0
}
check 'no process stays stopped' until_true 10 nobody_stopped
lock_is_free() {
	request ":{node_attach([]) node_get_info([],1)}" | grep -q 'n_1: "'
}
check 'no lock is kept' until_true 15 lock_is_free
sleep 1
check 'nor does it stop a process later' nobody_stopped
tap_end
