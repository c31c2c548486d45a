#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 400
# omig why on jobs of each MPI: what it finds is there, and it reports what it could not see.
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
need python3

cat >"$TMPDIR/judge.py" <<'END'
# judge.py FILE EXPRESSION: of `findings` (present ones) and `summary`, each line being JSON
import json, os, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
print(lines)
objects = [o for o in lines if "kind" in o]
findings = [o for o in objects if o["kind"] == "finding" and o["state"] != "gone"]
summary, = [o for o in objects if o["kind"] == "summary"]
assert all(o["v"] == 1 for o in objects)
assert all(f["commands"] and f["low"] <= f["severity"] <= f["high"] for f in findings)
sys.exit(not eval(sys.argv[2]))
END
judge() { # EXPRESSION
	cat "$TMPDIR/why.err"
	python3 "$TMPDIR/judge.py" "$TMPDIR/why.json" "$1"
}
why() { # STATUS OPTION...: into why.json
	want=$1
	shift
	omig why --job "$name" --json "$@" >"$TMPDIR/why.json" 2>"$TMPDIR/why.err"
	got=$?
	cat "$TMPDIR/why.json" "$TMPDIR/why.err"
	[ $got = "$want" ]
}
begins() { # FLAVOUR NAME WORD...: heat2d of 4 ranks, until $TMPDIR/NAME.go exists
	mpi=$1 name=$2
	shift 2
	timeout $((100 * PATIENCE)) omig run --job "$name" -- "mpirun.$mpi" -n 4 \
		"$B/examples/heat2d.$mpi" --seconds 1000 --until "$TMPDIR/$name.go" "$@" \
		>"$TMPDIR/$name.out" 2>"$TMPDIR/$name.err" &
	run=$!
	check "$name: all ranks are watched" until_true 30 job_has_ranks "$name" 4
}
ends() {
	: >"$TMPDIR/$name.go"
	check "$name: the program ends well" wait "$run"
}

# Each command of the first finding shows something.
runs_commands() {
	python3 - "$TMPDIR/why.json" >"$TMPDIR/commands" <<'END'
import json, sys
for line in open(sys.argv[1]):
    for command in json.loads(line).get("commands", []):
        print(command)
END
	sort -u "$TMPDIR/commands" >"$TMPDIR/each"
	[ -s "$TMPDIR/each" ] || return 1
	while read -r command; do
		echo "$command"
		sh -c "$command" </dev/null >"$TMPDIR/command.out" 2>&1
		got=$?
		cat "$TMPDIR/command.out"
		# a figure that this system does not have is reported with status 6
		{ [ $got = 0 ] || [ $got = 6 ]; } && [ -s "$TMPDIR/command.out" ] || return 1
	done <"$TMPDIR/each"
}

check 'no mainsm' status_is 3 omig why
# shellcheck disable=SC2154 # of faults.sh
for f in $flavours; do
	[ -x "$B/examples/heat2d.$f" ] || continue
	begins "$f" "slow-$f" --slow-rank 2
	check "$f: the loss is found" why 0 --for 15s
	check "$f: with the time in MPI" judge 'findings and summary["useful"] < 0.9'
	# It sleeps in place of work. The others wait for it in MPI_Allreduce or for its messages.
	check "$f: the late rank is named first" judge \
		'findings[0]["ranks"] == [2] and findings[0]["hypothesis"] in ("W2", "W5")'
	check "$f: with its host" judge 'findings[0]["hosts"] == [os.uname().nodename]'
	check "$f: how late it is, and that it sleeps" judge \
		'findings[0]["ratio"] > 1.5 and findings[0]["causes"][0]["id"] == "C8"'
	check "$f: and all of its ranks" judge 'summary["ranks"] == 4 and summary["hosts"] == 1'
	check "$f: its commands run" runs_commands
	check "$f: a limit below the loss fails" why 1 --for 10s --fail-above 1%
	check "$f: a limit above does not" why 0 --for 3s --fail-above 99.9%
	check "$f: small losses do not matter" why 0 --for 3s --threshold 50% --all
	ends
done
# Ranks that mostly sleep: on a busy machine they may wait for one another for some time, but not
# for half of it.
JOB=healthy job healthy "$one_flavour" 2
check 'a healthy program runs' holds healthy
name=healthy
check 'it has no finding' why 0 --for 10s --threshold 50%
check 'and the report has what was examined' judge \
	'not findings and "W" in summary["ruled_out"] and summary["blocks"] >= 3'
check 'in words' says '^nothing above 50 %: looked at [0-9]+ symptoms in [0-9]+ blocks' \
	omig why --job healthy --for 5s --threshold 50%
check 'its end is good' end_job healthy "$job"

# when_found COMMAND...: in the background, as soon as the search has shown a finding
when_found() {
	: >"$TMPDIR/why.json"
	until_true 60 grep -q '"kind":"finding"' "$TMPDIR/why.json" && "$@" &
}
f=$one_flavour
begins "$f" ending --slow-rank 2
when_found touch "$TMPDIR/ending.go"
check 'the end of the job ends the search' why 0 --watch --for 300s --every 500ms
check 'which reports it' judge 'summary["has_ended"]'
wait
begins "$f" cut --slow-rank 2
when_found kill_hard lm
check 'a host that is lost is in the exit status' why 6 --watch --for 20s --every 500ms
check 'and in the summary; what was found had all ranks' judge \
	'summary["silent_blocks"] > 0 and all(f["coverage"]["ranks"] == 4 for f in findings)'
ends
check 'no such job' status_is 4 omig why --job none --for 2s
begins "$f" lost --slow-rank 2
when_found kill_hard mainsm
check 'without mainsm the search ends' why 3 --watch --for 60s --every 500ms
check 'and shows what it has found' judge 'findings'
touch "$TMPDIR/lost.go"
wait
tap_end
