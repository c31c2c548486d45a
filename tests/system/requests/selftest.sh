#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig selftest services: runs every service on a real process. Checks the table, the exit status,
# and that no process or file is left, however it ends.
# timeout: 120
. tests/system/lib.sh
need lm sm mainsm omig

# Ends with 0, or with 6 if this machine lacks something for a service; never with 1.
works_here() {
	omig selftest services "$@" >"$TMPDIR/table" 2>"$TMPDIR/errors"
	got=$?
	cat "$TMPDIR/table" "$TMPDIR/errors"
	if grep -q ' not here' "$TMPDIR/table" && ! grep -q ' 0 not here' "$TMPDIR/table"; then
		[ $got = 6 ]
	else
		[ $got = 0 ]
	fi
}
# Processes and folders of it
processes() {
	grep -lsz "^OMIG_STATE_DIR=$TMPDIR/omig-selftest-" /proc/[0-9]*/environ
}
is_under_way() {
	[ -n "$(processes)" ]
}
is_clean() {
	[ -z "$(processes; find "$TMPDIR" -maxdepth 1 -name 'omig-selftest-*')" ]
}
lists_all() {
	omig services --json | grep -o '"name":"[a-z_0-9]*"[^}]*"state":"[a-z]*"' |
		grep -v unsupported | cut -d'"' -f4 |
		sort >"$TMPDIR/done"
	tail -n +2 "$1" | grep -v '^[0-9]* ok,' | cut -d' ' -f1 | sort >"$TMPDIR/listed"
	diff "$TMPDIR/done" "$TMPDIR/listed"
}

check 'all services work here, or the table says why not' works_here
check 'no service fails' says ' 0 fail,' cat "$TMPDIR/table"
check 'the table has each that is done' lists_all "$TMPDIR/table"
check 'nothing on stderr' test ! -s "$TMPDIR/errors"
check 'nothing is left' is_clean
check 'what the user has is not touched' test ! -e "$OMIG_STATE_DIR"
check 'one that is asked of a sm says where it is tried' says \
	'omig_site_users .*not tried: requests/site-users' cat "$TMPDIR/table"
check 'a list of them does nothing' says '^proc_get_info .*:proc_get_info\(\[\{proc\}\]' omig \
	selftest services --list
check 'some by name' says '^2 ok, 0 fail' omig selftest services version print
check 'as JSON' says \
	'^\[\{"service":"version",.*"class":"information","right":"observe",.*"result":"ok","reason":null\}\]$' \
	omig selftest services --json version
check 'an unknown service' status_is 4 omig selftest services no_such_service
check 'one that is not done' status_is 4 omig selftest services proc_migrate
check 'what else is there to try' status_is 2 omig selftest everything

# --- the monitor of the user
omig env --job=any >"$TMPDIR/env" 2>/dev/null
conn=$(cat "$OMIG_STATE_DIR/mainsm/mainsm.conn")
check 'a monitor that is there' says '^3 ok, 0 fail, 1 not here' omig selftest services -m "$conn" \
	proc_get_info thread_stop thread_has_started_lib_call omig_shutdown
check 'still runs' says '"mainsm"' omig status --json
check 'and no process of it runs' until_true 20 ranks_are 0
check 'nothing is left of the rest' is_clean
observer=$(omig cert token tool-observe)
check 'an observer may not stop a thread' says '^thread_stop .*not here: .*manipulate' env \
	OMIG_STATE_DIR="$TMPDIR/observer" \
	omig selftest services -m "$observer" thread_stop version
omig stop >/dev/null 2>&1
has_no_mainsm() { status_is 3 omig status; }
check 'the monitor ends' until_true 20 has_no_mainsm
check 'a monitor that is there no more' status_is 3 omig selftest services -m "$conn" version
check 'nothing is left of that' is_clean

# --- however it ends
interrupted() { # SIGNAL STATUS
	omig selftest services >"$TMPDIR/cut" 2>&1 &
	pid=$!
	until_true 20 is_under_way || return 1
	kill "-$1" "$pid"
	wait "$pid"
	got=$?
	[ $got = "$2" ] || { echo "status $got, not $2"; return 1; }
	until_true 20 is_clean
}
check 'a signal ends it, and nothing is left' interrupted TERM 143
check 'so does one that it cannot see' interrupted KILL 137
ctrl_c() { # background processes of a shell ignore SIGINT
	env --default-signal=INT omig selftest services >"$TMPDIR/cut" 2>&1 &
	pid=$!
	until_true 20 is_under_way || return 1
	kill -INT "$pid"
	wait "$pid"
	[ $? = 130 ] && until_true 20 is_clean
}
check 'Ctrl-C too' ctrl_c
tap_end
