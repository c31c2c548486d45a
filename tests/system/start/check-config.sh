#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --check-config reports errors of the environment that a start would report, and changes nothing.
# timeout: 60
. tests/system/lib.sh
need python3

refuses() { # TEXT PROGRAM OPTION...
	text=$1
	program=$2
	shift 2
	"$program" --check-config "$@" >"$TMPDIR/out" 2>&1
	rc=$?
	cat "$TMPDIR/out"
	[ $rc = 78 ] && grep -q "^$program: .*$text" "$TMPDIR/out" && [ ! -e "$OMIG_STATE_DIR" ]
}
good() {
	says '^the configuration is good$' "$@"
}
# A port that is taken until its standard input ends.
mkfifo "$TMPDIR/hold"
python3 -c 'import socket, sys
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(1)
print(s.getsockname()[1], flush=True); sys.stdin.read()' <"$TMPDIR/hold" >"$TMPDIR/port" &
exec 9>"$TMPDIR/hold"
until_true 10 test -s "$TMPDIR/port"
port=$(cat "$TMPDIR/port")

for p in mainsm sm; do
	check "$p: a port that is taken" refuses "cannot listen on 127.0.0.1 port $port" $p \
		--port "$port"
	check "$p: a name without an address" refuses \
		'listen: nohost.invalid is not an address' $p --listen nohost.invalid
	check "$p: the address of another host" refuses 'listen: 203.0.113.9 is not an address' $p \
		--listen 203.0.113.9
	check "$p: its defaults are good" good $p --check-config
done
check 'mainsm: no program' refuses 'sm-command: /nonexistent: No such file' mainsm --sm-command \
	/nonexistent
for p in sm lm; do
	check "$p: no connection string" refuses 'mainsm: not a connection string' $p \
		--mainsm garbage
	check "$p: no file of one" refuses 'mainsm: /nonexistent: not there' $p \
		--mainsm @/nonexistent
done
exec 9>&-
# The port is free now, so the check succeeds.
wait
started() {
	mainsm --port "$port" --linger 120 >"$TMPDIR/conn"
}
check 'mainsm takes that port when it is free' until_true 10 started
check 'a check while it runs finds the port its own' good mainsm --check-config --port "$port"
check 'an sm may not have it' says "port $port .is one running" sm --check-config --port "$port"
tap_end
