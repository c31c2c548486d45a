#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig run: an unmodified program on one host, with each MPI.
# timeout: 120
. tests/system/lib.sh

has_calls() {
	omig top --once --every 0.5 --json >"$TMPDIR/top.json" || return 1
	cat "$TMPDIR/top.json"
	grep -Eq '"rank":0.*"calls_per_s":[1-9]' "$TMPDIR/top.json" &&
		grep -Eq '"calls":[1-9][0-9]' "$TMPDIR/top.json"
}

tree_names_the_program() {
	says 'rank 1 of 2 .* heat2d' omig tree
}

watch() {
	flavour=$1
	program=$(heat "$flavour")
	if ! command -v "mpirun.$flavour" >/dev/null 2>&1 || [ ! -x "$program" ]; then
		skip "a job is watched: $flavour" "no $flavour here"
		return
	fi
	words="-n 2"
	[ "$flavour" = openmpi ] && words="-n 2 --oversubscribe --mca mpi_yield_when_idle 1"
	# shellcheck disable=SC2086 # words
	omig run -- "mpirun.$flavour" $words "$program" $as_long_as_needed --slow-rank 1 \
		>"$TMPDIR/$flavour.out" 2>"$TMPDIR/$flavour.err" &
	job=$!
	check "both ranks are visible: $flavour" until_true 20 ranks_are 2
	check "the tree names ranks and program: $flavour" tree_names_the_program
	check "top counts calls: $flavour" until_true 10 has_calls
	check "a follow reports events: $flavour" says '^t_[0-9]+_[0-9a-z]+  2,p_' followed \
		'thread_has_started_lib_call([],"MPI_Allreduce"): print([$proc,$time])' events_are 1
	enough $job
	status=$?
	rm "$TMPDIR/enough"
	check "its exit status is its own: $flavour" test $status = 0
	check "its output is its own: $flavour" test -s "$TMPDIR/$flavour.out"
	check "nothing is printed on stderr: $flavour" no_word_of_ours "$TMPDIR/$flavour.err"
}

watch openmpi
watch mpich

# Exit status, signals, standard input and environment of the program are unchanged.
check 'exit status' status_is 7 omig run -- sh -c 'exit 7'
check 'standard input' says '^hello$' sh -c 'echo hello | omig run -- cat'
check 'death by signal' status_is 143 sh -c 'omig run -- sh -c "kill -TERM \$\$"; exit $?'
check 'no such program' status_is 127 omig run -- /no/such/program
check 'options behind -- are the programs' says '^--help 1$' omig run -- printf '%s %s\n' --help 1
check 'what is set' says '^OMIG_START=time$' omig run --measure=time -- env
check 'a wrong --measure' status_is 2 omig run --measure=much -- true
check 'a job without a name' status_is 2 omig run --job= -- true
check 'a control character in the name of a job' says 'without control characters' \
	omig run --job="$(printf 'a\033')" -- true

# An lm whose start takes longer than the program runs: the ranks have registered by then.
printf '#!/bin/sh\nuntil [ -e "%s/over" ]; do sleep 0.05; done\nexec "%s/bin/lm" "$@"\n' "$TMPDIR" \
	"$B" >"$TMPDIR/slow-lm"
chmod 755 "$TMPDIR/slow-lm"
over_before_its_lm() {
	f=$1
	rm -f "$TMPDIR/over"
	omig stop >/dev/null 2>&1
	until_true 10 no_leftovers || return 1
	# One rank only: of several that start at one moment one may be delayed between its two
	# tests.
	omig run --measure=count -- "mpirun.$f" -n 1 env OMIG_LM="$TMPDIR/slow-lm" \
		"$B/tests/system/steady.$f" || return 1
	: >"$TMPDIR/over"
	until_true 20 says 'rank 0 of 1 .* steady.* ended$' omig tree || { omig tree; return 1; }
}
for f in openmpi mpich; do
	if command -v "mpirun.$f" >/dev/null 2>&1 && [ -x "$B/tests/system/steady.$f" ]; then
		check "a program that is over before its lm is ready is watched: $f" \
			over_before_its_lm $f
	else
		skip "a program that is over before its lm is ready: $f" "no $f here"
	fi
done
omig stop >/dev/null 2>&1
check 'without a monitor the program runs, after one line' sh -c '
	out=$(OMIG_LIBRARY=/no/such/file omig run -- sh -c "echo ran; exit 3" 2>"$TMPDIR/warn");
		test $? = 3 &&
	test "$out" = ran && test "$(wc -l <"$TMPDIR/warn")" = 1'
tap_end
