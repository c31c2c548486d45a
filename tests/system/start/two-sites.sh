#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two sites of two virtual hosts each, real sms and lms: the tree, a host that is disconnected and
# connected again, and a host that is stopped.
# timeout: 150
. tests/system/lib.sh
within_bed 4 2
bed_mainsm

# shellcheck disable=SC2046,SC2086 # words
omig run -- $("$bed" mpirun openmpi node1,node2,node3,node4) -n 4 "$program" $as_long_as_needed \
	>"$TMPDIR/out" 2>"$TMPDIR/err" &
job=$!
check 'four ranks on four nodes are visible' until_true 30 ranks_are 4

state_of() {
	omig tree --depth nodes | sed -n "s/.*node $1  \([a-z]*\).*/\1/p"
}

state_is() {
	[ "$(state_of "$1")" = "$2" ]
}

both_sites() {
	omig tree --depth nodes >"$TMPDIR/tree"
	cat "$TMPDIR/tree"
	awk '/site site1/ { s = 1 } /site site2/ { s = 2 } / node node/ { print s, $3 }' \
		"$TMPDIR/tree" | sort >"$TMPDIR/got"
	printf '1 node1\n1 node2\n2 node3\n2 node4\n' | cmp - "$TMPDIR/got"
}

sms_serve() {
	omig status -v >"$TMPDIR/status"
	cat "$TMPDIR/status"
	[ "$(grep -c '^sm ' "$TMPDIR/status")" = 2 ] && [ "$(grep -c '^lm ' "$TMPDIR/status")" = 4 ]
}

every_node_answers() {
	omig request ':node_get_info([],1)' >"$TMPDIR/nodes"
	cat "$TMPDIR/nodes"
	[ "$(grep -c '"node[1-4]"' "$TMPDIR/nodes")" = 4 ]
}

check 'the tree has the nodes under their sites' both_sites
check 'each site has its sm, each host its lm' sms_serve
check 'a request reaches all of them' every_node_answers

# --- the cable

three_of_four() {
	omig request ':node_get_info([],1)' >"$TMPDIR/cut.out" 2>"$TMPDIR/cut.err"
	status=$?
	cat "$TMPDIR/cut.out" "$TMPDIR/cut.err"
	[ $status = 6 ] && [ "$(grep -c '"node[1-4]"' "$TMPDIR/cut.out")" = 3 ] &&
		grep -q 'of 4 .*answered\|3 of' "$TMPDIR/cut.err"
}

"$bed" cut node4
check 'the first answer without it comes by the deadline, and reports that' three_of_four
is_missed() {
	state_is node4 silent || state_is node4 lost
}
check 'a cut cable shows' until_true 10 is_missed
check 'the other nodes are up' until_true 10 state_is node3 up
check 'omig tree says 6' status_is 6 omig tree
"$bed" heal node4
check 'a healed cable is noticed without help' until_true 20 state_is node4 up
check 'everything answers again' until_true 10 every_node_answers
check 'its rank is counted again' until_true 10 ranks_are 4

# --- a host that stops

"$bed" freeze node2
check 'a frozen host shows' until_true 10 state_is node2 silent
check 'and does not stop an answer' three_of_four
"$bed" thaw node2
check 'a continued host returns' until_true 20 state_is node2 up

enough $job
status=$?
check 'the program has ended well' test $status = 0
check 'its totals can still be read' says '^[ ]+3 +node4' omig top --total --once --every 0.2
omig stop >"$TMPDIR/stop" 2>&1
gates_are_empty() {
	! "$bed" exec site1-gate ps ax | grep -q '[b]in/sm' && ! "$bed" exec node1 ps ax |
		grep -q '[b]in/lm'
}
check 'omig stop ends sms and lms everywhere' until_true 8 gates_are_empty
tap_end
