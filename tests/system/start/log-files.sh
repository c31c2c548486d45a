#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Logs of mainsm, sm and lm that were renamed are opened again by SIGHUP, also as logrotate does it.
# All files of the daemons are private to their user, for any umask.
# timeout: 90
. tests/system/lib.sh

umask 0 # of their user
own_host
umask 022
host=$(uname -n)
log_of() { # PROGRAM
	case $1 in
	sm) echo "$OMIG_STATE_DIR/sm-default.log" ;;
	*) echo "$OMIG_STATE_DIR/$1-$host.log" ;;
	esac
}
pids_of() { # PROGRAM...: of this monitor
	for pid in $(leftovers); do
		case " $* " in *" $(cat "/proc/$pid/comm") "*) echo "$pid" ;; esac
	done
}
has_ready() {
	grep -q 'daemon: ready' "$(log_of "$1")"
}
again() { # PROGRAM: its log has been made again, and has a line of the reload
	grep -q 'daemon: configuration reloaded' "$(log_of "$1")"
}
for p in mainsm sm lm; do
	check "$p has a log" until_true 10 has_ready $p
	mv "$(log_of $p)" "$(log_of $p).old"
	# shellcheck disable=SC2046 # pids
	kill -HUP $(pids_of $p)
	check "$p opens it again" until_true 5 again $p
	check "$p no longer writes into the old one" status_is 1 grep -q reloaded \
		"$(log_of $p).old"
done

# The installed example, with this test's folder and daemons.
conf=$TMPDIR/logrotate.conf
as_installed() {
	grep -q "pkill -HUP -u .* -x '\(mainsm|sm|lm\)'" packaging/logrotate.conf || return 1
	pids=$(pids_of mainsm sm lm | tr '\n' ' ')
	sed -e "s|~/.local/state/omig|$OMIG_STATE_DIR|" -e 's/size 1M/size 1/' \
		-e "s/pkill .*/kill -HUP $pids/" packaging/logrotate.conf >"$conf" &&
		chmod 644 "$conf" && cat "$conf"
}
rotate() {
	logrotate --state "$TMPDIR/logrotate.state" "$conf"
}
if command -v logrotate >/dev/null; then
	check 'the example of logrotate is there' as_installed
	check 'logrotate takes it' rotate
	for p in mainsm sm lm; do
		check "$p: the old log is set aside" test -s "$(log_of $p).1"
		check "$p: a new one is there" until_true 10 again $p
	done
else
	skip 'logs are rotated' 'logrotate is not here'
fi

closed_to_others() { # FOLDER
	find "$1" ! -type l -perm /077 | grep . && return 1
	[ "$(find "$1" -type f | wc -l)" -gt 2 ]
}
check 'nothing in the state directory is open to others' closed_to_others "$OMIG_STATE_DIR"
check 'nor in the runtime directory' closed_to_others "$OMIG_RUNTIME_DIR"
# The opposite: a umask that also removes rights of the owner.
omig stop
check 'the daemons end' until_true 20 no_leftovers
rm -rf "$OMIG_STATE_DIR" "$OMIG_RUNTIME_DIR"
unset OMIG_MAINSM
umask 0777
omig env --job=any >"$TMPDIR/odd" 2>"$TMPDIR/odd.err"
started=$?
umask 022
chmod 600 "$TMPDIR/odd" "$TMPDIR/odd.err"
check 'a mask that takes all rights: mainsm starts' test "$started" = 0
cat "$TMPDIR/odd.err"
unreadable() {
	find "$OMIG_STATE_DIR" "$OMIG_RUNTIME_DIR" \
		\( -type f ! -perm -600 -o -type d ! -perm -700 \) | grep .
}
check 'all of its files can be read by their owner' status_is 1 unreadable
omig stop
tap_end
