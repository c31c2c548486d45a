#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each manipulation of a real program, and its author, are in the audit of the daemon that decided,
# without secrets. Twenty wrong requests get their statuses.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need lm sm mainsm omig
need_subject

audit() {
	omig audit --json "$@" >"$TMPDIR/audit.json" 2>"$TMPDIR/audit.err"
	rc=$?
	cat "$TMPDIR/audit.json" "$TMPDIR/audit.err"
	return $rc
}
# written WORD...: one entry has them all, in the order of its keys
written() {
	audit >/dev/null
	cp "$TMPDIR/audit.json" "$TMPDIR/found"
	for word; do
		grep -F -- "$word" "$TMPDIR/found" >"$TMPDIR/fewer"
		mv "$TMPDIR/fewer" "$TMPDIR/found"
	done
	[ -s "$TMPDIR/found" ] || { cat "$TMPDIR/audit.json"; return 1; }
}

own_host
subject a
one=$subject
exec 8>"$TMPDIR/a.in"
subject b
two=$subject
exec 9>"$TMPDIR/b.in"
check 'two programs run' until_true 20 grep -q code "$TMPDIR/a.out" "$TMPDIR/b.out"
p=$(token_of "$one") q=$(token_of "$two")
check 'both are watched' [ "${p:+1}${q:+1}" = 11 ]
address=$(sed -n 's/^written \([^ ]*\).*/\1/p' "$TMPDIR/a.out")
observer=$(omig cert token tool-observe)

# --- by requests
check 'a stop' answered 0 '^OK$' ":thread_stop([$p]) thread_continue([$p])"
check 'a signal' answered 0 '^OK$' ":proc_send_signal([$p],10)"
check 'bytes into its memory' answered 0 '^OK$' \
	":proc_write_memory([$p],$address,4,4,[71,72,73,74])"
check 'what fails' answered 4 'UNKNOWN_OBJECT' ":proc_send_signal([$p,p_1_aaaaaa],10)"
check 'the stop is written' written '"daemon":"lm"' 'omig:tool-' "\"call\":\"thread_stop([t_" \
	"\"objects\":\"$p\",\"failed\":\"\",\"status\":\"OK\""
check 'going on, too' written "\"call\":\"thread_continue([t_" "\"objects\":\"$p\""
check 'the signal' written "\"call\":\"proc_send_signal([$p],10)\",\"objects\":\"$p\""
check 'how much was written where, not what' written "proc_write_memory([$p]," ',4,4,<4 values '
no_bytes() {
	! grep -rF '71,72,73' "$OMIG_STATE_DIR"/mainsm/audit* "$OMIG_RUNTIME_DIR"/lm-*/audit*
}
check 'in no file either' no_bytes
check 'requests that only read are not written' \
	sh -c '! grep -q proc_attach3 "$1"' sh "$TMPDIR/audit.json"

# --- refused by mainsm: no host receives the request
check 'an observer may not' status_is 5 as_observer ":thread_stop([$p])"
check 'its attempt is written' written '"daemon":"mainsm"' 'omig:tool-observe//' \
	"\"call\":\"thread_stop([$p])\"" '"status":"NO_PERMISSION"'
i=0
while [ $i -lt 15 ]; do
	as_observer ":proc_send_signal([$p],9)" >/dev/null 2>&1
	i=$((i + 1))
done
few_are_written() {
	audit >/dev/null
	[ "$(grep -c '"status":"NO_PERMISSION"' "$TMPDIR/audit.json")" = 10 ] &&
		grep -q '6 entries are left out' "$TMPDIR/audit.err"
}
check 'of a flood ten are written, the others counted' few_are_written
check 'an observer does not read it' status_is 5 env OMIG_STATE_DIR="$TMPDIR/observer" omig audit \
	--mainsm "$observer"

# --- by a conditional request
omig request --follow forever "proc_has_terminated([$q]): thread_stop([$p])" >"$TMPDIR/follow" \
	2>&1 8>&- 9>&- &
tool=$!
is_armed() {
	omig status --json | grep -q '"csrs_armed":1'
}
check 'a condition is armed' until_true 20 is_armed
exec 9>&-
check 'its event stops the other program' until_true 20 is_stopped "$one"
check 'written with its token' written "\"csr\":\"c_" "\"call\":\"thread_stop([" \
	"\"objects\":\"$p\"" '"status":"OK"'
kill "$tool"
runs() {
	! is_stopped "$one"
}
check 'the tool has ended: it runs on' until_true 20 runs

# --- administration
check 'a token is made' omig cert token lm
check 'a certificate is revoked' status_is 4 omig cert revoke nobody@nowhere
check 'the token is written without itself' written '"daemon":"mainsm"' \
	'omig_cert_token(\"lm\",0,1,\"\",3600)' '"status":"OK"'
check 'the revocation' written 'omig_cert_revoke(\"nobody@nowhere\")'
no_secret() {
	secret=$(omig cert token lm | cut -d: -f5)
	! grep -rF "${secret#*.}" "$OMIG_STATE_DIR/mainsm/audit"
}
check 'no secret is in the file' no_secret
private() {
	[ "$(stat -c %a "$OMIG_STATE_DIR/mainsm/audit")" = 600 ] &&
		[ "$(stat -c %a "$OMIG_RUNTIME_DIR"/lm-*/audit)" = 600 ]
}
check 'both files are private' private

# --- reading it
of_host_only() {
	audit --node "$node" >/dev/null && ! grep -q '"daemon":"mainsm"' "$TMPDIR/audit.json" &&
		[ -s "$TMPDIR/audit.json" ]
}
check 'of one host' of_host_only
check 'for people' says 'thread_stop\(\[t_[0-9a-z_,]*\]\)  OK' omig audit
nothing_new() {
	audit --since 1ms && [ ! -s "$TMPDIR/audit.json" ]
}
check 'since a time' nothing_new
omig audit --follow --json --since 1h >"$TMPDIR/following" 2>/dev/null 8>&- &
follower=$!
request ":proc_set_priority([$p],7)" >/dev/null
check 'followed' until_true 20 grep -q "proc_set_priority(\[$p\],7)" "$TMPDIR/following"
seen_once() {
	[ "$(grep -c "proc_set_priority(\[$p\],7)" "$TMPDIR/following")" = 1 ]
}
request ":proc_set_priority([$p],8)" >/dev/null
check 'and what comes after it' until_true 20 grep -q "proc_set_priority(\[$p\],8)" \
	"$TMPDIR/following"
check 'each once' seen_once
kill "$follower"

# --- twenty wrong requests, each with its status
wrong() { # EXIT WORD REQUEST
	check "$3: $2" answered "$1" "^$2|: $2| $2 " "$3"
}
wrong 2 SYNTAX_ERROR 'thread_stop'
wrong 2 SYNTAX_ERROR ":thread_stop([$p"
wrong 2 SYNTAX_ERROR ":proc_send_signal([$p],\"open)"
wrong 2 UNKNOWN_SERVICE ":thread_halt([$p])"
wrong 2 UNKNOWN_SERVICE ":omig_proc_take([$node],1,\"\")"
wrong '[0-9]+' UNSUPPORTED_SERVICE ":proc_migrate([$p],$node)"
wrong 2 PARAMETER_ERROR ':thread_stop()'
wrong 2 PARAMETER_ERROR ":thread_stop([$p],1)"
wrong 2 PARAMETER_ERROR ":proc_send_signal([$p])"
wrong 2 TYPE_MISMATCH ":proc_send_signal([$p],\"9\")"
wrong 2 TYPE_MISMATCH ":proc_send_signal([$p],[9,10])"
wrong 2 TYPE_MISMATCH ':thread_stop(1)'
wrong 2 TYPE_MISMATCH ':thread_stop(["x"])'
wrong 2 TYPE_MISMATCH ":proc_write_memory_bin([$p],1,1,1,[1,2])"
check 'an action in the place of an event' answered 2 'TYPE_MISMATCH thread_stop is not an event' \
	--follow 1s 'thread_stop([]): print([1])'
wrong 2 TYPE_MISMATCH ':proc_has_terminated([])'
wrong 2 UNKNOWN_ECP ":proc_send_signal([\$proc],10)"
wrong 2 PARAMETER_ERROR ":proc_send_signal([$p],65)"
wrong 4 UNKNOWN_OBJECT ":thread_stop([$q])"
wrong 4 UNKNOWN_OBJECT ':thread_stop([p_9_aaaaaa])'
check 'the program runs through all of it' is_alive "$one"

kill_hard lm
lm --background 2>>"$TMPDIR/lm.log"
check 'an lm that was killed' until_true 30 nodes_are 1
check 'continues with its audit' until_true 20 written "\"call\":\"proc_set_priority([$p],8)\""
exec 8>&-
tap_end
