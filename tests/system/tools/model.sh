#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig model without a monitor: demands from a file, wrong files, and the paper's experiments.
. tests/system/lib.sh

file=examples/model/customers.csv

check 'the answer is the first line, with its interval' says \
	'^read_customer takes most of the busy time, 60.3 %: a call of it needs 3.01 .2.9[0-9]* to 3.1' \
	omig model estimate $file
check 'the method is chosen with a reason' says \
	'Method elapsed: .*chosen because completions and elapsed' \
	omig model estimate $file
check 'all methods stand side by side' says '^add_customer .*+-.*+-.*+-.*+-' \
	omig model estimate --compare $file
check 'and one that does not apply has a reason' says 'do not take constant times' \
	omig model estimate --compare $file
csv() {
	omig model estimate --csv $file >"$TMPDIR/out.csv" &&
		awk -F, 'NR == 2 { ok = $1 == "add_customer" && $5 < $4 && $4 < $6 }
			END { exit !ok }' \
			"$TMPDIR/out.csv"
}
check 'CSV has the demand between its ends' csv
standard() { omig model estimate - <$file; }
check 'the standard input is a file too' says '^read_customer takes' standard
check 'no file is status 4' status_is 4 omig model estimate "$TMPDIR/none.csv"
printf 'busy,a\n1,2\n-3,1\n' >"$TMPDIR/bad.csv"
check 'a negative time has its place' says 'bad.csv:3:1: .busy. is negative' \
	omig model estimate "$TMPDIR/bad.csv"
check 'which is status 2' status_is 2 omig model estimate "$TMPDIR/bad.csv"
printf 'busy,a,b,c\n3,1,2,0\n6,2,4,0\n9.5,3,6,0\n' >"$TMPDIR/ratio.csv"
check 'services in a fixed ratio are named' says '^! inseparable: a, b:' \
	omig model estimate "$TMPDIR/ratio.csv"
check 'and one that was never called' says '^! never called: c' \
	omig model estimate "$TMPDIR/ratio.csv"
printf 'busy,a,b,completed:a,completed:b\n5,1,0,1,0\n6,1,1,1,0\n5,1,0,1,0\n' >"$TMPDIR/open.csv"
check 'a demand without an upper bound is unknown' says '^b  *1  *-  *1  *-  *-  *no upper bound$' \
	omig model estimate --method constant "$TMPDIR/open.csv"
printf 'busy,a,b\n10,2,1\n9,2,2\n14,3,2\n13,3,3\n21,4,1\n' >"$TMPDIR/below.csv"
check 'an interval that is unknown is not a number' says '^b .* 0 [+]- - ' \
	omig model estimate --compare "$TMPDIR/below.csv"
check 'a level out of range is blamed' says '--level: a number from' \
	omig model estimate --level 1 $file

check 'the printed table 2 does not fit its stated setting' says \
	'^The printed figures do not fit this setting' omig model experiment table2 \
	--replications 20
pictures() {
	omig model experiment table2 --replications 3 --services 4 -o "$TMPDIR/4.svg" &&
		omig model experiment table1 --replications 2 -o "$TMPDIR/1.svg" &&
		omig model experiment table2 --fit --replications 2 -o "$TMPDIR/fit.svg" &&
		omig model experiment table2 --replications 2 -o "$TMPDIR/2.svg" &&
		python3 -c 'import sys, xml.dom.minidom
for f in sys.argv[1:]: xml.dom.minidom.parse(f)' "$TMPDIR/1.svg" "$TMPDIR/2.svg" "$TMPDIR/4.svg" \
			"$TMPDIR/fit.svg"
}
check 'each experiment has a picture' pictures
same() {
	omig model experiment table2 --seed 5 --replications 3 --csv >"$TMPDIR/a" &&
		omig model experiment table2 --seed 5 --replications 3 --csv >"$TMPDIR/b" &&
		cmp "$TMPDIR/a" "$TMPDIR/b" && [ "$(wc -l <"$TMPDIR/a")" = 19 ]
}
check 'a seed repeats an experiment to the byte' same
check 'a factor out of range is named' says 'the utilisation: a number from' \
	omig model experiment table2 --utilisation 2
check 'too many periods are named' says '10000 periods, each cut into 1000, are too many' \
	omig model experiment table2 --periods 10000 --cut 1000
check 'a search without estimates claims no fit' says '^No setting can be compared' \
	omig model experiment table2 --fit --periods 2 --replications 2
check 'a law is named, too' says "'gauss' is not a distribution" omig model experiment table2 \
	--service gauss

model=examples/model/customers.lqn
check 'a model is solved within its bound' says \
	'^client: 50 clients get 48.[0-9]* cycles a time unit, at most 49.31 are possible' \
	omig model solve $model
check 'no bottleneck is claimed where none is full' says '^No server is full; the busiest' \
	omig model solve $model
check 'more clients fill a server' says '300 .*processor database  *9[89].[0-9]' \
	omig model what-if --vary client=100..300:100 $model
check 'the limit of a response is found' says \
	'^The response of client exceeds 0.5 from client=1[0-9]0 on' \
	omig model what-if --vary client=10..400:10 --until 0.5 $model
check 'a response without a limit has no limit of clients' says '"limit":null' \
	omig model what-if --vary client=1..2 --json $model
same_simulation() {
	omig model simulate --events 200000 --seed 3 $model >"$TMPDIR/a" &&
		omig model simulate --events 200000 --seed 3 $model >"$TMPDIR/b" &&
		cmp "$TMPDIR/a" "$TMPDIR/b" &&
		grep '^client: 50 clients get 4[0-9.]* +- [0-9.]* cycles' "$TMPDIR/a"
}
check 'a simulation has intervals, and a seed repeats it' same_simulation
check 'one that is too short is marked' says '^! the intervals are wider' \
	omig model simulate --events 200000 --until 'ci(0.95, batches) < 0.01%' $model
check 'a wrong stop rule is refused' status_is 2 omig model simulate --until 'ci(' $model
check 'a solution is checked by simulation' says \
	'^Check of client: the throughput is [0-9.]* % .* that of the simulation' \
	omig model solve --check --until 'ci(0.95, batches) < 5%' $model
judged() {
	omig model solve --check --json --until 'ci(0.95, batches) < 5%' $model | python3 -c '
import json, sys
d = json.load(sys.stdin)
x, half = d["simulated"]["tasks"][0]["throughput"]
assert abs(d["tasks"][0]["throughput"] / x - 1) < 0.05 and half < x / 20'
}
check 'JSON has both' judged
more() {
	omig model what-if --vary customers=1..4 --csv $model >"$TMPDIR/t.csv" &&
		awk -F, 'NR > 2 && $3 > last { bad = 1 } { last = $3 }
			END { exit bad || NR != 5 }' \
			"$TMPDIR/t.csv"
}
check 'more threads shorten the response' more
cat >"$TMPDIR/mail.lqn" <<'END'
P 0
p cpu f
p db f
-1
T 0
t web n page -1 cpu m 8
t log n note -1 db
-1
E 0
a page 2
s page 0.1 0.05 -1
z page note 1 -1
s note 0.2 -1
-1
END
check 'open arrivals are answered' says '^page: a response to 2 arrivals a time unit takes 0.1' \
	omig model solve "$TMPDIR/mail.lqn"
check 'and judged' says '^Check of page: the response is ' \
	omig model solve --check --until 'ci(0.95, batches) < 5%' "$TMPDIR/mail.lqn"
sed 's/^a page 2/a page 5.65/' "$TMPDIR/mail.lqn" >"$TMPDIR/full.lqn"
check 'too many of them have no steady state' says 'no steady state: utilisation of db is 1.13' \
	omig model solve "$TMPDIR/full.lqn"
check 'what-if needs clients' says 'has no clients' \
	omig model what-if --vary web=1..3 "$TMPDIR/mail.lqn"
check 'an unknown task is named' says "no task .clint.; did you mean client" \
	omig model what-if --vary clint=1..3 $model
check 'so is a wrong range' says 'TASK=FROM..TO' omig model what-if --vary client=5..1 $model
omig model estimate --json $file >"$TMPDIR/demands.json"
estimated="--demands $TMPDIR/demands.json --scale 0.001"
# shellcheck disable=SC2086 # options
{
	check 'estimated demands give results intervals' says \
		'^client: 50 clients get 48.9[0-9]* .48.9[0-9]* to 48.9[0-9]*. cycles' \
		omig model solve $estimated $model
	check 'their source is stated' says 'of 95 % follow from those of the demands of 2 of 5' \
		omig model solve $estimated $model
	check 'a limit has two ends' says 'confidence it does so not before .*, and from ' \
		omig model what-if --vary client=108..112 --until 0.0932 $estimated $model
}
widths() { # LEVEL: width of the response in JSON, and the answer is within it
	# shellcheck disable=SC2086 # options
	omig model solve --json --level "$1" $estimated $model | python3 -c '
import json, sys
t = json.load(sys.stdin)["tasks"][0]
assert t["response_low"] < t["response"] < t["response_high"]
assert t["throughput_low"] < t["throughput"] < t["throughput_high"]
sys.stdout.write(str(t["response_high"] - t["response_low"]))'
}
wider() { python3 -c "assert $(widths 0.5) < $(widths 0.9) < $(widths 0.99)"; }
check 'a higher level makes wider results' wider
sed 's/"low":[0-9.]*/"low":null/' "$TMPDIR/demands.json" >"$TMPDIR/unknown.json"
check 'an unknown end stays unknown' says 'interval of the demand of .*_customer. is unknown' \
	omig model solve --demands "$TMPDIR/unknown.json" --scale 0.001 $model
check 'and is a dash' says 'get 48.9[0-9]* .- to -. cycles' \
	omig model solve --demands "$TMPDIR/unknown.json" --scale 0.001 $model
sed 's/"read_customer"/"read_custmer"/' "$TMPDIR/demands.json" >"$TMPDIR/other.json"
check 'a service without an entry is named' says \
	"entry 'read_custmer'; did you mean read_customer" \
	omig model solve --demands "$TMPDIR/other.json" $model
sed 's/"demand":3[0-9.]*/"demand":null/; s/known/never called/g' "$TMPDIR/demands.json" \
	>"$TMPDIR/never.json"
check 'an unknown demand is refused' says "demand of 'read_customer' is unusable, never called" \
	omig model solve --demands "$TMPDIR/never.json" $model
echo '{}' >"$TMPDIR/empty.json"
check 'so is a file that no estimate wrote' says 'no "services" of omig model estimate' \
	omig model solve --demands "$TMPDIR/empty.json" $model
check '--scale is for --demands' status_is 2 omig model solve --scale 2 $model
cat >"$TMPDIR/maybe.lqn" <<'END'
P 0
p db f
-1
T 0
t log i note other -1 db
-1
E 0
a note 5
a other 5
s note 0.09 -1
s other 0.09 -1
-1
#interval note 1 0.08 0.105 0.9
#interval other 1 0.08 0.105 0.9
END
check 'arrivals that may be too many have no longest response' says \
	'ends of intervals are unknown: utilisation of db may be 1.0' \
	omig model solve "$TMPDIR/maybe.lqn"
travels() { # through both forms, with intervals: the same answer
	# shellcheck disable=SC2086 # options
	omig model convert $estimated -o "$TMPDIR/c.lqnx" $model &&
		omig model convert "$TMPDIR/c.lqnx" >"$TMPDIR/c.lqn" &&
		omig model solve $estimated $model | head -n 3 >"$TMPDIR/a" &&
		omig model solve "$TMPDIR/c.lqnx" | head -n 3 >"$TMPDIR/b" &&
		omig model solve - <"$TMPDIR/c.lqn" | head -n 3 >"$TMPDIR/c" &&
		cmp "$TMPDIR/a" "$TMPDIR/b" && cmp "$TMPDIR/a" "$TMPDIR/c" &&
		python3 -c 'import sys, xml.dom.minidom
xml.dom.minidom.parse(sys.argv[1])' "$TMPDIR/c.lqnx" && grep '^#interval read_customer 1 0.0029' \
		"$TMPDIR/c.lqn"
}
check 'a model travels as .lqnx and .lqn, with its intervals' travels
check 'another form is refused' status_is 2 omig model convert -o "$TMPDIR/c.svg" $model
sed 's/multiplicity="8"/multiplicity="0"/' "$TMPDIR/c.lqnx" >"$TMPDIR/bad.lqnx"
check 'wrong XML has its place' says 'bad.lqnx:[0-9]+:[0-9]+: multiplicity: a whole number from 1' \
	omig model solve "$TMPDIR/bad.lqnx"
sed 's/s query/q query/' $model >"$TMPDIR/bad.lqn"
check 'an unknown word has its place' says "bad.lqn:21:1: 'q' is unknown here" \
	omig model solve "$TMPDIR/bad.lqn"
sed 's/^s query.*/A query 3/' $model >"$TMPDIR/open.lqn"
check 'what is not served is named' says "open.lqn:21:1: lines 'A' are not served" \
	omig model solve "$TMPDIR/open.lqn"
tap_end
