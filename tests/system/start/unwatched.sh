#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program that cannot be watched runs unchanged, after one line with the reason and the remedy.
. tests/system/lib.sh
. tests/system/faults.sh
nothing=omig1:127.0.0.1:1:wedwyhdpgt608rmf0f1fftzykr:wcxwqdhx.z2zzc69pgb2yzt0dmdr2fmhsf4

# warned PATTERN COMMAND... -- its program says `ran`, ends with 3, and all else is one line with a
# match
warned() {
	pattern=$1
	shift
	"$@" sh -c 'echo ran; exit 3' >"$TMPDIR/out" 2>"$TMPDIR/err"
	rc=$?
	echo "status $rc"
	cat "$TMPDIR/out" "$TMPDIR/err"
	[ $rc = 3 ] && [ "$(cat "$TMPDIR/out")" = ran ] && [ "$(wc -l <"$TMPDIR/err")" = 1 ] &&
		grep -Eq "^omig: warning: $pattern" "$TMPDIR/err"
}
check 'run: a string that is none' warned 'not watched: OMIG_MAINSM.* not a connection string' env \
	OMIG_MAINSM=garbage omig run --
check 'exec: a string that is none' warned 'not watched: OMIG_MAINSM.* not a connection string' \
	env OMIG_MAINSM=garbage omig exec --
check 'run: where nothing listens' warned \
	'not watched: OMIG_MAINSM.*unset.* nothing listens at 127.0.0.1 port 1:' env \
	OMIG_MAINSM=$nothing omig run --
check 'exec: where nothing listens' warned 'not watched: --mainsm: nothing listens' omig exec \
	--mainsm=$nothing --
check 'env: where nothing listens' status_is 3 env OMIG_MAINSM=$nothing omig env
check 'doctor: unset it' says 'unset OMIG_MAINSM' env OMIG_MAINSM=$nothing omig doctor

export HOME="$TMPDIR/home"
mkdir -m 700 "$HOME"
state=$OMIG_STATE_DIR
unset OMIG_STATE_DIR XDG_STATE_HOME # the default folder, which may be replaced by another one
own_is_up() {
	omig env >"$TMPDIR/env" 2>"$TMPDIR/err" && pid=$(cat \
		"$HOME/.local/state/omig/mainsm/mainsm.lock")
}
check 'a mainsm of its own' own_is_up
check 'env --no-start finds it' status_is 0 omig env --no-start
old_job=$(sed -n "s/^export OMIG_MAINSM='\(.*:\)[0-9]*\(:[^:]*:[^:]*\)'/\11\2/p" \
	"$TMPDIR/env")
check 'doctor: the string of a job that is over, beside a mainsm of its own' says \
	'FAIL +mainsm +OMIG_MAINSM.* nothing listens' env OMIG_MAINSM="$old_job" omig doctor
kill -STOP "$pid"
until_true 5 is_stopped "$pid" # the signal takes effect later on a loaded machine
check 'run: a mainsm that is stopped' warned "mainsm, pid $pid, is stopped: .*kill -CONT $pid" \
	omig run --
kill -CONT "$pid"
opened() {
	chmod -R o+rX "$HOME/.local"
	"$@"
	rc=$?
	chmod -R go= "$HOME/.local"
	return $rc
}
same_authority() {
	[ "$(cat "$HOME/.local/state/omig/mainsm/mainsm.lock")" = "$pid" ] &&
		! ls "/tmp/omig-$(id -u)/mainsm" 2>/dev/null
}
denied="$HOME/.local/state/omig: mode 0705 lets others in: close it by chmod -R go="
check 'run: a state directory that is open to others' opened warned "not watched: $denied" omig \
	run --
check 'its tools say the same' opened says "$denied" omig tree
check 'doctor says the same' opened says "$denied" omig doctor
check 'no second mainsm came of it' same_authority
check 'closed again it is as before' status_is 0 omig tree
# takes_none PATTERN PROGRAM: it runs, and one line matches
takes_none() {
	omig exec -- "$2" >"$TMPDIR/out" 2>"$TMPDIR/err"
	rc=$?
	echo "status $rc"
	cat "$TMPDIR/out" "$TMPDIR/err"
	[ $rc = 3 ] && [ "$(cat "$TMPDIR/out")" = ran ] && [ "$(wc -l <"$TMPDIR/err")" = 1 ] &&
		grep -q "^omig: warning: not watched: $2 $1" "$TMPDIR/err"
}
printf \
	'#include <stdio.h>\n#include <stdlib.h>\nint main(void)\n{\n\tputs("ran");\n\tif (getenv(NAME))\n\t\treturn 3;\n\treturn 3;\n}\n' \
	>"$TMPDIR/ran.c"
if ${CC:-cc} -static -DNAME='"X"' -o "$TMPDIR/static" "$TMPDIR/ran.c" 2>/dev/null; then
	check 'exec: a program that is linked statically' takes_none \
		'is linked statically: link it with -lomig' "$TMPDIR/static"
	${CC:-cc} -static -DNAME='"OMIG_MAINSM"' -o "$TMPDIR/ours" "$TMPDIR/ran.c"
	check 'exec: one that has libomig in it' sh -c \
		'[ -z "$(omig exec -- "$TMPDIR/ours" 2>&1 >/dev/null)" ]'
else
	skip 'exec: a program that is linked statically' 'no static C library'
fi
if musl-gcc -DNAME='"X"' -o "$TMPDIR/musl" "$TMPDIR/ran.c" 2>/dev/null; then
	check 'exec: a program of musl' takes_none 'is linked with musl' "$TMPDIR/musl"
else
	skip 'exec: a program of musl' 'no musl-gcc'
fi
if [ "$(id -u)" = 0 ] && ${CC:-cc} -DNAME='"X"' -o "$TMPDIR/rights" "$TMPDIR/ran.c" &&
	chown 12345 "$TMPDIR/rights" && chmod 4711 "$TMPDIR/rights"; then
	check 'exec: a program with the rights of another user' takes_none \
		'runs with the rights of another user' "$TMPDIR/rights"
else
	skip 'exec: a program with the rights of another user' 'needs root'
fi
check 'exec: any other, found in PATH: no output' sh -c \
	'[ -z "$(omig exec -- sh -c "exit 3" 2>&1)" ]'
omig stop >/dev/null 2>&1
ended() {
	says 'your mainsm has ended: nothing listens' omig env --no-start
	status_is 3 omig env --no-start
}
check 'env --no-start: a mainsm that has ended' ended
check 'exec: a mainsm that has ended' warned 'not watched: your mainsm has ended: nothing listens' \
	omig exec --

# Two commands start together while no mainsm runs: both use the mainsm that the first one starts.
fresh() { env OMIG_STATE_DIR="$TMPDIR/fresh" OMIG_RUNTIME_DIR="$TMPDIR/fresh-run" "$@"; }
has_both() { fresh omig tree >"$TMPDIR/tree" && grep -q 'job a' "$TMPDIR/tree" &&
	grep -q 'job b' "$TMPDIR/tree"; }
both_are_watched() {
	rm -f "$TMPDIR/seen" "$TMPDIR"/[ab].err
	for j in a b; do
		# shellcheck disable=SC2016 # of the shell that runs it
		fresh omig run --job $j -- sh -c 'until [ -e "$TMPDIR/seen" ]; do sleep 0.1; done' \
			2>"$TMPDIR/$j.err" &
	done
	until_true 20 has_both
	rc=$?
	: >"$TMPDIR/seen"
	wait
	cat "$TMPDIR/tree" "$TMPDIR"/[ab].err
	fresh omig stop >/dev/null 2>&1
	[ $rc = 0 ] && [ ! -s "$TMPDIR/a.err" ] && [ ! -s "$TMPDIR/b.err" ]
}
check 'run: two that start together' both_are_watched
check 'run: two, right after a mainsm has been stopped' both_are_watched

# A lock whose owner has written no process id yet, and ends without a mainsm.
held() { env OMIG_STATE_DIR="$TMPDIR/held" OMIG_RUNTIME_DIR="$TMPDIR/held-run" "$@"; }
is_held() { ! flock -n "$TMPDIR/held/mainsm/mainsm.lock" true; }
is_watched_after_a_held_lock() {
	mkdir -p -m 700 "$TMPDIR/held" "$TMPDIR/held/mainsm"
	(umask 077 && exec flock "$TMPDIR/held/mainsm/mainsm.lock" sleep 2) &
	until_true 5 is_held || return 1
	held omig run -- true 2>"$TMPDIR/held.err"
	rc=$?
	wait
	cat "$TMPDIR/held.err"
	held omig stop
	[ $rc = 0 ] && [ ! -s "$TMPDIR/held.err" ]
}
check 'run: the lock of a mainsm has an owner without a name' is_watched_after_a_held_lock

long=$TMPDIR/$(printf '%0100d' 0)
check 'a runtime directory that no socket can be in' warned 'not watched: set OMIG_RUNTIME_DIR to' \
	env OMIG_RUNTIME_DIR="$long" omig run --
mkdir -m 755 "$TMPDIR/open"
check 'a runtime directory that is open to others' warned "not watched: $TMPDIR/open: mode 0755" \
	env OMIG_RUNTIME_DIR="$TMPDIR/open" omig run --

# Another user owns the usual name in /tmp: runs as the second user.
other=$((2000000000 + $$))
as_other() {
	setpriv --reuid $other --regid $other --clear-groups env -u OMIG_RUNTIME_DIR -u \
		XDG_RUNTIME_DIR HOME="$TMPDIR/other" "$@"
}
if [ "$(id -u)" = 0 ] && chmod 711 "$TMPDIR" "${TMPDIR%/*}" && mkdir -m 700 "$TMPDIR/other" &&
	chown $other "$TMPDIR/other" &&
	as_other test -x "$B/bin/omig" 2>/dev/null; then
	mkdir "/tmp/omig-$other"
	taken="/tmp/omig-$other: belongs to uid 0, not to this user; $TMPDIR/other/.local/state/omig/run is used"
	check 'run: its usual folder is taken by another user' warned "$taken" as_other omig run --
	check 'doctor reports it' says "$taken" as_other omig doctor
	as_other omig stop >/dev/null 2>&1
	rmdir "/tmp/omig-$other"
else
	skip 'run: its usual folder is taken by another user' \
		'needs root, and a build that others may read'
fi

# Daemons keep nothing of their caller's process when they go to the background.
export OMIG_STATE_DIR="$state"
lets_go() {
	timeout $((10 * PATIENCE)) sh -c '{ "$@" 2>&1; } 7>"$TMPDIR/caller" | cat' sh "$@"
}
check 'mainsm lets go of its caller' lets_go mainsm
check 'sm lets go of its caller' lets_go sm --site other
check 'lm lets go of its caller' lets_go lm
holds() {
	for p in $(leftovers); do ls -l "/proc/$p/fd" 2>/dev/null; done | grep "$TMPDIR/caller"
}
check 'nor do they hold a file of it' sh -c '! echo "$1" | grep .' sh "$(holds)"
tap_end
