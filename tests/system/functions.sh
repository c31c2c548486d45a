# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034
# For the system tests of functions as regions, after lib.sh.

code_of() { # PID PROGRAM: the code in memory, and that of the file
	line=$(grep -m 1 " r-xp .*$2\$" "/proc/$1/maps") || return 1
	# shellcheck disable=SC2086 # words
	set -- "$1" "$2" ${line%% *} $(echo "$line" | cut -d' ' -f3)
	from=$((0x${3%-*})) to=$((0x${3#*-}))
	dd "if=/proc/$1/mem" bs=65536 iflag=skip_bytes,count_bytes skip=$from \
		count=$((to - from)) of="$TMPDIR/in-memory" 2>/dev/null
	dd "if=$2" bs=65536 iflag=skip_bytes,count_bytes skip=$((0x$4)) count=$((to - from)) \
		of="$TMPDIR/in-file" 2>/dev/null
	size=$(stat -c %s "$TMPDIR/in-file")
	head -c "$size" "$TMPDIR/in-memory" >"$TMPDIR/in-memory.cut"
}
is_as_the_file() {
	code_of "$1" "$2" && [ "$size" -gt 1000 ] &&
		cmp -s "$TMPDIR/in-memory.cut" "$TMPDIR/in-file"
}
last_of() { # NAME RANK: the value of the last read
	awk -F, -v of="rank$2@" 'index($4, of) == 1 { v = $6 } END { print v }' "$TMPDIR/$1.csv"
}
measures() { # NAME METRIC REGION
	omig measure "$2" --by process --region "$3" --every 200ms --csv --for 10m \
		>"$TMPDIR/$1.csv" 2>"$TMPDIR/$1.err" &
	pids="$pids $!"
}
# Counts of a rank begin with its first read.
reads_something() { # NAME [RANKS]: of each of two ranks, or of that many
	ranks_read=$(awk -F, '$4 ~ /^rank/ && !seen[$4]++ { n++ } END { print n + 0 }' \
		"$TMPDIR/$1.csv")
	[ "$ranks_read" = "${2:-2}" ]
}
begin() { # FLAVOUR PROGRAM [RANKS]
	rm -f "$TMPDIR/go" "$TMPDIR/end"
	pids=
	omig run -- "mpirun.$1" $over -n "${3:-2}" "$2" "$TMPDIR/go" "$TMPDIR/end" \
		>"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null &
	job=$!
	check "$1: ${3:-2} ranks come up" until_true 30 ranks_are "${3:-2}"
	pid=$(pgrep -f "^$2 $TMPDIR/go" | head -n 1)
}
finish() {
	# shellcheck disable=SC2086 # a list
	kill -INT $pids
	# shellcheck disable=SC2086 # a list
	wait $pids
	check "$1: the code is that of the file again" until_true 10 is_as_the_file "$pid" "$2"
	: >"$TMPDIR/end"
	check "$1: the program ends well" wait "$job"
}
refuses() { # REASON NAME
	check "refused: $2: $1" says "$1" omig measure Region_count --region "function:$2" --count 1
}

fails() {
	! "$@"
}
