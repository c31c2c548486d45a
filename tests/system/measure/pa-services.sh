#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A tool's own objects in a running program, under each MPI: records in trace buffers, a condition
# that waits for another one, a flood of events. Receives from any source count from their beginning
# when their end reveals the source.
# timeout: 180
# shellcheck disable=SC2154 # set by eval
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi

created() {
	session_asks "$1" | sed -n 's/.* \([a-z]*_[a-z]*_[0-9]*\)$/\1/p'
}
rank_token() { # RANK
	omig tree --json | tr '{' '\n' | sed -n \
		"s/.*\"token\":\"\(p_[0-9a-z_]*\)\".*\"rank\":$1,.*/\1/p" | head -n 1
}
begins() {
	job "$@" && holds "$1"
}

# --- records of barriers: fetched in parts: all counted records and no others
records() { # FILE: how many
	grep -o '\[[0-9.]*,5,\[' "$1" | wc -l
}
fetch() { # MAX: into $TMPDIR/fetched, all of them into $TMPDIR/all
	session_asks ":trace_buffer_read([$buffer],$1)" >"$TMPDIR/fetched"
	cat "$TMPDIR/fetched" >>"$TMPDIR/all"
}
counted() {
	session_asks ":pa_counter_read([$counter])" | sed -n 's/.*,\([0-9]*\)$/\1/p'
}
fetched_at_least() { # N
	fetch 7
	[ "$(records "$TMPDIR/fetched")" -le 7 ] && [ "$(records "$TMPDIR/all")" -ge "$1" ]
}
# Events that were in the ring when the request was disabled made no records.
all_are_there() {
	fetch 1000
	n=$(counted) have=$(records "$TMPDIR/all")
	echo "$have records, $n counted"
	[ "$have" -le "$n" ] && [ "$have" -ge $((n - 3)) ]
}
numbers_follow() { # each reply begins where the previous one ended
	next=0
	while read -r line; do
		first=$(echo "$line" | sed -n "s/.* $buffer,\([0-9]*\),.*/\1/p")
		[ "$first" = $next ] || { echo "$line: not $next"; return 1; }
		next=$((next + $(echo "$line" | grep -o '\[[0-9.]*,5,\[' | wc -l)))
	done <"$TMPDIR/all"
}
of_one_thread() {
	[ "$(grep -o '5,\[t_[0-9a-z_]*' "$TMPDIR/all" | sort -u | wc -l)" = 1 ]
}

traces() {
	: >"$TMPDIR/all"
	buffer=$(created ":trace_buffer_create([$rank])")
	counter=$(created ":pa_counter_local_create([$rank])")
	line=$(($(wc -l <"$TMPDIR/session.asked") + 1))
	session_asks \
		"thread_has_ended_lib_call([$rank],\"MPI_Barrier\"): pa_counter_local_increment($counter,1) trace_buffer_append($buffer,\$time,5,[\$thread,\$par0])" \
		>/dev/null
	check "$f: records are fetched while the program runs" until_true 20 fetched_at_least 20
	session_asks ":csr_disable([$(session_told "$line" | grep -o 'c_[0-9]*' | head -n 1)])" \
		>/dev/null
	check "$f: there is one for each call that was counted" all_are_there
	check "$f: their numbers follow each other" numbers_follow
	check "$f: they are of the thread that made the calls" of_one_thread
	check "$f: no event was reported by itself" sh -c \
		"! grep -q '^$line [0-9]* 10 ' '$TMPDIR/session.out'"
	session_asks ":trace_buffer_delete([$buffer])" >/dev/null
	check "$f: a deleted buffer is not there" says '24' session_asks \
		":trace_buffer_read([$buffer])"
}

# --- barriers count only behind a user event
told() { # LINE: how many events
	session_told "$1" | grep -c '^0 10 '
}
is_told() {
	[ "$(told "$1")" -ge 1 ]
}
asked() {
	wc -l <"$TMPDIR/session.asked"
}
then_order() {
	event=$(created ':user_event_create()')
	second=$(($(asked) + 1))
	session_asks "thread_has_started_lib_call([$rank],\"MPI_Barrier\"): print([\"then\"])" \
		>/dev/null
	csr=$(session_told "$second" | grep -o 'c_[0-9]*' | head -n 1)
	session_asks ":csr_disable([$csr])" >/dev/null
	first=$(($(asked) + 1))
	session_asks "user_event_has_been_raised([$event]): csr_enable([$csr])" >/dev/null
	before=$(told "$second")
	check "$f: what is to come second is not reported at first" sh -c \
		"[ $before = $(sleep 0.3; told "$second") ]"
	session_asks ":user_event_raise([$event],[],1)" >/dev/null
	check "$f: the first event opens the way" until_true 10 is_told "$first"
	more=$((before + 1))
	check "$f: then the second is reported" until_true 10 reported_at_least "$second" $more
	session_asks ":csr_delete([$csr])" >/dev/null
}
reported_at_least() { # LINE N
	[ "$(told "$1")" -ge "$2" ]
}

# --- a flood: each call is reported or counted, also those at its end
FLOOD=4000
told_and_dropped() { # LINE: of the two ranks together
	session_told "$1" >"$TMPDIR/flood.told"
	awk -v want=$((2 * FLOOD)) '
		$1 == 1 && $2 == 0 && $4 ~ /"call"/ { told++ }
		match($0, /"dropped",[0-9]+/) { lost += substr($0, RSTART + 10, RLENGTH - 10) }
		END { print told + 0, "told", lost + 0, "dropped";
			exit told + lost != want || !told || !lost }' "$TMPDIR/flood.told"
}
flood() {
	check "$f: a program is about to call often" job flood "$f" 2 --flood $FLOOD
	check "$f: it waits" holds flood
	check "$f: both ranks are watched" until_true 20 ranks_are 2
	session_begins
	line=1
	session_asks 'thread_has_started_lib_call([],"MPI_Allreduce"): print(["call"])' >/dev/null
	check "$f: it ends well" end_job flood "$job"
	check "$f: each call is reported or counted" until_true 20 told_and_dropped "$line"
	session_ends
}

# --- a receive from any source, counted for rank 1 and for rank 2: only its end has the source
measured() {
	rm -f "$TMPDIR"/m.*
	timeout $((60 * PATIENCE)) omig run -- "mpirun.$f" -n 3 "$T/measured.$f" "$TMPDIR/m" \
		>"$TMPDIR/m.out" 2>"$TMPDIR/m.err" &
	job=$!
	until_true 30 ranks_are 3
}
integrator() { # NAME NUMBER: number 1 (any rank), 2 or 3 (ranks 1, 2), as `I v`
	eval "token=\$integrator$1"
	session_asks ":pa_integrator_read([$token])" | sed -n \
		's/^1 0 p_[^ ]* [^,]*,\([^,]*\),\([^,]*\),.*/\1 \2/p'
}
is_inside() {
	[ "$(integrator 1 | cut -d' ' -f2)" = 1.0 ]
}
counts_not_yet() {
	integrator 2
	integrator 3
	[ "$(integrator 2)" = '0.0 0.0' ] && [ "$(integrator 3)" = '0.0 0.0' ]
}
is_over() {
	[ "$(integrator 1 | cut -d' ' -f2)" = 0.0 ]
}
# Nothing is added, but each read has a better scale of the rank's clock.
is_near() { # VALUE VALUE
	echo "$1 and $2"
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0 && (a - b) ^ 2 < (a * 1e-3) ^ 2) }'
}
counts_for_one() {
	one=$(integrator 1) two=$(integrator 2) three=$(integrator 3)
	echo "$one, $two, $three"
	[ "$three" = '0.0 0.0' ] && [ "${one#* }" = 0.0 ] && [ "${two#* }" = 0.0 ] &&
		is_near "${one% *}" "${two% *}"
}
gained() { # the same, divided by the time since it was made
	session_asks ":patop_measurement_integrator_read([$integrator2],0)" >"$TMPDIR/gain"
	cat "$TMPDIR/gain"
	is_near "$(integrator 2 | cut -d' ' -f1)" \
		"$(sed -n "s/.*$integrator2,\([0-9.]*\),[0-9.]*,[0-9.]*\$/\1/p" "$TMPDIR/gain")"
}
potentials() {
	for i in 1 2 3; do
		eval "integrator$i=\$(created ':pa_integrator_local_create([$rank])')"
	done
	session_asks \
		"thread_has_started_lib_call([$rank],\"MPI_Recv\"): pa_integrator_local_increment($integrator1,1.0,\$time)" \
		>/dev/null
	session_asks \
		"thread_has_ended_lib_call([$rank],\"MPI_Recv\"): pa_integrator_local_increment($integrator1,-1.0,\$time)" \
		>/dev/null
	for i in 2 3; do
		eval "token=\$integrator$i"
		session_asks \
			"patop_lib_call_started([$rank],\"MPI_Recv\",[$((i - 1))]): patop_integrator_local_increment($token,1.0,\$time,\$par2)" \
			>/dev/null
		session_asks \
			"patop_lib_call_ended([$rank],\"MPI_Recv\",[$((i - 1))]): patop_integrator_local_increment($token,-1.0,\$time,0)" \
			>/dev/null
	done
	: >"$TMPDIR/m.begin"
	check "$f: a receive from any source is under way" until_true 20 is_inside
	check "$f: it counts for no rank yet" counts_not_yet
	: >"$TMPDIR/m.send"
	check "$f: it ends" until_true 20 is_over
	check "$f: then it counts from its beginning, for the one it came from" counts_for_one
	check "$f: the measurement has gained as much" gained
}

for f in $flavours; do
	check "$f: the program continues" begins "$f" "$f" 2
	check "$f: it is watched" until_true 20 ranks_are 2
	rank=$(rank_token 0)
	session_begins
	traces
	then_order
	session_ends
	check "$f: the program has ended well" end_job "$f" "$job"
	check "$f: and its output is that of the unwatched program" same_output "$f" "$f" 2
	kill_all
	check "$f: another program is watched" measured
	rank=$(rank_token 0)
	session_begins
	potentials
	session_ends
	check "$f: it has ended well" end_job m "$job"
	check "$f: it has received what was sent" grep -qx 'received 42' "$TMPDIR/m.out"
	kill_all
	flood
	kill_all
done
tap_end
