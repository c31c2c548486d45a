#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Calls that began before counting was on: their functions, durations and partners. With each MPI
# that is here.
# timeout: 150
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi

begins() { # FLAVOUR RANKS MODE
	dir=$TMPDIR/$1-$3
	name=$1-$3
	mkdir "$dir"
	timeout $((100 * PATIENCE)) omig run --waits=5s --job="$name" -- \
		"mpirun.$1" -n "$2" "$T/underway.$1" "$3" "$dir" >"$dir/out" 2>"$dir/err" &
	run=$!
	check "$1: $3: all ranks are watched" until_true 30 job_has_ranks "$name" "$2"
}
rank_0_is() {
	p0=$(omig tree --job "$name" --json | sed -n \
		's/.*"token":"\(p_[^"]*\)"[^{}]*"rank":0[,}].*/\1/p' | head -n 1)
	[ -n "$p0" ]
}
calls_now() {
	session_asks ":omig_calls_now([$p0])"
}
# [delay] of MPI_Recv of rank 0, not counted (0 calls)
recv_delay() {
	session_asks ":omig_calls_read([$p0],0)" | sed -n \
		's/.*\["MPI_Recv","receive",0,\([0-9]*\),[01],.*/\1/p'
}
delay_is_over() {
	d=$(recv_delay)
	[ "${d:-0}" -gt "$1" ]
}
# An integrator of both ends of MPI_Recv, as a user makes one: I, v
own_delay_begins() {
	own=$(session_asks ":pa_integrator_local_create([$p0])" |
		sed -n 's/.*\(pa_il_[0-9]*\).*/\1/p')
	add="pa_integrator_local_increment($own"
	recv="lib_call([$p0],\"MPI_Recv\")"
	session_asks "thread_has_started_$recv: $add,1.0,\$time)" >/dev/null
	session_asks "thread_has_ended_$recv: $add,-1.0,\$time)" >/dev/null
}
own_delay() {
	session_asks ":pa_integrator_read([$own])" |
		sed -n 's/^1 0 p_[^ ]* [^,]*,\([^,]*\),\([^,]*\),.*/\1 \2/p'
}
own_is() { # V MORE THAN
	own_delay | awk -v v="$1" -v i="$2" \
		'{ n++; bad = $2 != v || !($1 > i) } END { exit n != 1 || bad }'
}
# The counts of a profile end with its tool: the next profile begins to count again.
profile_says_all_wait() {
	for time in first second; do
		omig calls --job "$name" --by rank --json >"$TMPDIR/calls.json"
		echo "# $time"
		cat "$TMPDIR/calls.json"
		[ "$(grep -o '"wall_percent":\(99\|100\)' "$TMPDIR/calls.json" | wc -l)" = 3 ] ||
			return 1
	done
}
top_says_all_wait() {
	omig top --json --once --every 300ms --job "$name" >"$TMPDIR/top.json"
	cat "$TMPDIR/top.json"
	[ "$(grep -o '"mpi_percent":\(99\|100\)' "$TMPDIR/top.json" | wc -l)" = 3 ]
}
top_says() { # PATTERN
	says "$1" omig top --once --every 200ms --job "$name"
}
top_is_ascii() {
	for how in --all --total; do
		LC_ALL=C omig top --once --every 200ms --job "$name" $how >"$TMPDIR/top" || return 1
		cat "$TMPDIR/top"
		grep -q '^omig top' "$TMPDIR/top" || return 1
		! LC_ALL=C grep '[^ -~]' "$TMPDIR/top" || return 1
	done
}
measure_grows() {
	omig measure Receive_delay --job "$name" --by process --every 200ms -n 4 --csv \
		>"$TMPDIR/m.csv" 2>"$TMPDIR/m.err"
	cat "$TMPDIR/m.csv" "$TMPDIR/m.err"
	awk -F, '/rank0@/ { n++; if ($6 + 0 <= last) bad = 1; last = $6 + 0 } END {
		exit n < 3 || bad }' "$TMPDIR/m.csv"
}
partner_grows() {
	omig measure Receive_delay --job "$name" --by process,partner --every 200ms -n 4 --csv \
		>"$TMPDIR/m.csv" 2>"$TMPDIR/m.err"
	cat "$TMPDIR/m.csv" "$TMPDIR/m.err"
	awk -F, '/rank0@[^,]* <- rank1@/ { n++; if ($6 + 0 <= last) bad = 1; last = $6 + 0 } END {
		exit n < 3 || bad }' "$TMPDIR/m.csv"
}

# Reports a hang once, and no program that ends normally.
err_says() { # PATTERN
	cat "$dir/err"
	[ "$(grep -Ec "^omig: warning: $name: $1" "$dir/err")" = 1 ]
}
err_says_nothing() {
	cat "$dir/err"
	! grep 'for .* at least' "$dir/err"
}
rank_2_is() {
	p2=$(omig tree --job "$name" --json |
		sed -n 's/.*"token":"\(p_[^"]*\)"[^{}]*"rank":2[,}].*/\1/p' | head -n 1)
	[ -n "$p2" ]
}
queue_of_2() {
	omig request ":message_queue_get_info([$p2],1024)"
}

for f in $flavours; do
	begins "$f" 3 dead
	check "$f: dead: the ranks' calls are shown, and their partners" until_true \
		20 top_says ' MPI_Recv from 1 +>='
	check "$f: dead: all ranks are in MPI all the time" until_true 20 top_says_all_wait
	check "$f: dead: each profile reports that" profile_says_all_wait
	check "$f: dead: waits and their partners are shown unasked" until_true 20 top_says \
		"no call has ended for .* at least: 0 waits for 1 \(MPI_Recv, tag 5\), 1 waits for 0 \(MPI_Recv, tag 7\), 2 is in MPI_Barrier"
	check "$f: dead: a measurement has the time" until_true 20 measure_grows
	check "$f: dead: and whose it is" until_true 20 partner_grows
	check "$f: dead: omig run has warned of it, once" until_true 30 err_says \
		'no call has ended for .* 0 waits for 1 .* 2 is in MPI_Barrier; data of earlier'
	check "$f: dead: rank 2 is there" until_true 20 rank_2_is
	check "$f: dead: its queue is empty, and its call stands behind" until_true 20 says \
		' 0,[0-9]+,0,1,\[[0-9]+,"MPI_Barrier","barrier",0,' queue_of_2
	kill "$run"
	wait "$run" 2>/dev/null

	begins "$f" 3 cycle
	sends='sends to [0-2], tag 5, and receives from [0-2], tag 7 \(MPI_Sendrecv\)'
	check "$f: cycle: it is reported that none can continue" until_true 20 top_says \
		"no call has ended for .* at least: 0 $sends, 1 $sends, 2 $sends"
	kill "$run"
	wait "$run" 2>/dev/null

	begins "$f" 3 absent
	check "$f: absent: ranks that have not come are named unasked" until_true 20 top_says \
		"ranks wait for others for .* at least: 1 of 3 are in MPI_Barrier, without 1, 2"
	check "$f: absent: without UTF-8 top is ASCII alone" top_is_ascii
	check "$f: absent: a rank that others wait for is no news of omig run" err_says_nothing
	kill "$run"
	wait "$run" 2>/dev/null

	for mode in late thread; do
		begins "$f" 2 $mode
		session_begins
		check "$f: $mode: rank 0 is there" until_true 20 rank_0_is
		check "$f: $mode: its call is known before anything is counted" until_true 20 says \
			'"MPI_Recv","receive",0,[0-9.e-]+,0,1,5,' calls_now
		own_delay_begins
		check "$f: $mode: an integrator of both ends counts too" \
			until_true 20 own_is 1 0.3
		session_asks ":omig_calls_enable([$p0],\"time\")" >/dev/null
		check "$f: $mode: from then on its time counts" until_true 20 delay_is_over \
			300000000
		before=$(recv_delay)
		own_before=$(own_delay | cut -d' ' -f1)
		: >"$dir/go"
		check "$f: $mode: the message comes" until_true 20 test -e "$dir/done"
		check "$f: $mode: and the time stays when the call is over" delay_is_over "$before"
		check "$f: $mode: as it does in the integrator" \
			until_true 20 own_is 0 "$own_before"
		: >"$dir/end"
		check "$f: $mode: the program ends well" wait "$run"
		session_ends
	done

	begins "$f" 2 polls
	session_begins
	check "$f: polls: rank 0 is there" until_true 20 rank_0_is
	check "$f: polls: it asks again and again" until_true 20 says \
		'"MPI_Test","wait",1,[1-9]' calls_now
	: >"$dir/go"
	until_true 20 test -e "$dir/done"
	: >"$dir/end"
	check "$f: polls: the program ends well" wait "$run"
	session_ends
done
tap_end
