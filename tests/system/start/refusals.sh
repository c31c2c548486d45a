#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig attach refuses programs that cannot be entered: with a reason, a remedy and status 1. They
# run on unharmed, and their output stays what it is.
# timeout: 120
. tests/system/lib.sh
. tests/system/faults.sh

enough=$TMPDIR/enough
# PROGRAM HOW: pid is the program, what it prints is in said
start() {
	rm -f "$enough" "$TMPDIR/said"
	"$@" "$enough" >"$TMPDIR/said" 2>&1 </dev/null &
	pid=$!
}
ends_right() {
	: >"$enough"
	wait $pid
	status=$?
	cat "$TMPDIR/said"
	[ $status = 0 ] && [ "$(tail -n 1 "$TMPDIR/said")" = '0 wrong' ]
}
child_of() { sed -n 's/^child //p' "$TMPDIR/said"; }
has_child() { [ -n "$(child_of)" ]; }
refuses() { # WORDS PID
	until_true 20 comes_out 1 "^process $2 at n_1: refused: .*$1" omig attach "$2"
}
runs() { grep -q ready "$TMPDIR/said"; }
watched() { says '^1 of 1 process is watched' omig attach "$@"; }

omig status >/dev/null 2>&1
start "$T/entered" plain
until_true 20 runs
omig attach $pid >"$TMPDIR/first" 2>&1
if grep -q 'ptrace_scope\|x86-64' "$TMPDIR/first"; then
	ends_right
	skip_all "$(cat "$TMPDIR/first")"
fi
check "a program that was started by itself is watched" until_true 20 watched $pid
check "its result is right" ends_right

while read -r program how words; do
	start "$T/$program" "$how"
	check "$program $how: refused" refuses "$words" $pid
	check "$program $how: as JSON" comes_out 1 '"state":"refused",.*"why":"[^"]' \
		omig attach --json $pid
	check "$program $how: its result is right" ends_right
done <<-END
	entered-static plain static.*link it dynamically, or with -lomig
	entered-inside plain MPI is linked into the program.*Link it dynamically
	entered forbids seccomp.*omig run
END

mkfifo "$TMPDIR/input"
"$T/entered-32" <"$TMPDIR/input" >"$TMPDIR/said" 2>&1 &
pid=$!
exec 9>"$TMPDIR/input"
if "$T/entered-32" </dev/null >/dev/null 2>&1; then
	check "a 32-bit program: refused" refuses '32-bit.*build it for x86-64' $pid
	exec 9>&-
	check "a 32-bit program: its result is right" ends_right
else
	exec 9>&-
	skip "a 32-bit program" "neither made nor run here"
fi

start "$T/entered" traced
until_true 20 has_child
check "a traced process: refused" refuses "traced already, by process $pid: end that" "$(child_of)"
check "a traced process: its result is right" ends_right
start "$T/entered" zombie
until_true 20 has_child
check "a process without a parent that waits: refused" refuses 'has ended, and its parent' \
	"$(child_of)"
check "its parent's result is right" ends_right

start "$T/entered" forks-later
check "a program that forks is watched" until_true 20 watched $pid
kill -USR1 $pid
check "it forks" until_true 20 has_child
check "its child: refused" refuses 'child process of one that was attached' "$(child_of)"
check "both results are right" ends_right

start "$T/entered" waits
until_true 20 runs
kill -STOP $pid
check "a stopped process: watched later, and why" until_true 20 comes_out 6 \
	"process $pid at n_1: pending: .*stopped.*kill -CONT" omig attach --wait 0s $pid
check "a stopped process: remains stopped" grep -q '^State:.T' /proc/$pid/status
kill -CONT $pid
check "a stopped process: its result is right" ends_right

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	others=$(mktemp -d /tmp/omig-others-XXXXXX)
	chmod 755 "$others"
	enough=$others/enough
	cp "$T/entered-inside" "$others/entered"
	start setpriv --reuid 65534 --regid 65534 --clear-groups "$others/entered" plain
	check "a process of another user: refused" refuses 'of another user: only a monitor of' $pid
	check "a process of another user: its result is right" ends_right
	chown 65534 "$others/entered"
	chmod 4755 "$others/entered"
	start "$others/entered" plain
	check "a set-user-ID program: refused" refuses 'rights of another user.*a copy' $pid
	check "a set-user-ID program: its result is right" ends_right
	rm -r "$others"
else
	skip "a process of another user" "only root makes one"
	skip "a set-user-ID program" "only root makes one"
fi
tap_end
