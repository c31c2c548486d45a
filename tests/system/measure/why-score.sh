#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The scorer of the benchmark for searches, with inputs of which the scores are known.
. tests/system/lib.sh
need python3

# run FOLDER HYPOTHESES RANKS: 10 s of four ranks, of which rank 3 costs 20 % at a barrier
run() {
	mkdir -p "$TMPDIR/$1"
	: >"$TMPDIR/$1/why.json"
	cat >"$TMPDIR/$1/case.json" <<-END
		{"v":1,"name":"$1","class":"collective","size":0.2,"mpi":"openmpi","seed":1,
		"hypotheses":$2,"where":$3,"causes":["C1"],"searched":[1000,1010]}
	END
	python3 - >"$TMPDIR/$1/truth.json" <<-'END'
		import json
		bins = [0.4] * 20
		print(json.dumps({"v": 1, "kernel": "barrier", "ranks": 4, "begin": 1000,
		    "seconds": 10, "bin": 0.5, "hypothesis": "W1", "lost": {
		    "W": {"share": 0.2, "bins": bins, "blame": [0] * 4},
		    "W1": {"share": 0.2, "bins": bins, "blame": [1, 0, 0, 7]}}}))
	END
}
planted() {
	run "$1" '["W1"]' '[[3]]'
}
# finds FOLDER ID HYPOTHESIS RANKS SEVERITY CAUSE [STATE [AFTER]]
finds() {
	tr -d '\n' >>"$TMPDIR/$1/why.json" <<-END
		{"v":1,"kind":"finding","id":$2,"hypothesis":"$3","name":"n","state":"${7:-new}",
		"severity":$5,"low":null,"high":null,"is_lower_bound":false,"e":100,
		"sure":"sure","since":1000,"until":null,"ranks":$4,"hosts":[],"pairs":[],
		"ratio":null,"found_after_s":${8:-3},
		"causes":[{"id":"$6","name":"c","share":0.9,"low":null,"high":null}]}
	END
	echo >>"$TMPDIR/$1/why.json"
}
# scored PYTHON FOLDER...: the expression is true of the scores `s`
scored() {
	expression=$1
	shift
	for folder; do
		shift
		set -- "$@" "$TMPDIR/$folder"
	done
	python3 tests/why/score.py --json "$@" >"$TMPDIR/score" || return 1
	cat "$TMPDIR/score"
	python3 - "$TMPDIR/score" "$expression" <<-'END'
		import json, sys
		s = json.load(open(sys.argv[1]))
		a, p = s["all"], s["planted"]
		assert eval(f"({sys.argv[2]})"), sys.argv[2]
	END
}

planted perfect
finds perfect 1 W1 '[3]' 0.21 C1
check 'a perfect search has 1 everywhere' scored 'a["precision"] == a["recall"] == a["f1"] == 1 and
	p["place"] == p["first"] == p["cause"] == 1 and p["median_s"] == 3 and not s["missed"]' \
	perfect

planted other-rank
finds other-rank 1 W1 '[2]' 0.21 C1
planted other-hypothesis
finds other-hypothesis 1 W15 '[3]' 0.2 C1
planted other-severity
finds other-severity 1 W1 '[3]' 0.4 C1
planted other-ranks-too
finds other-ranks-too 1 W1 '[2,3]' 0.9 C1
check 'one that is always wrong has 0' scored 'a["precision"] == a["recall"] == a["f1"] == 0 and
	a["false"] == 4 and len(s["missed"]) == 4' \
	other-rank other-hypothesis other-severity other-ranks-too
check 'half of it is half' scored 'a["precision"] == a["recall"] == a["f1"] == 0.5' \
	perfect other-rank

planted empty
check 'an empty answer is a miss and no false finding' scored 'a["recall"] == 0 and
	a["precision"] is None and a["false"] == 0 and s["broken"] == s["missed"] != []' empty
planted none
rm "$TMPDIR/none/why.json"
check 'so is not an answer' scored 'a["recall"] == 0 and a["false"] == 0' none

planted twice
finds twice 1 W1 '[3]' 0.2 C1
finds twice 2 W1 '[3]' 0.19 C1
check 'a second finding of the same is false' scored 'a["recall"] == 1 and a["precision"] == 0.5' \
	twice
planted stronger
finds stronger 1 W1 '[3]' 0.05 C2 new 2
finds stronger 1 W1 '[3]' 0.2 C1 stronger 5
check 'a finding that gets stronger is one' scored 'a["precision"] == 1 and p["median_s"] == 2 and
	p["cause_median_s"] == 5' stronger

planted later
finds later 1 W1 '[3]' 0.2 C1 new 7
sed -i 's/"bin"/"from": 2, "bin"/' "$TMPDIR/later/truth.json"
check 'the begin of a change is compared' scored 'p["since_error_s"] == 2 and
	p["changed_to_found_s"] == 5' later

planted malformed
finds malformed 1 W1 '[3]' 0.2 C1
printf '%s\n' '{"v":1,' '[]' '{"v":2,"kind":"finding"}' '{"v":1,"kind":"rumour"}' \
	'{"v":1,"kind":"finding","id":1}' >>"$TMPDIR/malformed/why.json"
finds malformed 3 W1 '["a"]' 0.2 C1
finds malformed 4 W1 '[3]' 1.2 C1
check 'malformed lines are false' scored 'a["recall"] == 1 and a["right"] == 1 and
	a["false"] == 7 and abs(a["precision"] - 1 / 8) < 1e-9' malformed

planted second
finds second 1 W15 '[]' 0.5 C1
finds second 2 W1 '[3]' 0.2 C2
check 'the place in the list and the cause count' scored 'p["first"] == 0 and p["cause"] == 0 and
	p["symptom"] == 1 and a["precision"] == 0.5' second

run healthy '[]' null
finds healthy 1 W1 '[3]' 0.2 C1
check 'what was measured without a plant is real' scored 'a["real"] == 1 and a["false"] == 0 and
	s["controls"] == {"runs": 1, "false": 0}' healthy
run blamed '[]' null
finds blamed 1 W1 '[0]' 0.2 C1
check 'unless it blames another rank' scored 'a["real"] == 0 and a["false"] == 1 and
	s["controls"] == {"runs": 1, "false": 1}' blamed
run spoiled '["W1"]' '[[1]]'
sed -i 's/collective/system/' "$TMPDIR/spoiled/case.json"
check 'a disturbance that did not work is left out' scored 'a["runs"] == 0 and
	s["spoiled"] == ["spoiled 20 % openmpi 1"]' spoiled
check 'tables for readers' says 'other-rank 20 % openmpi 1 .*named \[2\]' \
	python3 tests/why/score.py "$TMPDIR/perfect" "$TMPDIR/other-rank" "$TMPDIR/healthy"
check 'and as Markdown' says '^\| 20 % \| 2 \| 1 ' \
	python3 tests/why/score.py --markdown "$TMPDIR/perfect" "$TMPDIR/other-rank"
printf '{' >"$TMPDIR/perfect/truth.json"
check 'a broken truth is refused' status_is 2 python3 tests/why/score.py "$TMPDIR/perfect"
tap_end
