#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 120
# A planted slow rank is named from the messages and collective calls of a run, with each MPI. It is
# if others wait for it in MPI_Send, too. All ranks of a collective call have one id for it. No rank
# leaves a call before all have entered.
. tests/system/lib.sh
flavours=
for f in openmpi mpich; do
	command -v mpirun.$f >/dev/null 2>&1 && [ -x "$B/examples/loops.$f" ] &&
		flavours="$flavours $f"
done
[ -n "$flavours" ] || skip_all 'no MPI'
export LC_ALL=C.UTF-8
cd "$TMPDIR" || exit 1

record() { # FLAVOUR RANKS PROGRAM...: into run.olog
	f=$1 n=$2
	shift 2
	over=
	[ "$f" = openmpi ] && over=--oversubscribe
	# shellcheck disable=SC2086 # no word or one
	omig run --interactions=run.olog -- "mpirun.$f" $over -n "$n" "$@" >job.out 2>job.err \
		</dev/null
}
first() { # PATTERN COMMAND...: the first two lines of its output
	pattern=$1
	shift
	"$@" >first.out 2>first.err
	head -n 4 first.out first.err
	head -n 2 first.out | grep -Eq "$pattern"
}
late() { # N: so many or more, as the first ones may have been made before the events were on
	omig log cat run.olog | grep -c event=interaction.sent >late.out
	cat late.out
	[ "$(cat late.out)" -ge "$1" ]
}
# Ids of calls against their times: `all` ranks depend on all others. Ranks of one host have one
# clock. The first calls may have been made before the events were on.
judge() {
	omig log cat run.olog 2>/dev/null | awk '
		function value(name,  i) {
			for (i = 1; i <= NF; i++)
				if (index($i, name "=") == 1) return substr($i, length(name) + 2)
		}
		{ t = substr(value("ts"), 12, 18); rank = value("rank")
		  split(t, h, ":"); t = h[1] * 3600 + h[2] * 60 + h[3] }
		/event=interaction.wait/ { wait[rank] = t }
		/event=interaction.meet/ && value("role") == 3 {
			c = value("call"); n[c]++; size[c] = value("ranks")
			if (wait[rank] > last[c]) last[c] = wait[rank]
			if (!(c in first) || t < first[c]) first[c] = t
			if (seen[c, rank]++) twice++
		}
		END {
			for (c in n) {
				if (n[c] != size[c]) { few++; continue }
				whole++
				# 1 ms: the rate of the clock is refined meanwhile
				if (first[c] + 0.001 < last[c]) early++
			}
			printf "%d calls of all ranks, %d of some, ", whole, few
			printf "%d wrong, %d twice\n", early, twice
			exit !(whole > 5 && !early && !twice && few <= 8)
		}'
}

for f in $flavours; do
	loops=$B/examples/loops.$f heat=$B/examples/heat2d.$f
	check "$f: a program with regions is recorded" record "$f" 4 "$loops" --passes 60 \
		--work 10000 --slow 2
	check "$f: the command shows the next one" \
		grep -q '^omig: interactions: omig interaction path run.olog$' job.err
	check "$f: the path names the slow rank and its region" first \
		'^The slow stage: rank 2, region compute: ' \
		omig interaction path --step loop run.olog
	check "$f: so does the path of the whole run" first \
		'^The slow stage: rank 2, region.* compute' omig interaction path run.olog
	check "$f: each pass is an interaction" says '^loop 60$' sh -c \
		'omig interaction split --step loop run.olog 2>/dev/null |
			grep -o "\"name\":\"loop 60\"" | tr -d "\"" | sed "s/name://"'
	check "$f: no rank leaves a call of all before the last has entered" judge
	check "$f: a program without regions is recorded" record "$f" 4 "$heat" --seconds 2 \
		--slow-rank 2
	check "$f: the path names the slow rank" first '^The slow stage: rank 2: ' \
		omig interaction path run.olog
	check "$f: no rank leaves a call of all before the last has entered" judge
	check "$f: a program is recorded whose sends wait for their receiver" record "$f" 2 \
		"$B/tests/libapp/rendezvous.$f"
	check "$f: these sends return late" late 20
	check "$f: the path names the receiver" first '^The slow stage: rank 1: ' \
		omig interaction path run.olog
done
tap_end
