#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mistakes of users: each gives one line with the cause and the remedy, and the exit status of the
# manual.
# timeout: 120
. tests/system/lib.sh
. tests/system/faults.sh

A=$T/attack
elsewhere() { # NAME COMMAND...: as a user without a certificate
	dir=$TMPDIR/$1
	shift
	env OMIG_STATE_DIR="$dir" "$@"
}

check 'no mainsm' fails 3 'no mainsm is known: omig run starts one' omig tree
check 'output that cannot be written' fails 1 'the output could not be written' sh -c \
	'omig services >/dev/full'
check 'a command that does not exist' fails 2 "'nonsense' is not a command; try: omig help" \
	omig nonsense
check 'a command with a slip' fails 2 "'measur' is not a command; did you mean measure?" \
	omig measur
mainsm >"$TMPDIR/conn"
conn=$(cat "$TMPDIR/conn")
port=$(mainsm_port)
pin=$(echo "$conn" | cut -d: -f4)
token=$(echo "$conn" | cut -d: -f5)

# --- connection strings
check 'a string that is none' fails 2 'not a connection string: .*begin with omig1:' omig tree \
	--mainsm nonsense
check 'a string that is none, in the environment' fails 3 'OMIG_MAINSM: not a connection string' \
	env OMIG_MAINSM=nonsense omig tree
check 'a port that is none' fails 2 'the port is wrong' omig tree --mainsm "omig1:127.0.0.1:0:$pin"
check 'a pin that is cut off' fails 2 'the pin .* is wrong' omig tree --mainsm \
	"omig1:127.0.0.1:$port:abc"
check 'a time-out that is none' fails 2 'OMIG_TIMEOUT: soon is not a time' \
	env OMIG_TIMEOUT=soon omig tree
check 'the pin of another monitor' fails 5 \
	'has not the pin .* another monitor, or the string is old' \
	elsewhere wrong-pin omig tree --mainsm \
		"omig1:127.0.0.1:$port:00000000000000000000000000:$token"
check 'a port without a listener' fails 3 '127.0.0.1:1: .*is it running' \
	elsewhere dead omig tree --mainsm "omig1:127.0.0.1:1:$pin:$token"
check 'a host that does not exist' fails 3 'no.such.host.invalid' \
	elsewhere nohost omig tree --mainsm "omig1:no.such.host.invalid:$port:$pin:$token"
check 'a token that never was' fails 5 'not valid here: take a new connection string' \
	elsewhere forged omig tree --mainsm \
		"omig1:127.0.0.1:$port:$pin:aaaaaaaa.bbbbbbbbbbbbbbbbbbbbbbbbbb"
check 'no token and no certificate' fails 5 'has no token: ask for a new one' \
	elsewhere none omig tree --mainsm "omig1:127.0.0.1:$port:$pin"
once=$(omig cert token tool-observe --uses 1)
check 'a token for one use: used' elsewhere once omig tree --mainsm "$once"
check 'a token for one use: used up' fails 5 'not valid here: take a new connection string' \
	elsewhere twice omig tree --mainsm "$once"
check 'its holder does not need it again' elsewhere once omig tree --mainsm "$once"
short=$(omig cert token tool-observe --uses 1000 --lifetime 1s)
has_ended() {
	"$A" enrol "$short" tool-observe '' me@here | grep 'this token has ended: take a new'
}
"$A" enrol "$(omig cert token tool-observe)" sm x y >"$TMPDIR/role"
check 'a token for another role' grep -q 'this token is for another role' "$TMPDIR/role"
check 'a token whose time is over' until_true 5 has_ended
check 'the same, reported by omig' fails 5 'has ended: take a new connection string' \
	elsewhere late omig tree --mainsm "$short"
check 'what a token for observing does not allow' fails 5 'tool-observe|right|permi' \
	elsewhere once omig cert list --mainsm "$once"

# --- certificates that have expired
holder=$(find "$TMPDIR/once/tool" -name cert.pem)
holder=${holder%/cert.pem}
"$A" issue "$OMIG_STATE_DIR/mainsm" "$holder" good tool-observe '' someone -7200 -60
check 'an expired certificate, no token that is good' fails 5 'expired.*connection string|new' \
	elsewhere once omig tree --mainsm "$once"
check 'an expired certificate and a good token: a new one comes by itself' elsewhere once omig \
	tree --mainsm "$conn"
mkdir -p "$OMIG_RUNTIME_DIR"
chmod 700 "$OMIG_RUNTIME_DIR"
"$A" issue "$OMIG_STATE_DIR/mainsm" "$OMIG_RUNTIME_DIR/lm-$(uname -n)-$(caid)" good lm default \
	"$(uname -n)" -7200 -60
# The same for an expired string in the user's file, where an lm searches for it.
mv "$OMIG_STATE_DIR/mainsm/mainsm.conn" "$TMPDIR/hidden.conn"
env OMIG_MAINSM="omig1:127.0.0.1:$port:$pin" lm
check 'an lm whose certificate has expired, no token: it reports that' logged lm \
	'no certificate reason=.*no token in the connection string to enrol with.*: the certificate expired on'
kill_hard lm
mv "$TMPDIR/hidden.conn" "$OMIG_STATE_DIR/mainsm/mainsm.conn"
env OMIG_MAINSM="$conn" lm
check 'an lm whose certificate has expired, with a token: it enrols again' logged lm \
	'connected parent='

# --- versions
"$A" issue "$OMIG_STATE_DIR/mainsm" "$TMPDIR/future" good mainsm '' top
serve_future() {
	rm -f "$TMPDIR/port"
	"$A" serve "$TMPDIR/port" "$TMPDIR/future" 2 \
		'protocol 900..901 is spoken here (Omig 9.0), you speak 4..4: install one version on all hosts' \
		>"$TMPDIR/serve.out" 2>&1 &
	until_true 5 test -s "$TMPDIR/port"
}
serve_future
check 'a mainsm of another version' fails 3 \
	'protocol 900..901 .* you speak 4..4: install one version' \
	elsewhere once omig tree --mainsm "omig1:127.0.0.1:$(cat "$TMPDIR/port"):$pin"
"$A" issue "$OMIG_STATE_DIR/mainsm" "$TMPDIR/old" good lm default old
"$A" connect "127.0.0.1:$port" "$TMPDIR/old" hello=lm,default,old,900,901 read=60000 \
	>"$TMPDIR/old.out"
check 'an lm of another version gets the reason' grep -q \
	'error 2 protocol [0-9]*..[0-9]* .* you speak 900..901: install one version' \
	"$TMPDIR/old.out"
check 'and mainsm names that lm' logged mainsm 'lm of site default on old .*you speak 900..901'
check 'omig doctor finds nothing' omig doctor

# --- impossible events. --follow begins when the request is enabled, so any duration reports the
# mistake.
follow() {
	fails "$1" "$2" omig request --follow 1ms "$3"
}
check 'an event of no process' comes_out 4 \
	'UNKNOWN_OBJECT c_[0-9]*: not enabled: p_9_aaaaaa: there is no such object' \
	request --follow 1ms 'thread_has_started_lib_call([p_9_aaaaaa],"MPI_Send"): print([1])'
check 'a partner that does not exist' \
	follow 4 'UNKNOWN_OBJECT p_9_aaaaaa: there is no such partner' \
	'patop_lib_call_started([],"MPI_Send",[p_9_aaaaaa]): print([1])'
refused() {
	comes_out 2 "$1" request --follow 1ms "$2"
}
check 'a call that there is not' refused \
	"PARAMETER_ERROR 'MPI_Sned' is not a library call that can be watched; did you mean 'MPI_Send'" \
	'thread_has_started_lib_call([],"MPI_Sned"): print([1])'
check 'a signal that there is not' refused 'PARAMETER_ERROR there is no signal 99' \
	'thread_received_signal([],[99]): print([1])'
check 'a system call that there is not' refused "did you mean 'write'" \
	'thread_has_started_sys_call([],"wrote"): print([1])'
check 'regions of an event' refused 'by code regions' \
	'patop_lib_call_started([],"MPI_Send",[],["send"]): print([1])'
check 'a counter in no process' comes_out 4 'UNKNOWN_OBJECT p_9_aaaaaa: there is no such object' \
	request ':pa_counter_local_create([p_9_aaaaaa])'
check 'flags that are none' comes_out 2 'flags of node_get_info is a sum of bits, or -1' request \
	':node_get_info([],-2)'
check 'an event that has not happened' follow 0 \
	'omig request: no user_event_has_been_raised.* in 1ms$' \
	'user_event_has_been_raised([]): print([1])'

# --- starting
check 'a second mainsm' fails 75 'one runs for you already: pid [0-9]+, .* to end it: omig stop' \
	mainsm
check 'it has not touched the first' omig tree
check 'a mainsm of another state directory runs beside it' elsewhere two mainsm
check 'and is its own' elsewhere two omig stop
check 'a port that is taken' fails 1 "port $port .*choose another --port" elsewhere three mainsm \
	--port "$port"
check 'a port beyond' fails 2 '0..65535' mainsm --port 99999
mkdir -p "$XDG_CONFIG_HOME/omig"
echo 'colour = red' >"$XDG_CONFIG_HOME/omig/mainsm.conf"
check 'a key that does not exist' fails 78 "mainsm.conf:1: unknown key 'colour'" elsewhere three \
	mainsm
printf 'port = 1\nport = many\n' >"$XDG_CONFIG_HOME/omig/mainsm.conf"
check 'a value that makes no sense' fails 78 'mainsm.conf:2: ' elsewhere three mainsm
rm "$XDG_CONFIG_HOME/omig/mainsm.conf"
check 'a connection string in a file of the user' elsewhere four omig status -m \
	"@$OMIG_STATE_DIR/mainsm/mainsm.conn"
check 'what is run gets one for hosts alone' says "^${conn%:*}:lm-[0-9a-z]{8}[.][0-9a-z]{26}\$" \
	elsewhere four omig run -m "@$OMIG_STATE_DIR/mainsm/mainsm.conn" -- printenv OMIG_MAINSM
check 'in one that is not there' fails 2 'none.conn' omig status -m "@$TMPDIR/none.conn"
check 'a second lm' fails 75 'running already: pid [0-9]+' env OMIG_MAINSM="$conn" lm
check 'an lm that knows no mainsm' fails 2 'no mainsm is known' elsewhere nowhere lm
chmod 755 "$OMIG_STATE_DIR/mainsm/ca.key"
check 'the stop is asked for' omig stop
check 'and has ended then' is_dead "$(cat "$OMIG_STATE_DIR/mainsm/mainsm.lock")"
check 'a key that others may read' fails 78 'ca.key:1: .*chmod 600' mainsm
chmod 600 "$OMIG_STATE_DIR/mainsm/ca.key"
check 'mended, it starts as before' sh -c 'mainsm | grep -qxF "$1"' sh "$conn"
echo garbage >"$TMPDIR/two/mainsm/ca.crt"
check 'a CA that cannot be read' fails 1 'ca.crt' elsewhere two mainsm
tap_end
