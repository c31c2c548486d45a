#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Events are stored until they are acknowledged: of numbered events, generated = stored + counted as
# lost, exactly, whichever process is killed or stopped meanwhile. Long runs (make soak-events):
# OMIG_EVENTS=N (of each rank), OMIG_EVENT_BURST=N, OMIG_EVENT_ROOM=MIB, OMIG_EVENT_FULL=POLICY,
# OMIG_EVENT_KILLS=N (of each victim, at random points), OMIG_EVENT_VICTIMS,
# OMIG_EVENT_TO=archive:FILE, OMIG_TEST_SEED.
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
mpi=$one_flavour
for program in numbered.$mpi numbers; do
	[ -x "$T/$program" ] || skip_all "$program is not built: make faults-tools"
done
events=${OMIG_EVENTS:-250000}
burst=${OMIG_EVENT_BURST:-100}
room=${OMIG_EVENT_ROOM:-64} # MiB
full=${OMIG_EVENT_FULL:-oldest} # the policy for events without room
kills=${OMIG_EVENT_KILLS:-0}
victims=${OMIG_EVENT_VICTIMS:-lm sm loader}
export OMIG_RING=65536 # has no room for the larger bursts
seed=${OMIG_TEST_SEED:-$$}
exec 3>&1 # progress of a long run goes by the checks

# --- the program, the loader, and their output
begin() { # WHERE: what is there goes to
	to=$1
	rm -f "$TMPDIR/enough" "$TMPDIR"/on.*
	omig run -- "mpirun.$mpi" -n 2 "$T/numbered.$mpi" --events "$events" --burst "$burst" \
		--pause 2000 --until "$TMPDIR/enough" </dev/null \
		>"$TMPDIR/job.out" 2>"$TMPDIR/job.err" &
	job=$!
	load
}
load() {
	omig events on tick --name t413 --to "$to" --json --room "$room" --when-full "$full" \
		>>"$TMPDIR/on.out" 2>>"$TMPDIR/on.err" &
	loader=$!
}
figure() { # NAME: the last value of the loader
	sed -n "s/.*\"$1\":\([0-9]*\)[,}].*/\1/p" "$TMPDIR/on.out" | tail -n 1
}
come() { # True if there are more than N lines of batches, or none will follow
	[ "$(wc -l <"$TMPDIR/on.out")" -gt "$1" ] || is_written
}
goes_on_storing() {
	until_true 40 come $(($(wc -l <"$TMPDIR/on.out") + 1))
}
is_written() {
	[ "$(grep -c generated "$TMPDIR/job.out")" = 2 ]
}
written() { # waits for all events while a loader runs: without a limit while it makes progress
	until is_written; do
		goes_on_storing || return 1
		progress written
	done
}
progress() { # WHAT: prints a line of progress from time to time
	[ $(($(date +%s) - told)) -lt 10 ] || { told=$(date +%s); echo \
		"# $1, $(wc -l <"$TMPDIR/on.out") batches" >&3; }
}
told=$(date +%s)
# the loader: a process in the background ignores the signal until it installs a handler
hears() {
	[ "$(cat "/proc/$loader/comm")" = omig ] && ! grep -q '^SigIgn:.*[2367abef]$' \
		"/proc/$loader/status"
}
ends() { # ends the loader, which prints its last line; then the program
	until_true 30 hears || return 1
	kill -INT $loader
	wait $loader
	loaded=$?
	: >"$TMPDIR/enough"
	wait $job || return 1
	[ $loaded = 0 ] || [ $loaded = 6 ] || { echo "status $loaded"; cat "$TMPDIR/on.err"; \
		return 1; }
	grep -q '"is_done":true' "$TMPDIR/on.out"
}
total() { # WORD of the program's last lines: the sum
	sed -n "s/.*$1 \([0-9]*\).*/\1/p" "$TMPDIR/job.out" | awk '{ n += $1 } END { print n + 0 }'
}
count() { # compares the stored events, number by number
	case $to in
	archive:*) omig log convert --to olog -o "$TMPDIR/all.olog" "${to#archive:}" &&
		"$T/numbers" "$TMPDIR/all.olog" ;;
	*) "$T/numbers" "${to#file:}" ;;
	esac
}
balance() {
	count >"$TMPDIR/count" || return 1
	generated=$(total generated) unsure=$(total unsure)
	has=$(sed -n 's/^stored \([0-9]*\) .*/\1/p' "$TMPDIR/count")
	said=$(figure all_generated) kept=$(figure all_stored)
	echo "generated $generated ($unsure unsure), told $said; $(cat \
		"$TMPDIR/count"), told $kept; $((said - kept)) lost" | tee "$TMPDIR/balance"
	grep -q ' twice 0 strange 0$' "$TMPDIR/count" && [ "$has" = "$kept" ] && [ "$has" -gt 0 ] &&
		[ "$said" -le "$generated" ] && [ "$said" -ge $((generated - unsure)) ]
}

# --- victims
omig env --job=any >"$TMPDIR/env" 2>/dev/null
lm_starts() { # as the next rank would start it
	# shellcheck disable=SC1091 # made above
	(. "$TMPDIR/env" && unset LD_PRELOAD && lm --background 2>>"$TMPDIR/lm.log")
}
# a killed daemon holds its lock until its last thread has ended; a thread that waits for the disk
# ends later
lm_again() {
	until_true 30 lm_starts && until_true 30 runs_again lm
}
kill_lm() {
	kill_hard lm && lm_again
}
kill_sm() {
	kill_hard sm && until_true 60 runs_again sm
}
kill_loader() {
	kill -KILL $loader
	wait $loader 2>/dev/null
	load
}
waits() { # blocks are on their way to the loader, and are not acknowledged
	request ':omig_events_kept()' | grep -Eq '"on",[1-9][0-9]*,' || is_written
}
still() { # the loader is stopped, and events without room are lost
	kill -STOP $loader
	until_true 20 waits
	waiting=$?
	kill -CONT $loader
	return $waiting
}
random() { # BELOW: a random number from the seed
	drawn=$((drawn + 1))
	awk -v s=$((seed * 1000 + drawn)) -v n="$1" \
		'BEGIN { srand(s); rand(); printf "%d", rand() * n }'
}
drawn=0
kill_one() {
	sleep "0.$(random 4)"
	is_written || busy=$((busy + 1))
	"kill_$1" || { echo "seed $seed, round $round: $1"; return 1; }
	progress "round $round of $kills"
}
kill_rounds() { # each victim once in each round, in random order
	for round in $(seq "$kills"); do
		# shellcheck disable=SC2086 # words
		set -- $victims
		while [ $# -gt 0 ]; do
			for _ in $(seq "$(random $#)"); do
				set -- "$@" "$1"
				shift
			done
			kill_one "$1" || return 1
			shift
		done
	done
	echo "# $busy kills while it wrote" >&3
}
busy=0

# --- a program that starts meanwhile
pg=tests/testbed/postgres pg_dir='' pg_start=''
why=$(omig log query postgresql:///?host=/nowhere types 2>&1 | grep -o 'made without PostgreSQL' ||
	$pg why)
if [ "$kills" = 0 ] && [ -z "$why" ]; then
	: >"$TMPDIR/pg.dir"
	$pg start >"$TMPDIR/pg.dir" 2>"$TMPDIR/pg.err" 3>&- &
	pg_start=$!
fi
pg_is_there() {
	wait $pg_start || { cat "$TMPDIR/pg.err"; return 1; }
	pg_start='' pg_dir=$(cat "$TMPDIR/pg.dir")
}
stop_pg() {
	[ -z "$pg_start" ] || pg_is_there
	[ -z "$pg_dir" ] || $pg stop "$pg_dir"
}
trap 'stop_pg; end_all' EXIT

begin "${OMIG_EVENT_TO:-file:$TMPDIR/kept.olog}"
check 'numbered events come' goes_on_storing
check 'they continue when the loader is killed and started again' kill_loader
check 'and come' goes_on_storing
for victim in lm sm; do
	case " $victims " in
	*" $victim "*)
		check "they continue when the $victim is killed" "kill_$victim"
		check 'and come' goes_on_storing
		;;
	esac
done
check 'the loader is stopped for a while' still
[ "$kills" = 0 ] || check "they are killed, $kills times each" kill_rounds
check 'all are written' written
check 'the loader ends and reports all events' ends
check 'what was generated is stored or counted' balance
echo "# $(cat "$TMPDIR/balance"), seed $seed"

# --- PostgreSQL, where there is one: a server of our own
if [ "$kills" != 0 ] || [ -n "$why" ]; then
	skip 'PostgreSQL' "${why:-this is a long run}"
else
	check 'PostgreSQL: a server' pg_is_there
	events=50000
	begin "archive:postgresql:///postgres?host=$pg_dir&user=omig"
	check 'PostgreSQL: numbered events come' goes_on_storing
	check 'PostgreSQL: they continue when the loader is killed and started again' kill_loader
	check 'PostgreSQL: all are written' written
	check 'PostgreSQL: the loader ends and reports all events' ends
	check 'PostgreSQL: what was generated is stored or counted' balance
	echo "# PostgreSQL: $(cat "$TMPDIR/balance")"
fi
tap_end
