#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig measure on an MPI program that keeps a log of its own, under each MPI: what is measured by
# process, of all, since the start and since the last read is what the program says.
# timeout: 120
# shellcheck disable=SC2154 # set by faults.sh
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi

measures() { # NAME OPTION...: in the background, as CSV in $TMPDIR/NAME.csv
	name=$1
	shift
	: >"$TMPDIR/$name.csv" # not when the tool gets round to it
	omig measure --csv --every 200ms "$@" >"$TMPDIR/$name.csv" 2>"$TMPDIR/$name.err" &
	echo $! >>"$TMPDIR/pids"
}
measures_to_the_end() { # NAME OPTION...: the same, and its end is awaited
	measures "$@"
	eval "end_$1=$!"
	sed -i '$d' "$TMPDIR/pids"
}
has_ended() { # NAME
	eval "! kill -0 \$end_$1"
}
ended_well() { # NAME: with a value of all that was there
	cat "$TMPDIR/$1.err"
	grep -q 'the processes have ended' "$TMPDIR/$1.err" && eval "wait \$end_$1" || return 1
	tail -n 2 "$TMPDIR/$1.csv"
	tail -n 1 "$TMPDIR/$1.csv" | awk -F, \
		'{ exit $6 != "" && $9 == $10 && $13 == "ended" ? 0 : 1 }'
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
		echo "rank $rank: measured $(value "$2" "rank$rank@"), logged $(logged "$1" \
			"$rank")"
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
same_time() { # of calls that each have a partner it is the partners' time
	whole=$(value time all)
	awk -v a="$whole" -v b="$(value partners all)" 'BEGIN {
		printf "of all %s s, of all partners %s s\n", a, b
		d = a - b; exit a > 0 && (d < 0 ? -d : d) <= a / 100 ? 0 : 1 }'
}
pairs_agree() { # all that a rank sends goes to the next one
	awk -F, -v books="$(cat "$TMPDIR/$f.log."[0-3] | awk '{ print $3 }' | tr '\n' ' ')" '
		NR > 1 { v[$4] = $6 }
		END {
			split(books, sent, " ")
			for (pair in v) {
				n++
				from = substr(pair, 5, 1)
				to = substr(pair, index(pair, " -> rank") + 8, 1)
				want = to == (from + 1) % 4 ? sent[from + 1] : 0
				print pair, v[pair], want
				if (v[pair] != want) bad = 1
			}
			exit bad || n != 16
		}' "$TMPDIR/pairs.csv"
}
all_covered() { # NAME: each value of the last read has all in it
	tail -n 1 "$TMPDIR/$1.csv" | awk -F, '{ exit $9 == $10 && $13 == "" ? 0 : 1 }'
}

for f in $flavours; do
	timeout $((60 * PATIENCE)) omig run -- "mpirun.$f" -n 4 "$T/phased.$f" "$TMPDIR/$f" \
		>"$TMPDIR/$f.out" 2>&1 &
	job=$!
	check "$f: four ranks come up" until_true 30 ranks_are 4
	: >"$TMPDIR/pids"
	measures bytes Send_volume --by process
	measures calls Send_count --by process
	measures in Receive_volume --by process
	measures barriers MPI_Barrier_count --by process
	measures all Send_volume
	measures since Send_count --since-last
	measures time Send_delay
	measures partners Send_delay --partners 0,1,2,3
	measures pairs Send_volume --by process,partner
	measures text -f examples/metrics/send_volume.pmsl Send_volume_for_interaction
	for name in bytes calls in barriers all since time partners pairs; do
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
	check "$f: each pair of ranks has what one has sent to the other" until_true 20 pairs_agree
	check "$f: the time of sends is split by partners" until_true 20 same_time
	check "$f: all are in it" until_true 20 all_covered all
	check "$f: what names no partner is refused with the reason" says 'its calls name none' \
		omig measure MPI_Barrier_delay --by partner
	check "$f: with the status of an unknown value" status_is 6 omig measure \
		MPI_Barrier_delay --by partner
	check "$f: a region that no program has reads as no number" says 'all - B 0/4 ' \
		omig measure Send_volume --region nowhere --count 100
	check "$f: and ends at once" says 'none of the objects can measure Send_volume' \
		omig measure Send_volume --region nowhere --count 100
	check "$f: each rank reports until its interval is narrow" says \
		'"reached":true,.*("name":"rank.*){4}' sh -c \
		"omig measure Send_volume --by process --every 100ms --until 'ci(0.95, min 4) < 1e9' --json | tail -n 1"
	dfg=$(omig explain | sed -n 's/^\(d_[0-9]*\) .* Send_volume .*process$/\1/p' | head -n 1)
	check "$f: it is explained" says "^n_1 +n_1 .* input +Send_volume +p_1_[^ ]* +[1-9]" omig \
		explain "$dfg"
	check "$f: with what goes up each link" says "^s_1 +up +[1-9][0-9]* +[0-9.]+ +[0-9.]+K?\$" \
		omig explain "$dfg"
	# shellcheck disable=SC2046 # words
	kill -INT $(cat "$TMPDIR/pids")
	check "$f: ctrl-C ends it" until_true 20 says '^MEASUREMENT.*BY$' sh -c \
		'omig explain | tail -n 1'
	measures_to_the_end last Send_volume
	measures_to_the_end rate Send_volume --rate --since-last
	for name in last rate; do
		check "$f: $name: reads come" until_true 30 reads $name 1
	done
	: >"$TMPDIR/$f.go"
	check "$f: the program ends as without a monitor" status_is 0 wait $job
	for name in last rate; do
		check "$f: $name: it ends with the program" until_true 30 has_ended $name
		check "$f: $name: it says so, and has the value of the end" ended_well $name
	done
	check "$f: no rank of it is left" until_true 30 ranks_are 0
done

# --- by region: a program whose probes make two, and that prints its calls between them
passes() {
	grep -c iteration_end "$TMPDIR/loops.$f.0"
}
is_in() { # NAME REGION: the last value
	awk -F, -v region="$2" '$14 == region { v = $6 } END { print v }' "$TMPDIR/$1.csv"
}
region_has() { # NAME REGION VALUE
	echo "$1 in $2: measured $(is_in "$1" "$2"), logged $3"
	[ "$(is_in "$1" "$2")" = "$3" ]
}
region_took() { # NAME REGION: more than nothing
	awk -v t="$(is_in "$1" "$2")" 'BEGIN { exit t + 0 > 0 ? 0 : 1 }'
}
all_sent() {
	cat "$TMPDIR/loops.$f".[01] | awk '/iteration_end/ { last[$2 " " n[$2]++] = $5;
		if ($2 > vt) vt = $2 }
		END { print last[vt " 0"] + last[vt " 1"] }'
}
# A read at each probe of the first rank: which call of an action list has asked for it makes no
# difference to what is in it.
reads_at_probes() {
	first=$(omig tree --json | tr '{' '\n' | grep '"rank":0,' | grep -v '"state":"ended"' |
		grep -o '"token":"p_[0-9a-z_]*"' | cut -d'"' -f4)
	session_begins
	session_asks ':site_attach([]) node_attach([]) proc_attach([])' >/dev/null
	dfg=$(session_asks ':dfg_create([],"","Send_volume",["every_ms",0])' | sed -n \
		's/.* \(d_[0-9]*\)$/\1/p')
	session_asks \
		"thread_executes_probe([$first],\"iteration_end\"): print([\$vt]) dfg_read([$dfg])" \
		>/dev/null
	at_probes=$(wc -l <"$TMPDIR/session.asked")
	session_asks ":dfg_start([$dfg])"
}
# Each event has its read. The read has the bytes that the rank had sent by then, and no more than
# all ranks sent.
each_has_its_read() {
	session_told "$at_probes" | tail -n 4
	session_told "$at_probes" | awk -v books="$TMPDIR/loops.$f.0" -v all="$(all_sent)" '
		BEGIN { while ((getline line <books) > 0) if (split(line, w, " ") &&
			w[1] == "iteration_end") sent[w[2]] = w[5] }
		/^1 0 - 1,/ { split($4, w, ","); vt = w[2]; events++ }
		/^2 / {
			reads++
			n = split($4, w, ",")
			if ($2 != 0 || n < 6 || w[5] < sent[vt] || w[5] > all) {
				print "vt", vt, "sent", sent[vt], $0; bad++ }
		}
		END { print events, "events", reads, "reads", bad + 0, "bad";
			exit bad || events < 20 || events != reads }'
}
for f in $flavours; do
	[ -x "$B/examples/loops.$f" ] || continue
	rm -f "$TMPDIR/begin" "$TMPDIR/enough"
	timeout $((60 * PATIENCE)) omig run -- "mpirun.$f" -n 2 "$B/examples/loops.$f" --passes \
		100000 --from "$TMPDIR/begin" \
		--until "$TMPDIR/enough" --log "$TMPDIR/loops.$f" >"$TMPDIR/$f.out" 2>&1 &
	job=$!
	check "$f: two ranks with regions come up" until_true 30 ranks_are 2
	: >"$TMPDIR/pids"
	measures sent Send_volume --by region
	measures met MPI_Barrier_count --by region --region loop --region begin_send..end_send
	measures waited Barrier_delay --by region --region begin_send..end_send --region \
		end_send..loop_stop
	echo 'M(Process p, Region[] places, TimeInterval t) { RETURN Send_volume(p, places, t); }' \
		>"$TMPDIR/where.pmsl"
	measures text -f "$TMPDIR/where.pmsl" M --by region --region loop
	for name in sent met waited text; do
		check "$f: $name: reads come" until_true 30 reads $name 1
	done
	check "$f: a region that does not exist is reported" says \
		'region nowhere: the process has no probes of that name' \
		omig measure Send_volume --region nowhere --every 100ms --count 1
	check "$f: at each probe a measurement is to be read" says '^1 0 ' reads_at_probes
	: >"$TMPDIR/begin"
	check "$f: it makes its passes" until_true 60 sh -c \
		"[ \"\$(grep -c iteration_end '$TMPDIR/loops.$f.0')\" -gt 20 ]"
	enough $job
	check "$f: each event has a read of what was done by then" until_true 20 each_has_its_read
	session_ends
	check "$f: what it sends is in the region of sends" until_true 20 region_has sent send \
		"$(all_sent)"
	check "$f: and in the one around it" until_true 20 region_has sent loop "$(all_sent)"
	check "$f: a metric of one's own takes regions, too" until_true 20 region_has text loop \
		"$(all_sent)"
	check "$f: barriers are in the outer one" until_true 20 region_has met loop \
		$((2 * $(passes)))
	check "$f: and not in the other" until_true 20 region_has met begin_send..end_send 0
	check "$f: nor is their time" until_true 20 region_has waited begin_send..end_send 0
	check "$f: which is behind it" until_true 20 region_took waited end_send..loop_stop
	# shellcheck disable=SC2046 # words
	kill -INT $(cat "$TMPDIR/pids") 2>/dev/null
	check "$f: no rank is left" until_true 30 ranks_are 0
done

check 'a metric that there is not' status_is 2 omig measure Nonsense
check 'a mistake in a text is shown with its place' says 'bad.pmsl:2:1: error: ' sh -c \
	'echo "M(" >"$TMPDIR/bad.pmsl"; omig measure -f "$TMPDIR/bad.pmsl" M'
check 'an object that there is not' status_is 4 omig measure Send_volume --objects nowhere
check 'options that say two things' status_is 2 omig measure Send_volume --csv --json
tap_end
