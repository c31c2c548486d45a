#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Posted and incomplete operations of real ranks, by message_queue_get_info, with each MPI.
# timeout: 120
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi

asks_queue() { # FLAGS
	session_asks ":message_queue_get_info([$p0],$1)"
}
step_is_done() {
	[ -e "$dir/$1.done" ]
}
second_alone_differs() {
	asks_queue 64 >"$dir/comm"
	cat "$dir/comm"
	sed \
		-n 's/.* 4,\[\([0-9]*\)\],\[\([0-9]*\)\],\[\([0-9]*\)\],\[\([0-9]*\)\],.*/\1 \2 \3 \4/p' \
		"$dir/comm" |
		awk '{ n++; bad += $1 == $2 || $1 != $3 || $1 != $4 } END { exit n != 1 || bad }'
}
# The ended ranks of the previous job are not queried.
rank_0_is() {
	p0=$(session_asks ':proc_get_info([],1025)' | sed -n \
		's/^[0-9]* 0 \(p_[^ ]*\) 0,[0124]$/\1/p')
	[ -n "$p0" ]
}

for f in $flavours; do
	dir=$TMPDIR/$f
	mkdir "$dir"
	timeout $((100 * PATIENCE)) omig run --job="$f" -- "mpirun.$f" -n 2 "$T/queued.$f" "$dir" \
		>"$dir/out" 2>"$dir/err" &
	run=$!
	check "$f: both ranks are watched" until_true 30 job_has_ranks "$f" 2
	session_begins
	check "$f: rank 0 is there" until_true 20 rank_0_is
	check "$f: the first question finds an empty list and begins it" says \
		"^1 0 $p0 0,[0-9]+,0,1$" asks_queue 0
	: >"$dir/1"
	until_true 30 step_is_done 1
	check "$f: four operations are open" says "^1 0 $p0 4,[0-9]+,0,1$" asks_queue 0
	check "$f: they are reported oldest first, with ranks, sizes and tags" \
		says \
		"^1 0 $p0 4,\[1,64,0,71\],\[-1,32,0,72\],\[0,4194304,1,73\],\[1,16,0,74\],[0-9]+,0,1$" \
		asks_queue 54
	check "$f: with the calls that posted them" \
		says \
		'\[u_0,"MPI_Irecv"\],\[u_0,"MPI_Irecv"\],\[u_0,"MPI_Isend"\],\[u_0,"MPI_Recv_init"\]' \
		asks_queue 129
	check "$f: another communicator is a list of its own" second_alone_differs
	: >"$dir/2"
	until_true 30 step_is_done 2
	check "$f: what is complete is not listed" says "^1 0 $p0 0,[0-9]+,0,1$" asks_queue 54
	: >"$dir/3"
	check "$f: a blocking receive is listed while it blocks" until_true 20 says \
		"^1 0 $p0 1,\[1,4,75,\"MPI_Recv\"\],[0-9]+,0,1$" asks_queue 166
	session_ends
	session_begins
	check "$f: a request that comes only then gets at once that it began before" \
		until_true 20 says \
		"^1 0 $p0 1,\[1,-1,75,\"MPI_Recv\",1\],[0-9]+,0,1$" asks_queue 678
	check "$f: with the time for which it has been in it at the least" says \
		"^1 0 $p0 1,\[[0-9.e-]+\]," asks_queue 256
	: >"$dir/4"
	check "$f: the program ends well" wait "$run"
	check "$f: with its own result" grep -qx 'sum 30' "$dir/out"
	session_ends
done
tap_end
