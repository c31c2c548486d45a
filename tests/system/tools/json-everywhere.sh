#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every command of `omig --help` that shows something has --json. Its output is then JSON, one
# document or one a line, also when it fails: then {"error":{"status":N,"text":"..."}}.
# timeout: 240
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
need python3
# shellcheck disable=SC2154 # of lib.sh
for f in $flavours; do break; done
cp examples/interactions/*.json examples/model/* "$TMPDIR"
cd "$TMPDIR" || exit 1

cat >"$TMPDIR/parse.py" <<'END'
import json, sys
status, text = int(sys.argv[1]), open(sys.argv[2]).read()
try:
    found = [json.loads(text)]
except ValueError:
    found = [json.loads(line) for line in text.splitlines()]
if not found:
    sys.exit("nothing was shown")
error = found[-1].get("error") if isinstance(found[-1], dict) else None
if status and not (isinstance(error, dict) and error["status"] == status and error["text"]):
    sys.exit("status %d without an error in JSON: %s" % (status, text))
if not status and error is not None:
    sys.exit("an error with status 0: " + text)
END
json_of() { # the command's output parses, and fits its status in $got
	timeout $((20 * PATIENCE)) "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null
	got=$?
	head -c 2000 "$TMPDIR/out"
	head -c 1000 "$TMPDIR/err"
	python3 "$TMPDIR/parse.py" $got "$TMPDIR/out"
}
good() {
	json_of "$@" && [ $got = 0 ]
}
bad() {
	json_of "$@" && [ $got != 0 ]
}
# A reply to a request has its status, and diagnostics have their kind: no error is behind them.
document() {
	timeout $((20 * PATIENCE)) "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null
	got=$?
	cat "$TMPDIR/out" "$TMPDIR/err"
	[ $got != 0 ] && python3 "$TMPDIR/parse.py" 0 "$TMPDIR/out" &&
		grep -Eq '^\{"status":"[A-Z_]+_(SERVICE|ERROR)"|"kind":"error"' "$TMPDIR/out"
}
# Other statuses are results: something changed, or objects are missing.
part() {
	timeout $((20 * PATIENCE)) "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null
	got=$?
	cat "$TMPDIR/out" "$TMPDIR/err"
	case $got in 0 | 1 | 6 | 7) python3 "$TMPDIR/parse.py" 0 "$TMPDIR/out" ;; *) false ;; esac
}

cat >"$TMPDIR/m.pmsl" <<'END'
M(TimeInterval t) { RETURN
END
printf '1\n2\n3\n4\n' >"$TMPDIR/numbers"
timeout $((60 * PATIENCE)) omig run --job short --summary="$TMPDIR/s.json" -- "mpirun.$f" -n 2 \
	"$(heat "$f")" --seconds 1 >"$TMPDIR/short" 2>&1
# shellcheck disable=SC2086,SC2154 # words, of lib.sh
timeout $((200 * PATIENCE)) omig run --job long --measure=volume -- "mpirun.$f" -n 2 \
	"$(heat "$f")" $as_long_as_needed >"$TMPDIR/long" 2>&1 &
run=$!
check 'a job runs' until_true 30 says '"rank":1' omig tree --job long --json

# HOW, and the command with its options but for --json. # begins a comment.
cat >"$TMPDIR/cases" <<END
good env
bad env --measure=wrong
good jobs
good jobs --all
bad jobs --bogus
good top --count 1
bad top --job none
good calls --total
good calls --by size --for 200ms
bad calls --by colour
bad calls --job none
bad calls --from now
good alert --once --every=1s imbalance>=0%
bad alert mpi>>0
good attach
bad attach nothing
bad detach nothing
good plugin list
bad plugin add /nothing.so
bad plugin remove nothing
part stacks
bad stacks --ranks 77
good waits --every 300ms
bad waits --job none
good why --for 2s --every 500ms --all
bad why --job none
good matrix --every 300ms
bad matrix Nothing_volume
good tree
bad tree --job none
good measure Send_volume --count 1
bad measure No_metric
good watch Send_volume --count 1
bad watch No_metric
good show s.json
bad show none.json
bad show numbers
part compare s.json s.json
bad compare s.json
good metrics
good metrics Send_volume
bad metrics No_metric_of_that_name
good events list
bad events on
bad events tail MPI_Sendd
bad log cat none.olog
good interaction analyze message.json
good interaction analyze two-nodes.json
good interaction path --near 2 date.json
good interaction states date.json
good interaction what-if --what-if 11,16=1ms date.json
good interaction clocks two-nodes.json
good interaction dump date.json
good interaction split two-nodes.json
good interaction filter --omit net date.json
good interaction compare two-nodes.json two-nodes.json
bad interaction analyze none.json
bad interaction analyze parse.py
bad interaction draw --to picture date.json
good stats numbers
bad stats none
good request :site_get_info([],1)
document request :no_service()
document request :site_get_info(
good services
good services site_get_info
bad services no_service
bad probes none
document check m.pmsl
bad check none
bad explain 99
bad export nothing
bad web --listen 0.0.0.0
good status
bad status --mainsm=omig1:127.0.0.1:1:$(printf '%056d' 0)
part doctor
good cert list
bad cert revoke nothing
bad site join none.conn
bad admin list
good audit
bad audit --bogus
bad selftest services no_service
good version
bad version --bogus
bad version more
good neko list
bad neko run none
good model estimate customers.csv
bad model estimate none.csv
bad model estimate --method nothing customers.csv
good model solve customers.lqn
bad model solve customers.csv
good model what-if --vary client=1..3 customers.lqn
bad model what-if customers.lqn
bad model convert --json customers.lqn
bad model observe --region no_such_region --for 1s
bad model solve --demands none.json customers.lqn
good model experiment table2 --replications 2
bad sim cluster --bogus
bad stop --mainsm=omig1:127.0.0.1:1:$(printf '%056d' 0)
END
while read -r how command words; do
	# shellcheck disable=SC2086 # words
	check "omig $command $words: $how" "$how" omig "$command" --json $words
done <"$TMPDIR/cases"

# Commands without output of their own: they show the program's output, or drawings.
for command in run exec dot; do
	sed -i "1i none $command" "$TMPDIR/cases"
done
each_has_a_case() {
	omig --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' >"$TMPDIR/commands"
	awk '{ print $2 }' "$TMPDIR/cases" | sort -u >"$TMPDIR/tried"
	[ "$(wc -l <"$TMPDIR/commands")" -gt 20 ] &&
		sort "$TMPDIR/commands" | comm -23 - "$TMPDIR/tried" | tee "$TMPDIR/left" &&
		[ ! -s "$TMPDIR/left" ]
}
check 'each command of the help was tried' each_has_a_case
check 'the job ends' enough $run
check 'omig stop: good' good omig stop --json
tap_end
