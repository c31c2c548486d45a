#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a tool measures with objects of its own in a running program, under each
# MPI: records in trace buffers.
# timeout: 120
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi

created() {
	session_asks "$1" | sed -n 's/.* \([a-z]*_[a-z]*_[0-9]*\)$/\1/p'
}
rank_token() { # RANK
	omig tree --json | tr '{' '\n' | sed -n "s/.*\"token\":\"\(p_[0-9a-z_]*\)\".*\"rank\":$1,.*/\1/p" | head -n 1
}
begins() {
	job "$@" && holds "$1"
}

# --- records of barriers: fetched bit by bit, all that were counted and no other
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
# What lay in the ring of the rank when the request was disabled did not become a record.
all_are_there() {
	fetch 1000
	n=$(counted) have=$(records "$TMPDIR/all")
	echo "$have records, $n counted"
	[ "$have" -le "$n" ] && [ "$have" -ge $((n - 3)) ]
}
numbers_follow() { # each answer begins where the one before has ended
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
	session_asks "thread_has_ended_lib_call([$rank],\"MPI_Barrier\"): pa_counter_local_increment($counter,1) trace_buffer_append($buffer,\$time,5,[\$thread,\$par0])" >/dev/null
	check "$f: records are fetched while the program runs" until_true 20 fetched_at_least 20
	session_asks ":csr_disable([$(session_told "$line" | grep -o 'c_[0-9]*' | head -n 1)])" >/dev/null
	check "$f: there is one for each call that was counted" all_are_there
	check "$f: their numbers follow each other" numbers_follow
	check "$f: they are of the thread that made the calls" of_one_thread
	check "$f: no event was told by itself" sh -c "! grep -q '^$line [0-9]* 10 ' '$TMPDIR/session.out'"
	session_asks ":trace_buffer_delete([$buffer])" >/dev/null
	check "$f: a deleted buffer is not there" says '24' session_asks ":trace_buffer_read([$buffer])"
}

for f in $flavours; do
	check "$f: the program goes on" begins "$f" "$f" 2
	check "$f: it is watched" until_true 20 ranks_are 2
	rank=$(rank_token 0)
	session_begins
	traces
	session_ends
	check "$f: the program has ended well" end_job "$f" "$job"
	check "$f: and has said what it says unwatched" same_output "$f" "$f" 2
	kill_all
done
tap_end
