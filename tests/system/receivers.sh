# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154
# For the tests of omig log receive, after lib.sh: receivers in the background, and a program that
# sends numbered events.
need python3
T=$B/tests/system
for program in netlogged numbers; do
	[ -x "$T/$program" ] || skip_all "$program is not built"
done

start() { # NAME WHERE URL...: a receiver; its port is $port
	name=$1 to=$2
	shift 2
	: >"$name.out" # an earlier one of that name had a port, too
	omig log receive --json --to "$to" "$@" >"$name.out" 2>>"$name.err" &
	receiver=$!
	until_true 20 grep -q urls "$name.out" || return 1
	port=$(sed -n 's/.*"urls":\["[^"]*:\([0-9]*\)".*/\1/p' "$name.out")
}
end() { # the last object is in $name.end
	kill $receiver
	wait $receiver
	status=$?
	tail -n 1 "$name.out" >"$name.end"
	return $status
}
value() { sed "s/.*\"$1\":\([0-9]*\).*/\1/" "$name.end"; }
send() { "$T/netlogged" "$@"; }
stored() { "$T/numbers" "$@"; }
is() { [ "$1" = "$2" ] || { echo "$1 is not $2"; return 1; }; }
refuses() { # STATUS WORDS COMMAND...
	want=$1 words=$2
	shift 2
	"$@" >refused 2>&1
	got=$?
	cat refused
	is $got "$want" && grep -q -- "$words" refused
}

# kill_under_load PID KILLS URL: the receiver `killed` is killed and restarted while PID sends.
# $kills is the number of times.
kill_under_load() {
	kills=0
	while kill -0 "$1" 2>/dev/null && [ $kills -lt "$2" ]; do
		until_true 5 grown killed.olog $(($(wc -c <killed.olog) + 50000)) || break
		kill -KILL $receiver
		wait $receiver 2>/dev/null
		start killed ./killed.olog "$3" || break
		kills=$((kills + 1))
	done
}
grown() { [ "$(wc -c <"$1")" -gt "$2" ]; }
each_is_counted() { # N: each of so many numbers is stored once in killed.olog, or counted
	end || [ $? = 2 ] || return 1
	omig log cat killed.olog >killed.bp 2>killed.words || [ $? = 2 ]
	counted=$(awk '/ events? w(as|ere) (dropped|in what)/ {
		sub(/.*olog: /, ""); n += $1 } END { print n + 0 }' killed.words)
	# shellcheck disable=SC2046 # words
	set -- "$1" $(stored killed.olog)
	echo "$* counted $counted kills $kills"
	cat ./*.said
	[ "$5" = 0 ] && [ "$7" = 0 ] && [ $(($3 + counted)) = "$1" ]
}
