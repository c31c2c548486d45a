#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sm as a process: its message and exit status if it cannot start, and its start with a mainsm.
# timeout: 120
. tests/system/lib.sh
need sm

pin=00000000000000000000000000

# fails_with STATUS WORDS COMMAND...: this exit status, and one line with these words
fails_with() {
	want=$1 words=$2
	shift 2
	timeout $((40 * PATIENCE)) "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null
	got=$?
	cat "$TMPDIR/out" "$TMPDIR/err"
	[ "$got" = "$want" ] && grep -q "$words" "$TMPDIR/err" &&
		[ "$(grep -vc 'notice daemon: ended\|^Try ' "$TMPDIR/err")" = 1 ]
}

from_stdin() {
	printf '%s\n' "$1" | timeout $((40 * PATIENCE)) sm --foreground --mainsm-stdin \
		2>"$TMPDIR/err"
	got=$?
	cat "$TMPDIR/err"
	[ "$got" = 3 ] && grep -q "$2" "$TMPDIR/err"
}

check "--version" sh -c 'sm --version | grep -q "^sm [0-9]"'
check "--help names the options" sh -c 'sm --help | grep -q -- --linger'
check "an unknown option is a usage error" fails_with 2 "unknown option" sm --nope
check "an impossible port is a usage error" fails_with 2 "99999" sm --port 99999
check "nothing to connect to" fails_with 3 "no mainsm is known" sm --foreground
check "a wrong connection string" fails_with 3 "connection string" env OMIG_MAINSM=garbage sm \
	--foreground
check "a wrong connection string in the background" fails_with 3 "connection string" env \
	OMIG_MAINSM=garbage sm
check "a string without token when there is no certificate" \
	fails_with 3 "omig cert token sm" env OMIG_MAINSM=omig1:127.0.0.1:1:$pin sm --foreground
check "no mainsm there" fails_with 3 "Connection refused" env \
	OMIG_MAINSM=omig1:127.0.0.1:1:$pin:abc.def sm --foreground
check "the string may come from standard input" from_stdin omig1:127.0.0.1:1:$pin:abc.def \
	"Connection refused"
check "and may be wrong there" from_stdin garbage "connection string"
check "and may be missing there" fails_with 3 "standard input" sm --foreground --mainsm-stdin

printf 'port = 0\nnonsense = 1\n' >"$TMPDIR/bad.conf"
chmod 600 "$TMPDIR/bad.conf"
check "an unknown key names file and line" fails_with 78 "bad.conf:2" sm --config \
	"$TMPDIR/bad.conf" --foreground
check "a site that cannot be a name" fails_with 78 "site" sm --check-config --site a/b
chmod 666 "$TMPDIR/bad.conf"
check "a configuration that others may write" fails_with 78 "bad.conf" sm --config \
	"$TMPDIR/bad.conf" --check-config
check "what is configured can be read back" sh -c 'sm --dump-config --linger 5s >"$TMPDIR/c" &&
	chmod 600 "$TMPDIR/c" &&
	sm --config "$TMPDIR/c" --dump-config | grep -q "^linger = 5s"'
mkdir -p "$TMPDIR/open" && chmod 777 "$TMPDIR/open"
check "a state directory that others may write" fails_with 78 "open" sm --foreground --state-dir \
	"$TMPDIR/open"

sm_says() {
	grep -q "$1" "$TMPDIR/sm.log"
}

with_mainsm() {
	mainsm --foreground "$@" >"$TMPDIR/conn" 2>"$TMPDIR/mainsm.log" &
	top=$!
	until_true 20 test -s "$TMPDIR/conn" || return 1
	OMIG_MAINSM=$(cat "$TMPDIR/conn")
	export OMIG_MAINSM
}

sm_is_up() {
	: >"$TMPDIR/sm.log" # of the previous sm, whose log would match
	sm --foreground --site x --log-level info >"$TMPDIR/sm.out" 2>"$TMPDIR/sm.log" &
	sm=$!
	until_true 20 sm_says 'mainsm is there' && return 0
	cat "$TMPDIR/sm.log" "$TMPDIR/mainsm.log"
	return 1
}

ends_with() {
	kill -TERM "$sm"
	wait "$sm"
	got=$?
	cat "$TMPDIR/sm.log"
	[ "$got" = "$1" ]
}

dumps_status() {
	kill -USR1 "$sm"
	until_true 10 sm_says 'lms=0 nodes=0' && sm_says 'certificate_expires_ns='
}

only_one() {
	fails_with 75 "runs here already" sm --foreground --site x
}

lingers() {
	timeout $((30 * PATIENCE)) sm --foreground --site x --linger 1s 2>"$TMPDIR/sm.log"
	got=$?
	cat "$TMPDIR/sm.log"
	[ "$got" = 0 ] && sm_says 'no lm is left to serve'
}

waits_for_mainsm() {
	kill -KILL "$top"
	wait "$top" 2>/dev/null
	until_true 20 sm_says 'mainsm is lost' && kill -0 "$sm" || return 1
	: >"$TMPDIR/conn"
	with_mainsm || return 1
	until_true 30 sm_says 'mainsm is there, restarted'
}

renews() {
	kill -TERM "$top"
	wait "$top"
	: >"$TMPDIR/conn"
	with_mainsm --cert-lifetime 60s || return 1
	: >"$TMPDIR/sm.log"
	sm --foreground --site y --log-level info 2>"$TMPDIR/sm.log" &
	sm=$!
	until_true 20 sm_says 'certificate renewed' && return 0
	cat "$TMPDIR/sm.log" "$TMPDIR/mainsm.log"
	return 1
}

lm_says() {
	grep -q "$1" "$TMPDIR/lm.log"
}

an_lm_renews() {
	: >"$TMPDIR/lm.log"
	lm --foreground --site y --linger 0 --log-level info 2>"$TMPDIR/lm.log" &
	lm=$!
	until_true 20 lm_says 'certificate renewed'
	got=$?
	[ "$got" = 0 ] || cat "$TMPDIR/lm.log" "$TMPDIR/mainsm.log"
	kill -TERM "$lm"
	wait "$lm"
	return "$got"
}

if command -v mainsm >/dev/null 2>&1; then
	check "mainsm starts" with_mainsm
	check "with a token it enrols and serves" sm_is_up
	check "a second sm of the site reports that" only_one
	check "SIGUSR1 dumps its status" dumps_status
	check "SIGTERM ends it" ends_with 0
	check "the certificate is kept: a token is no longer needed" sh -c \
		'OMIG_MAINSM=${OMIG_MAINSM%:*} timeout $((30 * PATIENCE)) sm --foreground --site x --linger 500ms'
	check "it ends when no lm comes" lingers
	check "it serves again" sm_is_up
	check "mainsm is killed and restarted: it waits" waits_for_mainsm
	check "and ends" ends_with 0
	check "a certificate near its end is renewed over the link" renews
	check "so is an lm's" an_lm_renews
	check "and it serves on" ends_with 0
	kill -TERM "$top"
	wait "$top" 2>/dev/null
	case $(ps -o pid= -p "$top") in '') ;; *) kill -KILL "$top" ;; esac
else
	skip "with a mainsm" "mainsm is not built"
fi
tap_end
