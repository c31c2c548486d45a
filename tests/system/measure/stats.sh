#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Numbers in files, without a monitor: the output of omig stats, its omissions and refusals.
. tests/system/lib.sh

need python3
fails() { # STATUS PATTERN COMMAND...
	want=$1 pattern=$2
	shift 2
	status_is "$want" "$@" >"$TMPDIR/fails.out" 2>&1 &&
		grep -Eq -- "$pattern" "$TMPDIR/fails.out" && return
	cat "$TMPDIR/fails.out"
	return 1
}
d=$TMPDIR
seq 1 99 >"$d/plain"
{
	echo 'time_ns,value,"other, quoted"'
	seq 1 99 | awk '{ printf "%d,%d,%d\n", $1 * 1000000, $1, 5 - 2 * $1 }'
} >"$d/table.csv"
# Forty values that decrease from 1000, then repeated values around 10.
awk 'BEGIN { while (i < 400) { v = i < 40 ? 1000 - 20 * i : 10 + (i * 7) % 10 / 10;
	printf "%g\n", v; i++ } }' >"$d/transient"

check 'a list of numbers has a mean with an interval' says \
	'^  mean +50 \+- 5\.729 \(11\.5 %\) at 95 %$' omig stats "$d/plain"
check 'and moments and quantiles' says '^  median +50$' omig stats "$d/plain"
check 'a level is its own' says '^  mean +50 \+- 7\.583 ' omig stats -l 0.99 "$d/plain"
check 'numbers come through a pipe' sh -c "omig stats <'$d/plain' | grep -q '^stdin: 99 values$'"
check 'the column "value" is what is meant' says 'table.csv: value: 99 values' omig stats \
	"$d/table.csv"
check 'columns have names, and a pair of them a correlation' says \
	'value and .*other, quoted: covariance -1650, correlation -1$' omig stats -c 'value,3' \
		"$d/table.csv"
check 'JSON is JSON' sh -c "omig stats --json --histogram --lags 2 -c 2,3 \
	'$d/table.csv' '$d/table.csv' | python3 -c '
import json, sys
v = json.load(sys.stdin)
q = v[\"quantities\"]
assert [x[\"n\"] for x in q] == [99] * 4
assert q[0][\"mean\"] == 50 and q[1][\"mean\"] == -95 and q[0][\"variance\"] == 825
assert sum(b[\"count\"] for b in q[0][\"histogram\"]) == 99 and len(q[0][\"autocorrelation\"]) == 2
assert v[\"pairs\"][0][\"correlation\"] == -1
'"
check 'CSV has a line a quantity, and is read again' says '^ *mean +-22\.5 ' \
	sh -c "omig stats --csv -c 2,3 '$d/table.csv' | omig stats -c mean -"
check 'without its values it knows nearly the same' sh -c \
	"omig stats --stream '$d/plain' | awk '/^  median/ { exit !(\$2 > 49.5 && \$2 < 50.5 && \$3 == \"within\") }'"

check 'the first values are left out' says '^.*: 89 values, 10 dropped$' omig stats --drop 10 \
	"$d/plain"
check 'or those of the first time' says ': 89 values, 10 dropped$' omig stats --drop-time 10ms \
	"$d/table.csv"
check 'or what has not settled' says ': 360 values, 40 dropped$' omig stats --drop-transient \
	"$d/transient"
check 'min and max are left out' says '^  max +97$' omig stats --trim 1,2 \
	"$d/plain"
check 'or what lies outside' says ': 99 values, 1 dropped$' sh -c \
	"{ cat '$d/plain'; echo 1e9; } | omig stats --fence 3"

check 'a rule that holds ends the reading' says ': 50 values$' omig stats --until 'n >= 50' \
	"$d/plain"
check 'also of an input that does not end' says ': 100 values$' sh -c \
	"yes 5 | omig stats --until 'ci(0.95) < 5% and n >= 100'"
check 'one that does not hold is status 1' fails 1 'until is not reached' omig stats --until \
	'ci(0.95) < 5%' "$d/plain"
check 'values that depend on each other are warned of' says \
	'warning: correlated values' \
	omig stats "$d/plain"

printf '1\n2\nthree\n\n# four\n5,5\n-\n6\n' >"$d/bad"
check 'what cannot be read is reported' fails 1 "bad, line 3: no number where one is due: 'three'" \
	omig stats "$d/bad"
check 'and the rest is there' sh -c \
	"! omig stats '$d/bad' 2>/dev/null >'$d/out'; grep -q ': 3 values, 1 not finite$' '$d/out'"
head -c 200000 /dev/zero | tr '\0' 7 >"$d/long"
check 'a line without an end is reported' fails 1 'longer than 64 KiB' omig stats "$d/long"
check 'an input of no values is reported' \
	fails 1 'stdin has no values' sh -c 'omig stats </dev/null'
check 'a column that is not there is reported' fails 4 "has no column 'x'" omig stats -c x \
	"$d/table.csv"
check 'a file that is not there is reported' fails 4 'No such file' omig stats "$d/none"
check 'an invalid rule has its position' fails 2 "'<' expected at column 10" omig stats --until \
	'ci(0.95) > 5%' "$d/plain"
check 'what needs values does not stream' fails 2 'keeps no values' omig stats --stream --fence 3 \
	"$d/plain"
printf 'time_ns,value\n9e18,1\n4e18,2\n' >"$d/late"
check 'a time that no clock shows is reported' fails 1 \
	"late, line 2: no time where one is due: '9e18'" \
	omig stats --drop-time 2000000000s "$d/late"
tap_end
