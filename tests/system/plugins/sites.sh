#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plug-ins on two sites of two virtual hosts each. On one host the plug-in crashes: its figure is an
# error that names the host, and never a number. Measurements and the other hosts go on.
# timeout: 120
. tests/system/lib.sh
need cc
within_bed 4 2
bed_mainsm

so=$TMPDIR/bad.so
compile() { cc -I"$B/examples/include" -fPIC -shared -o "$so" tests/system/plugins/bad.c; }
check 'the plug-in compiles' compile
# shellcheck disable=SC2046,SC2086 # words
omig run -- $("$bed" mpirun openmpi node1,node2,node3,node4) -n 4 "$program" \
	$as_long_as_needed >"$TMPDIR/out" 2>"$TMPDIR/err" &
job=$!
check 'four ranks on four nodes are visible' until_true 60 ranks_are 4

# --- on all hosts
figures() { # returns the status of the request
	omig request --timeout 20s "$1" >"$TMPDIR/figures" 2>&1
	got=$?
	cat "$TMPDIR/figures"
	return $got
}
numbers_are() { # N: so many nodes have a number; equal ones are in one line
	n=$(sed -n 's/: [0-9]*$//p' "$TMPDIR/figures" | grep -o 'n_[0-9]*' | sort -u | wc -l)
	[ "$n" = "$1" ]
}
answers() { # N: so many nodes reply with a number
	figures ':bad_answer([])'
	numbers_are "$1"
}
check 'it is added on each host of both sites' says 'has plug-in bad' omig plugin add "$so"
check 'all four have it' until_true 20 sh -c \
	'[ "$(omig plugin list | grep -Ec "^n_[0-9]+ +bad +ready")" = 4 ]'
check 'each host replies' until_true 20 answers 4
check 'its services have their nodes' says '"bad_answer\(token\* node_list\)"' \
	omig request ':omig_plugin_services()'
victim=$(omig plugin list | awk '/ bad / { print $1 }' | sort | tail -n 1)
check 'one is chosen' test -n "$victim"

# --- one crashes, during a measurement
measured() { [ "$(wc -l <"$TMPDIR/measured.csv")" -gt "$1" ]; }
omig measure --csv --every 200ms Communication_count >"$TMPDIR/measured.csv" 2>&1 &
measure=$!
check 'a measurement runs' until_true 30 measured 2
crashes() {
	omig request --timeout 20s ":bad_crash([$victim])" >"$TMPDIR/figures" 2>&1
	cat "$TMPDIR/figures"
	grep -q "OS_ERROR $victim: the process of the plug-in has ended" "$TMPDIR/figures"
}
check 'it crashes on one host' crashes
partial() { # that host has an error and no number, the other three have numbers
	figures ":bad_crash([$victim])"
	figures ':bad_answer([])' && return 1
	grep -Eq "^[A-Z_]+ $victim: .*in a row" "$TMPDIR/figures" && numbers_are 3 &&
		! sed -n 's/: [0-9]*$//p' "$TMPDIR/figures" | grep -qw "$victim"
}
is_partial() {
	until_true 20 partial || partial
}
check 'its figure is an error of that host, the other three have theirs' is_partial
listed() { omig plugin list | grep -Eq "^$victim +bad +waiting .* [1-9][0-9]* .*ended"; }
check 'the list shows it with the reason' listed
others() { [ "$(omig plugin list | grep -Ec "^n_[0-9]+ +bad +ready")" = 3 ]; }
check 'and the other three as ready' others
lines=$(wc -l <"$TMPDIR/measured.csv")
check 'the measurement goes on' until_true 30 measured $((lines + 3))
whole() { # all four ranks, nothing partial
	tail -n 1 "$TMPDIR/measured.csv"
	tail -n 1 "$TMPDIR/measured.csv" | awk -F, '{ exit !($9 == 4 && $10 == 4) }' &&
		! tail -n 1 "$TMPDIR/measured.csv" | grep -Eq 'lost|partial'
}
check 'and is whole' until_true 20 whole
check 'later the host replies again' until_true 30 answers 4

# --- as the action of an event
by_event() { # the figure of a process is its number on its host
	[ "$(grep -Eo '^[tp]_[0-9]+_[a-z0-9]+ +[1-9][0-9]*$' "$TMPDIR/events" |
		cut -d ' ' -f 1 | sort -u | wc -l)" -ge 4 ]
}
check 'an event on any site drives its action' followed \
	'thread_has_started_lib_call([],"MPI_Allreduce"): bad_change([$proc])' by_event

# --- a host without it
check 'it is removed from one host' omig plugin remove bad --nodes "$victim"
without() {
	figures ':bad_answer([])' && return 1
	grep -q "UNSUPPORTED_SERVICE.*$victim" "$TMPDIR/figures" && numbers_are 3
}
check 'that host has no figure, and says so' until_true 20 without
kill $measure
enough $job
tap_end
