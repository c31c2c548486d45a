#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Peers send invalid messages to mainsm and to an sm, before and after HELLO. They use invalid
# credentials of all kinds. Each is closed with the reason and one line in the log; the daemon runs
# on and serves others.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need openssl

A=$T/attack
issue() { # NAME KIND ROLE SITE HOST [FROM TO]
	dir=$TMPDIR/creds/$1
	shift
	"$A" issue "$OMIG_STATE_DIR/mainsm" "$dir" "$@" || echo "no certificate $dir"
}
attack() { # WORDS...: to $at
	"$A" connect "$at" "$@" >"$TMPDIR/attack.out" 2>&1
	cat "$TMPDIR/attack.out"
}
alive() {
	is_alive "$victim"
}
# The daemon runs, and serves another peer
others_are_served() {
	alive && case $who in
	mainsm) omig request --timeout 20s --no-attach ':version()' ;;
	sm) "$A" connect "$at" "$TMPDIR/creds/good" hello=lm,default,good,-,-,$good read=100 |
		grep -q hello_ack ;;
	esac
}
# closed_with PATTERN CREDS WORDS...: the daemon closes, and has sent the reason
closed_with() {
	pattern=$1
	shift
	attack "$@"
	grep -q '^closed' "$TMPDIR/attack.out" && grep -Eq -- "$pattern" "$TMPDIR/attack.out" &&
		alive
}
# refused CREDS WORDS...: the daemon sends only an alert, an error or the end
refused() {
	attack "$@"
	grep -q '^closed' "$TMPDIR/attack.out" && ! grep -Eq 'hello_ack|got reply' \
		"$TMPDIR/attack.out" && alive
}
plain_is_closed() {
	"$A" plain "$at" 'GET / HTTP/1.1' | grep '^closed'
}
grown_kib() {
	echo $(($(rss_kib "$victim") - rss))
}
grew_less_than() {
	echo "grew by $(grown_kib) KiB"
	[ "$(grown_kib)" -lt "$1" ]
}
# A connection that took its time was closed, and not before so many ms
closed_after() { # FILE MS
	cat "$1"
	ms=$(sed -n 's/^closed after \([0-9]*\) ms.*/\1/p' "$1" | tail -n 1)
	[ -n "$ms" ] && [ "$ms" -ge "$2" ]
}

known() { # bomb=NAME and the words with which it is refused once HELLO was accepted
	closed_with "error 5 $2" "$TMPDIR/creds/lm" "$hello" bomb="$1" read=60000
}
unknown() {
	closed_with "$2" "$TMPDIR/creds/lm" bomb="$1" read=60000
}

frames() {
	for pair in 'length0 BAD_LENGTH.0' 'length1m BAD_LENGTH.1048577' \
		'length7f BAD_LENGTH.2147483647' \
		'length80 BAD_LENGTH.2147483648' 'lengthff BAD_LENGTH.4294967295'; do
		check "$who: a frame of $pair, from an unknown peer" unknown "${pair% *}" \
			"error 5 ${pair#* }"
		check "$who: a frame of $pair, from an lm" known "${pair% *}" "${pair#* }"
	done
	for pair in 'deep BAD_FIELD.reply.coverage.missing' 'empty TOO_MANY.reply.entry' \
		'single BAD_FIELD.reply.coverage:.twice' 'objects TOO_MANY.directory.object'; do
		check "$who: ${pair% *}, more than an unknown peer may send" unknown "${pair% *}" \
			'error 5 BAD_LENGTH'
		check "$who: ${pair% *} from an lm" known "${pair% *}" "${pair#* }"
	done
	for pair in 'sublength BAD_FIELD.reply.entry:.longer' \
		'beyond BAD_FIELD.reply.entry:.longer' \
		'utf8 BAD_FIELD.reply.csr:.not.UTF-8' 'nul BAD_FIELD.reply.csr:.has.a.control' \
		'unknown BAD_FIELD.reply' 'wiretype BAD_FIELD.reply' 'float BAD_FIELD.reply'; do
		check "$who: ${pair% *} before HELLO" unknown "${pair% *}" \
			'error 6 message reply .* not allowed in state greeting'
		check "$who: ${pair% *} from an lm" known "${pair% *}" "${pair#* }"
	done
	check "$who: a message that is none" closed_with 'error 6 message . .77. is not allowed' \
		"$TMPDIR/creds/lm" "$hello" bomb=type read=60000
	check "$who: what only a tool may send" closed_with \
		'error 6 message request .* not allowed' \
		"$TMPDIR/creds/lm" "$hello" bomb=enum read=60000
	check "$who: keys renewed without end" closed_with '' "$TMPDIR/creds/lm" "$hello" \
		keys=2000 read=60000
	check "$who: others are served" others_are_served
	check "$who: one line names the peer and the reason" logged "$who" \
		'lm of site default on rogue.*BAD_LENGTH'
	check "$who: its memory did not grow" grew_less_than 8192
}

tool_frames() {
	at=127.0.0.1:$(mainsm_port)
	check 'mainsm: an enum beyond its words, from a tool' closed_with \
		'error 5 BAD_FIELD request.policy' \
		"$TMPDIR/creds/tool" hello=tool bomb=enum read=60000
	check 'mainsm: a varint of eleven bytes, from a tool' closed_with \
		'error 5 BAD_FIELD cancel.id: broken varint' \
		"$TMPDIR/creds/tool" hello=tool bomb=varint read=60000
	check 'mainsm: what only a daemon may send' closed_with \
		'error 6 message reply .* not allowed' \
		"$TMPDIR/creds/tool" hello=tool bomb=empty read=60000
	check 'mainsm: something else than a request to enrol' closed_with '' - alpn=omig-enrol/1 \
		bomb=type read=60000
	check 'mainsm: a large frame from a peer that enrols' closed_with '' - alpn=omig-enrol/1 \
		bomb=announce read=60000
}

# D8: texts of requests. The session stays open.
answers() { # PATTERN TEXT
	printf '%s' "$2" >"$TMPDIR/text"
	omig request --no-attach - <"$TMPDIR/text" >"$TMPDIR/answer" 2>&1
	head -c 500 "$TMPDIR/answer"
	grep -Eq -- "$1" "$TMPDIR/answer" && alive
}
repeated() {
	head -c "$1" /dev/zero | tr '\0' "$2"
}
requests() {
	check 'a request of 60,000 brackets' answers 'SYNTAX_ERROR.*at offset [0-9]+' \
		":print([$(repeated 60000 '[')"
	check 'a request of 60,000 parentheses' answers 'SYNTAX_ERROR.*at offset [0-9]+' \
		":print$(repeated 60000 '(')"
	check 'a string without end' answers 'SYNTAX_ERROR.*at offset [0-9]+' ':print(["abc])'
	check 'a number of 60,000 digits' answers 'SYNTAX_ERROR.*at offset [0-9]+' \
		":print([$(repeated 60000 9)])"
	check 'a request that is too long' answers 'longer than|too long|LIMIT' \
		":print([\"$(repeated 70000 a)\"])"
	check 'a session with a bad request continues' closed_or_open
}
closed_or_open() {
	attack "$TMPDIR/creds/tool" hello=tool 'request=:print((' 'request=:print([7])'
	grep -q '^still open' "$TMPDIR/attack.out" && grep -q 'value=1,7' "$TMPDIR/attack.out"
}

# D19
credentials() {
	c=$TMPDIR/creds
	check "$who: no certificate" refused - hello=lm read=60000
	check "$who: another CA" refused "$c/rogue" "$hello" read=60000
	check "$who: expired" refused "$c/expired" "$hello" read=60000
	check "$who: not valid yet" refused "$c/early" "$hello" read=60000
	check "$who: for servers only" refused "$c/server" "$hello" read=60000
	check "$who: without extended key usage" refused "$c/noeku" "$hello" read=60000
	check "$who: with any extended key usage" refused "$c/anyeku" "$hello" read=60000
	check "$who: a role that it has not" refused "$c/lm" hello=sm,default,rogue,-,-,$rogue \
		read=60000
	check "$who: the lm of a host says another host" refused "$c/lm" \
		hello=lm,default,other,-,-,78 read=60000
	check "$who: the lm of a site says another site" refused "$c/lm" \
		hello=lm,b,rogue,-,-,$rogue read=60000
	check "$who: signed by itself" refused "$c/self" "$hello" read=60000
	check "$who: a hundred certificates" refused "$c/lm" extra=100 "$hello" read=60000
	check "$who: an RSA key" refused "$c/rsa" "$hello" read=60000
	check "$who: another curve" refused "$c/p384" "$hello" read=60000
	check "$who: TLS 1.2" refused "$c/lm" tls12 "$hello" read=60000
	check "$who: another protocol in TLS" refused "$c/lm" alpn=h2 "$hello" read=60000
	check "$who: a version of the future" closed_with \
		'error 2 protocol [0-9]*..[0-9]* is spoken here .* you speak 900..901: install one version' \
		"$c/lm" hello=lm,default,rogue,900,901,$rogue read=60000
	check "$who: HTTP" plain_is_closed
	check "$who: a session that was saved is not taken up" saved_session
	check "$who: others are served" others_are_served
	check "$who: no key in the log" sh -c '! grep -l "PRIVATE KEY" "$1"/*.log' sh \
		"$OMIG_STATE_DIR"
}
saved_session() {
	attack "$TMPDIR/creds/lm" "$hello" again "$hello" read=60000
	! grep -q resumed "$TMPDIR/attack.out" && sed '1,/^session/d' "$TMPDIR/attack.out" |
		grep -q '^closed' &&
		[ "$(grep -c hello_ack "$TMPDIR/attack.out")" = 1 ]
}

rsa_certificate() {
	mkdir -p "$TMPDIR/creds/rsa"
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$TMPDIR/creds/rsa/key.pem" -out \
		"$TMPDIR/creds/rsa/cert.pem" \
		-CA "$OMIG_STATE_DIR/mainsm/ca.crt" -CAkey "$OMIG_STATE_DIR/mainsm/ca.key" -days 1 \
			-subj /CN=x \
		-addext 'subjectAltName=URI:omig:lm/default/rogue' -addext \
			'extendedKeyUsage=clientAuth' \
		-addext 'keyUsage=critical,digitalSignature' -addext \
			'basicConstraints=critical,CA:FALSE' 2>/dev/null
}

mainsm >"$TMPDIR/conn"
OMIG_MAINSM=$(cat "$TMPDIR/conn") lm --linger 0 2>/dev/null
omig tree >/dev/null
issue lm good lm default rogue
issue good good lm default good
issue tool good tool-manipulate '' me@here
issue expired good lm default rogue -7200 -60
issue early good lm default rogue 3600 7200
for kind in rogue server noeku anyeku self p384; do issue $kind $kind lm default rogue; done
rsa_certificate

has_sm() {
	daemon_pid sm
}
check 'an sm has started' until_true 20 has_sm
sm_listens() {
	sm_port=$(omig request ':site_get_info([],255)' |
		sed -n 's/.*"127.0.0.1:\([0-9]*\)".*/\1/p' | head -n 1)
	[ -n "$sm_port" ]
}
until_true 20 sm_listens
sm_listens

# Slow peers continue beside the others.
mainsm_at=127.0.0.1:$(mainsm_port)
sm_at=127.0.0.1:$sm_port
issue slow good lm default slow
# mainsm assigns numbers: it corrects an sm that reports another one
number_of() { # HOST CREDS
	"$A" connect "$mainsm_at" "$TMPDIR/creds/$2" "hello=lm,default,$1" read=50 |
		sed -n 's/^got hello_ack .* node=\([1-9][0-9]*\) .*/\1/p'
}
rogue=$(number_of rogue lm) good=$(number_of good good) slow=$(number_of slow slow)
check 'mainsm has a number for each' test -n "$rogue" -a -n "$good" -a -n "$slow"
"$A" connect "$mainsm_at" "$TMPDIR/creds/slow" hello=lm,default,slow bomb=announce trickle=300 \
	>"$TMPDIR/mainsm.trickle" &
t1=$!
"$A" connect "$sm_at" "$TMPDIR/creds/slow" hello=lm,default,slow,-,-,$slow bomb=announce \
	trickle=300 >"$TMPDIR/sm.trickle" &
t2=$!
"$A" connect "$mainsm_at" "$TMPDIR/creds/lm" read=120000 >"$TMPDIR/mainsm.nohello" &
h1=$!
"$A" connect "$sm_at" "$TMPDIR/creds/lm" read=120000 >"$TMPDIR/sm.nohello" &
h2=$!
for f in mainsm.trickle sm.trickle; do until_true 10 grep -q hello_ack "$TMPDIR/$f"; done
for f in mainsm.nohello sm.nohello; do until_true 10 grep -q handshake "$TMPDIR/$f"; done
"$A" silent "$mainsm_at" 120 120000 >"$TMPDIR/mainsm.silent" &
s1=$!
"$A" silent "$sm_at" 120 120000 >"$TMPDIR/sm.silent" &
s2=$!
for f in mainsm.silent sm.silent; do until_true 10 grep -q connected "$TMPDIR/$f"; done
for who in mainsm sm; do
	victim=$(daemon_pid $who)
	rss=$(rss_kib "$victim")
	at=127.0.0.1:$(mainsm_port)
	hello=hello=lm,default,rogue
	[ $who = mainsm ] || { at=127.0.0.1:$sm_port hello=hello=lm,default,rogue,-,-,$rogue; }
	check "$who: others are served beside 120 silent connections" until_true 5 others_are_served
	frames
	credentials
done
who=mainsm
victim=$(daemon_pid mainsm)
tool_frames
requests
wait $h1 $h2 $s1 $s2 $t1 $t2
for who in mainsm sm; do
	victim=$(daemon_pid $who)
	check "$who: connections without a handshake are closed" grep -qx '120 of 120 closed' \
		"$TMPDIR/$who.silent"
	check "$who: without HELLO, closed after a while" closed_after "$TMPDIR/$who.nohello" 1900
	check "$who: a frame that comes byte by byte, closed after a while" closed_after \
		"$TMPDIR/$who.trickle" 5000
done
check 'mainsm runs' is_alive "$(daemon_pid mainsm)"

# Revoked: disconnected within 10 s, and refused from then on
"$A" enrol "$(cat "$TMPDIR/conn")" lm default revoked "$TMPDIR/creds/revoked" >"$TMPDIR/enrolled"
check 'an lm enrols' grep -q 'got enrol_ack [1-9]' "$TMPDIR/enrolled"
"$A" connect "$mainsm_at" "$TMPDIR/creds/revoked" hello=lm,default,revoked read=60000 \
	>"$TMPDIR/cut" 2>&1 &
cut=$!
until_true 5 grep -q hello_ack "$TMPDIR/cut"
serial=$(openssl x509 -in "$TMPDIR/creds/revoked/cert.pem" -noout -serial | sed 's/.*=//' | tr \
	'[:upper:]' '[:lower:]')
check 'a certificate is revoked by its serial' omig cert revoke "$serial"
wait $cut
check 'its holder is cut' closed_after "$TMPDIR/cut" 0
at=$mainsm_at
victim=$(daemon_pid mainsm)
check 'and refused from then on' refused "$TMPDIR/creds/revoked" hello=lm,default,revoked read=60000
sm_refuses_too() {
	at=$sm_at
	victim=$(daemon_pid sm)
	refused "$TMPDIR/creds/revoked" hello=lm,default,revoked,-,-,79 read=60000
}
check 'by the sm too' until_true 10 sm_refuses_too
tap_end
