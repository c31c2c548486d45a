#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An lm of another build watches no program of this one. One line says so before the program starts,
# or by rank 0. The log of the lm has one line for each other build.
# timeout: 120
. tests/system/lib.sh
. tests/system/faults.sh

note=
is_up() {
	omig run --job first -- true && until_true 10 daemon_pid lm &&
		note=$(lm_socket).segment && until_true 10 test -s "$note"
}
check 'an lm runs, and its segment version is beside its socket' is_up
own=$(cat "$note" 2>/dev/null)
other=$((own + 1))
said="^omig: warning: not watched: .* segment version $other, .* $own: .*omig stop"

# Programs of this host read the lm's build from that file only.
is_other() {
	echo $other >"$note"
}
# runs PATTERN-OR-NOTHING COMMAND...: ends with 0; stderr is one line with a match, or nothing
runs() {
	want=$1
	shift
	timeout $((50 * PATIENCE)) "$@" >"$TMPDIR/out" 2>"$TMPDIR/err"
	rc=$?
	echo "status $rc"
	cat "$TMPDIR/err"
	grep '^omig' "$TMPDIR/err" >"$TMPDIR/ours"
	[ $rc = 0 ] || return 1
	if [ "$want" ]; then
		[ "$(wc -l <"$TMPDIR/ours")" = 1 ] && grep -Eq "$want" "$TMPDIR/ours"
	else
		[ ! -s "$TMPDIR/ours" ]
	fi
}
check 'run: the same build: no output' runs '' omig run -- true
is_other
check 'run: another build: one line' runs "$said" omig run -- true
check 'exec: another build: one line' runs "$said" omig exec -- true
for f in $flavours; do
	check "$f: run: one line for two ranks" runs "$said" omig run -- mpirun.$f -n 2 \
		"$T/steady.$f" --rounds 1
	check "$f: exec in each rank: one line" runs "$said" mpirun.$f -n 2 omig exec -- \
		"$T/steady.$f" --rounds 1
	# shellcheck disable=SC2016 # of the shell that runs it
	check "$f: by the environment: one line, of rank 0" runs "$said" sh -c \
		'eval "$(omig env)" && exec "$@"' sh mpirun.$f -n 2 "$T/steady.$f" --rounds 1
	# shellcheck disable=SC2016 # of the shell that runs it
	check "$f: stderr is a pipe without a reader: it runs" runs '' sh -c 'eval "$(omig env)" &&
		mkfifo "$TMPDIR/pipe.$1" && { sleep 0 <"$TMPDIR/pipe.$1" & } &&
		exec 5>"$TMPDIR/pipe.$1" && wait && exec "$2" --rounds 1 2>&5' sh $f \
		"$T/steady.$f"
done
# If descriptor 2 is a file of the program, no byte of Omig is written to it.
results_stay() { # FLAVOUR
	# shellcheck disable=SC2016 # of the shell that runs it
	runs '' sh -c 'eval "$(omig env)" && exec "$1" --rounds 1 --results-at-2 "$2"' sh \
		"$T/steady.$1" "$TMPDIR/results.$1" && [ -f "$TMPDIR/results.$1" ] &&
		! grep omig "$TMPDIR/results.$1"
}
for f in $flavours; do
	check "$f: descriptor 2 is a file of the program: nothing is written there" \
		results_stay "$f"
done
check 'doctor reports it' says "^FAIL +build .*segment version $other, .* $own: .*omig stop" \
	omig doctor
check 'with status 1' status_is 1 omig doctor --json
for junk in '' x -1 99999999999 "$own $other"; do
	echo "$junk" >"$note"
	check "a file that says '$junk' says nothing" runs '' omig run -- true
done
rm -f "$note"
mkfifo "$note"
check 'nor does a pipe in its place' runs '' omig run -- true
rm -f "$note"

# A process of another build registers: one line for all of them.
vandals() {
	for _ in 1 2 3; do
		"$T/vandal" "$(lm_socket)" "$(caid)" other 0 0 || return 1
	done
	until_true 10 log_has lm "not watched .*segment version $own, .* $other: .*omig stop"
	"$T/vandal" "$(lm_socket)" "$(caid)" size 0 0
	until_true 10 log_has lm 'not have the size' || return 1
	log_of lm | grep 'segment version'
	[ "$(log_of lm | grep -c 'segment version')" = 1 ]
}
check 'the log of the lm: one line for a build' vandals
omig doctor >"$TMPDIR/doctor"
check 'doctor has their number' says \
	'^note +daemon +lm n_1: 3 processes are not watched: their libomig is of another build' \
	cat "$TMPDIR/doctor"
check 'and finds no other build now' says '^ok +build' cat "$TMPDIR/doctor"

# The file of a dead lm is not valid for the next one.
is_replaced() {
	is_other
	kill_hard lm
	runs '' omig run -- true && until_true 10 grep -qx "$own" "$note"
}
check 'run: a dead lm of another build: the next one is started' is_replaced
omig stop >/dev/null 2>&1
check 'an lm that ends takes the file with it' until_true 10 test ! -e "$note"
tap_end
