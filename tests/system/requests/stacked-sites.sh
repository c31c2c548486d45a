#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two sms below the sm of a site, four virtual hosts: which sm serves which host. One of the two is
# killed while a conditional request and a counter are live.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need mpirun.openmpi
program=$(heat openmpi)
[ -x "$program" ] || skip_all 'no example program'
if [ -z "${BED_DIR:-}" ]; then
	"$bed" can || skip_all 'virtual hosts are not permitted here'
	trap - EXIT
	exec "$bed" run -n 4 -s 1 -f -- sh "$0"
fi

export HOME="$TMPDIR/home" OMPI_MCA_plm_rsh_no_tree_spawn=1
mkdir -p "$HOME" "$XDG_CONFIG_HOME/omig"
"$bed" conf >"$XDG_CONFIG_HOME/omig/mainsm.conf"
head=$("$bed" address head1)
mainsm --foreground --listen "$head" >"$TMPDIR/conn" 2>"$TMPDIR/mainsm.log" &
mainsm=$!
below1='' below2=''
# shellcheck disable=SC2086 # none, or one
trap 'end_all; kill $mainsm $below1 $below2 2>/dev/null' EXIT
check 'mainsm is ready' until_true 20 grep -q '^omig1:' "$TMPDIR/conn"
check 'a token for sms' sh -c 'omig cert token sm --uses 2 >"$TMPDIR/token"'

begin_below() {
	OMIG_MAINSM=$(cat "$TMPDIR/token") sm --foreground --site site1 --parent site --listen \
		"$head" --linger 0 2>>"$TMPDIR/below.log" &
}
begin_below
below1=$!
begin_below
below2=$!
sms_below_are() {
	omig status --json >"$TMPDIR/status" && tr '{' '\n' <"$TMPDIR/status" |
		grep -q "\"sms\":$1[,}]"
}
check 'two sms stand below that of the site' until_true 30 sms_below_are 2
check 'omig status says on which level each is' until_true 10 sh -c \
	'[ "$(omig status -v | grep -c "level = 2")" = 2 ] && omig status -v | grep -q "level = 1"'

# shellcheck disable=SC2046 # words
omig run -- $("$bed" mpirun openmpi node1,node2,node3,node4) -n 4 "$program" --seconds 900 \
	>"$TMPDIR/out" 2>"$TMPDIR/err" &
job=$!
check 'four ranks on four nodes are visible' until_true 60 ranks_are 4

# The number of lms of each of the two, the fewest first.
shares_are() {
	omig status --json | tr '{' '\n' | sed -n 's/.*"lms":\([0-9]*\),.*"level":2,.*/\1/p' |
		sort -n | tr '\n' ' ' >"$TMPDIR/shares"
	cat "$TMPDIR/shares"
	[ "$(cat "$TMPDIR/shares")" = "$1 " ]
}
check 'each serves two of the hosts' until_true 20 shares_are '2 2'

covered() {
	omig request --json ':node_get_info([],1)' 2>/dev/null | grep -o '"node[1-4]"' | sort -u |
		wc -l
}
all_covered() {
	[ "$(covered)" = 4 ]
}
check 'a request reaches all of them' until_true 10 all_covered

# --- a connected tool: a counter and a condition in all four ranks
session_begins
event='thread_has_started_lib_call([],"MPI_Allreduce"):'
created() {
	session_asks "$1" | sed -n 's/.*\(pa_c[a-z]*_[0-9]*\).*/\1/p' | head -n 1
}
sum=$(created ':pa_counter_global_create([])')
each=$(created ':pa_counter_local_create([])')
check 'there is a counter over all ranks, and one a rank' test -n "$sum" -a -n "$each"
session_asks "$event pa_counter_local_increment($each,1) pa_counter_global_increment($sum,1)" \
	>"$TMPDIR/asked"
fires=$(($(wc -l <"$TMPDIR/session.asked") + 1))
session_asks "$event omig_at_most(5) print([\$node])" >>"$TMPDIR/asked"
counted() { # the number of ranks that answer
	session_asks ":pa_counter_read([$sum])" | sed -n 's/.*[ ,]\([0-9][0-9]*\)$/\1/p' | tail -n 1
}
counted_more_than() {
	last=$(counted) && echo "counted $last" && [ "${last:-0}" -gt "$1" ]
}
check 'it counts' until_true 20 counted_more_than 100
# From line N of the events so far: the number of hosts
hosts_fire() {
	[ "$(session_told $fires | tail -n "+$1" | grep -o 'n_[0-9]*' | sort -u | wc -l)" = 4 ]
}
check 'the condition fires on all four hosts' until_true 20 hosts_fire 1

# --- one of the two is killed
had=$(counted)
objects=$(tokens_of p)
told=$(session_told $fires | wc -l)
kill -KILL $below1
began=$(date +%s%N)
check 'after the death of an inner sm a request reaches all hosts again' until_true 20 all_covered
echo "# full coverage $((($(date +%s%N) - began) / 1000000)) ms after kill -9, as polled"
check 'the other one serves all four' until_true 20 shares_are '4'
same_objects() {
	[ "$(tokens_of p)" = "$objects" ]
}
check 'all processes are there, under their names' until_true 10 same_objects
check 'the counter has lost nothing, and continues' until_true 20 counted_more_than "$had"
check 'the condition fires on all four hosts again' until_true 20 hosts_fire $((told + 2))
# Both counters count the same calls, one a rank and one over all; read one after the other.
each_sum() {
	session_asks ":pa_counter_read([$each])" |
		awk '$3 ~ /^p_/ { split($4, v, ","); n += split($3, p, ",") * v[2] } END {
		print n + 0 }'
}
nothing_twice() {
	before=$(each_sum)
	now=$(counted)
	after=$(each_sum)
	echo "$now between $before and $after"
	[ "$before" -gt 0 ] && [ "$now" -ge $((before - 4)) ] && [ "$now" -le "$after" ]
}
# A host that answers late is missing in one of the three.
check 'nothing is counted twice, and nothing left out' until_true 10 nothing_twice
session_ends

# --- it is restarted, and the other one is killed
begin_below
below1=$!
check 'an sm that is started again stands below' until_true 30 sms_below_are 2
kill -KILL $below2
check 'and takes the hosts of the other' until_true 20 shares_are '4'
check 'a request reaches all of them' until_true 10 all_covered
kill -TERM $below1
check 'without any the sm of the site serves them' until_true 20 all_covered
check 'and none is below it' until_true 20 sms_below_are 0

check 'the program has noticed nothing' kill -0 $job
kill -KILL $job # its ranks go with the virtual hosts
tap_end
