#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig measure on an MPI program that keeps a log of its own, under each MPI: what is measured by process,
# of all, since the start and since the last read is what the program says.
# timeout: 120
# shellcheck disable=SC2154 # set by faults.sh
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi

measures() { # NAME OPTION...: in the background, as CSV in $TMPDIR/NAME.csv
	name=$1
	shift
	omig measure --csv --every 200ms "$@" >"$TMPDIR/$name.csv" 2>"$TMPDIR/$name.err" &
	echo $! >>"$TMPDIR/pids"
}
reads() { # NAME N: there are so many lines
	[ "$(wc -l <"$TMPDIR/$1.csv")" -gt "$2" ]
}
value() { # NAME LABEL: the last one
	awk -F, -v label="$2" '$4 ~ "^" label { v = $6 } END { print v }' "$TMPDIR/$1.csv"
}
added() { # NAME: of all reads
	awk -F, 'NR > 1 { v += $6 } END { printf "%d\n", v }' "$TMPDIR/$1.csv"
}
logged() { # FIELD [RANK]: of that rank, or of all
	cat "$TMPDIR/$f.log.${2:-}"* | awk -v field="$1" '{ v += $field } END { print v }'
}
agree() { # FIELD NAME: by process
	for rank in 0 1 2 3; do
		echo "rank $rank: measured $(value "$2" "rank$rank@"), logged $(logged "$1" "$rank")"
		[ "$(value "$2" "rank$rank@")" = "$(logged "$1" "$rank")" ] || return 1
	done
}
agrees() { # FIELD NAME: of all together
	echo "measured $(value "$2" all), logged $(logged "$1")"
	[ "$(value "$2" all)" = "$(logged "$1")" ]
}
adds_up() { # FIELD NAME
	echo "measured $(added "$2"), logged $(logged "$1")"
	[ "$(added "$2")" = "$(logged "$1")" ]
}
phase_is() { # K: all ranks have done it
	echo "$1" >"$TMPDIR/$f.phase.new" && mv "$TMPDIR/$f.phase.new" "$TMPDIR/$f.phase"
	until_true 30 phase_is_done "$1"
}
phase_is_done() {
	[ "$(logged 1)" = $((4 * $1)) ]
}
all_covered() { # NAME: each value of the last read has all in it
	tail -n 1 "$TMPDIR/$1.csv" | awk -F, '{ exit $9 == $10 && $13 == "" ? 0 : 1 }'
}

for f in $flavours; do
	timeout $((60 * PATIENCE)) omig run -- "mpirun.$f" -n 4 "$T/phased.$f" "$TMPDIR/$f" >"$TMPDIR/$f.out" 2>&1 &
	job=$!
	check "$f: four ranks come up" until_true 30 ranks_are 4
	: >"$TMPDIR/pids"
	measures bytes Send_volume --by process
	measures calls Send_count --by process
	measures in Receive_volume --by process
	measures barriers MPI_Barrier_count --by process
	measures all Send_volume
	measures since Send_count --since-last
	measures text -f examples/metrics/send_volume.pmsl Send_volume_for_interaction
	for name in bytes calls in barriers all since; do
		check "$f: $name: reads come" until_true 30 reads $name 1
	done
	for k in 1 2; do
		check "$f: the program goes on" phase_is $k
		check "$f: bytes sent are those of the log" until_true 20 agree 3 bytes
		check "$f: messages sent are those of the log" until_true 20 agree 2 calls
		check "$f: bytes received are those of the log" until_true 20 agree 5 in
		check "$f: barriers are those of the log" until_true 20 agree 6 barriers
		check "$f: of all together it is the sum" until_true 20 agrees 3 all
		check "$f: since the last read it adds up" until_true 20 adds_up 2 since
	done
	check "$f: all are in it" until_true 20 all_covered all
	check "$f: each rank tells until its interval is narrow" says '"reached":true,.*("name":"rank.*){4}' sh -c \
		"omig measure Send_volume --by process --every 100ms --until 'ci(0.95, min 4) < 1e9' --json | tail -n 1"
	dfg=$(omig explain | sed -n 's/^\(d_[0-9]*\) .* Send_volume .*process$/\1/p' | head -n 1)
	check "$f: it is explained" says "^n_1 +n_1 .* input +Send_volume +p_1_[^ ]* +[1-9]" omig explain "$dfg"
	check "$f: with what goes up each link" says "^s_1 +up +[1-9][0-9]* +[0-9.]+ +[0-9.]+K?\$" omig explain "$dfg"
	# shellcheck disable=SC2046 # words
	kill -INT $(cat "$TMPDIR/pids")
	check "$f: ctrl-C ends it" until_true 20 says '^MEASUREMENT.*BY$' sh -c 'omig explain | tail -n 1'
	: >"$TMPDIR/$f.go"
	check "$f: the program ends as if nobody had looked" status_is 0 wait $job
done

check 'a metric that there is not' status_is 2 omig measure Nonsense
check 'a mistake in a text is shown with its place' says 'bad.pmsl:2:1: error: ' sh -c 'echo "M(" >"$TMPDIR/bad.pmsl"; omig measure -f "$TMPDIR/bad.pmsl" M'
check 'an object that there is not' status_is 4 omig measure Send_volume --objects nowhere
check 'options that say two things' status_is 2 omig measure Send_volume --csv --json
tap_end
