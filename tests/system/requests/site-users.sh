#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One sm that an admin runs for two users: neither sees, counts, slows or stops processes of the
# other, and the admin has no access to their data.
# timeout: 150
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
f=$one_flavour
A=$T/attack
# The folder of a test is private; all three users must be able to enter this one.
U=$(mktemp -d /tmp/omig-users-XXXXXX) || exit 1
chmod 711 "$U"
may_change_user=
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null &&
	setpriv --reuid=61001 --regid=61001 --clear-groups test -r "$B/bin/sm"; then
	may_change_user=yes
fi

# as USER COMMAND...: runs it as one of the three, with its own state directory
as() {
	who=$1
	shift
	home=$U/$who
	case $who in alice) uid=61001 ;; bob) uid=61002 ;; *) uid=61003 ;; esac
	set -- env HOME="$home" OMIG_STATE_DIR="$home/state" OMIG_RUNTIME_DIR="$home/run" \
		XDG_CONFIG_HOME="$home/config" \
		OMPI_MCA_orte_tmpdir_base="$home" TMPDIR="$home" OMIG_SITE=a "$@"
	[ -z "$may_change_user" ] || set -- setpriv --reuid=$uid --regid=$uid --clear-groups "$@"
	"$@"
}
for who in alice bob admin; do
	mkdir -p "$U/$who/state" "$U/$who/run"
	chmod 700 "$U/$who" "$U/$who/state" "$U/$who/run"
	[ -z "$may_change_user" ] || case $who in
	alice) chown -R 61001:61001 "$U/$who" ;;
	bob) chown -R 61002:61002 "$U/$who" ;;
	*) chown -R 61003:61003 "$U/$who" ;;
	esac
done

# The processes of the test carry the state directory of one of them.
end_users() {
	for who in alice bob; do
		: >"$U/$who/go" 2>/dev/null
		as $who timeout $((10 * PATIENCE)) omig stop >/dev/null 2>&1
	done
	[ -z "$sm" ] || kill -KILL "$sm" 2>/dev/null
	# Daemons have their process id in a lock; others show their environment to their user.
	for lock in "$U"/*/state/*/lock "$U"/*/state/mainsm/mainsm.lock; do
		p=$(cat "$lock" 2>/dev/null)
		case $(cat "/proc/${p:-none}/comm" 2>/dev/null) in
		sm | mainsm) kill -KILL "$p" ;;
		esac
	done
	for who in alice bob admin; do
		# shellcheck disable=SC2013 # words
		for p in $(grep -lsz "^OMIG_STATE_DIR=$U/$who/state\$" /proc/[0-9]*/environ); do
			p=${p%/environ}
			kill -KILL "${p#/proc/}" 2>/dev/null
		done
	done
	wait 2>/dev/null
	rm -rf "$U"
}
sm=
trap 'end_users; end_all' EXIT

conf=$U/site.conf
printf 'site = a\nshared = yes\nuser-ports = 26100-26199\n[user others]\nhosts = 8\ncsrs = 64\n' \
	>"$conf"
chmod 644 "$conf"
site=$U/admin/state/site-a
# Finds the running sm; $! is a shell around it.
sm_pid() {
	p=$(cat "$site/lock" 2>/dev/null) && [ "$(cat "/proc/$p/comm" 2>/dev/null)" = sm ] &&
		echo "$p"
}
sm_is_there() {
	sm=$(sm_pid)
	[ -n "$sm" ]
}
sm_is_gone() {
	[ -z "$(sm_pid)" ]
}
start_sm() {
	as admin sm --config "$conf" --foreground --log-level info >>"$TMPDIR/sm.log" 2>&1 &
	until_true 20 test -s "$site/join.conn" && until_true 20 sm_is_there
}
users_are_up() { # N
	[ "$(as admin omig admin --json | grep -o '"state":"up"' | wc -l)" = "$1" ]
}
ranks_of() { # USER N
	[ "$(as "$1" omig tree --json | grep -o '"rank":[0-9]' | wc -l)" = "$2" ]
}
key_of() {
	cut -d: -f4 "$U/$1/state/mainsm/mainsm.conn" | cut -c1-8
}
start_job() { # USER
	home=$U/$1
	as "$1" timeout $((120 * PATIENCE)) omig run -- "mpirun.$f" -n 2 "$T/steady.$f" --hold \
		"$home/go" --beat "$home/beat" \
		>"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err" &
}
# fields of a user in the admin's list, as JSON
user_of() {
	as admin omig admin --json | grep -o "{\"pin\":\"$(key_of "$1")[^}]*}"
}
has_field() { # USER PATTERN
	user_of "$1" | grep -Eq "$2"
}

check 'a wrong list of users is refused' status_is 78 sh \
	-c "printf '[user x]\npin = nonsense\n' >'$TMPDIR/bad.conf'; sm --config '$TMPDIR/bad.conf' --check-config"
check 'the sm of the site starts' start_sm
[ -s "$site/join.conn" ] || {
	cat "$TMPDIR/sm.log"
	exit 1
}
cp "$site/join.conn" "$U/join.conn"
chmod 644 "$U/join.conn"
check 'what makes an admin is for that user alone' test "$(stat -c %a "$site/admin.conn")" = 600
for who in alice bob; do
	check "$who has a mainsm" as $who mainsm --launcher shared
	check "$who joins" says '^joined site a' as $who omig site join "$U/join.conn"
done
check 'the admin sees both' until_true 20 users_are_up 2
start_job alice
start_job bob
check 'the program of alice is watched, by her' until_true 40 ranks_of alice 2
check 'that of bob by bob' until_true 40 ranks_of bob 2
through_sm() {
	as "$1" omig request ':omig_status()' | grep -q '"sm"'
}
for who in alice bob; do check "$who: an sm is on the way" until_true 10 through_sm $who; done

# --- apart from each other
theirs=$(as bob omig tree --json | grep -o 'p_1_[0-9a-z]*' | head -n 1)
check 'an object of bob is not there for alice' says 'UNKNOWN_OBJECT' as alice omig request \
	":proc_get_info([$theirs],1)"
check 'nor can she stop it' says 'UNKNOWN_OBJECT' as alice omig request \
	":proc_send_signal([$theirs],19)"
check 'it continues' until_true 20 test -s "$U/bob/beat"
lm_cert() {
	dirname "$(find "$U/$1/run" "$U/$1/state" -path '*lm*' -name cert.pem | head -n 1)"
}
port_of() {
	user_of "$1" | grep -o '"port":[0-9]*' | cut -d: -f2
}
# hello_there HOST:PORT CERTDIR ROLE
hello_there() {
	timeout $((60 * PATIENCE)) "$A" connect "$1" "$2" "hello=$3" read=60000
}
check 'the lm of alice is listened to by her sm' says 'error 3 the certificate is for host' \
	hello_there "127.0.0.1:$(port_of alice)" "$(lm_cert alice)" lm
check 'by that of bob it is refused before its first message' says 'unknown ca' \
	hello_there "127.0.0.1:$(port_of bob)" "$(lm_cert alice)" lm
tool_cert() {
	dirname "$(find "$U/$1/state/tool" -path "*/$2-*" -name cert.pem | head -n 1)"
}
site_port=$(cut -d: -f3 "$U/join.conn")
check 'by the port of the site as well' says 'unknown ca' hello_there "127.0.0.1:$site_port" \
	"$(lm_cert alice)" lm
check 'a tool of the mainsm of alice is refused there' says 'unknown ca' \
	hello_there "127.0.0.1:$site_port" "$(tool_cert alice "$(key_of alice)")" tool
check 'a user that has joined is not an admin' status_is 5 as alice omig admin --site "$U/join.conn"
check 'and drops no user' status_is 5 as alice omig admin --site "$U/join.conn" drop "$(key_of bob)"

# --- what the admin sees
check 'the admin sees hosts and processes of both' until_true 20 has_field alice \
	'"hosts":1,"processes":[1-9]'
check 'of bob too' until_true 20 has_field bob '"hosts":1,"processes":[1-9]'
check 'and how much of the limits is used' says ' 1/[0-9]+ +[1-9]' as admin omig admin
check 'that no user is near one is said' says '^2 users, none near a limit$' as admin omig admin
near() {
	as admin omig admin limit "$(key_of alice)" hosts 1 &&
		says '^! .* has 1 of 1 hosts' as admin omig admin &&
		as admin omig admin limit "$(key_of alice)" hosts default
}
check 'and that one is' near
sees_no_data() {
	as admin omig admin --json >"$TMPDIR/list" && as admin omig admin >>"$TMPDIR/list" &&
		as admin omig admin status --json >>"$TMPDIR/list" &&
			! grep -E 'steady|p_1_|argv|MPI' "$TMPDIR/list"
}
check 'and no name of a program or process' sees_no_data
admins() {
	as admin omig request --no-attach --mainsm "$(cat "$site/admin.conn")" "$1"
}
check 'bob asks for none of it' says UNSUPPORTED admins ":proc_get_info([$theirs],1)"
check 'nor for the tree' says UNSUPPORTED admins ':omig_tree()'

# --- quotas
check 'a limit for alice' as admin omig admin limit "$(key_of alice)" bytes 1
check 'alice gets the reason' says 'quota bytes: the site allows this user' as alice omig request \
	':proc_get_info([],512)'
check 'bob is not concerned' says '^p_1_' as bob omig request ':proc_get_info([],512)'
check 'it is counted' has_field alice '"refused":[1-9]'
check 'her own status shows it' says 'refused = quota bytes' as alice omig status -v
check 'and taken back' as admin omig admin limit "$(key_of alice)" bytes default
check 'she works' says '^p_1_' as alice omig request ':proc_get_info([],512)'

# --- a flooding user is read later
check 'few messages for alice' as admin omig admin limit "$(key_of alice)" messages 100
flood() {
	set -- "$A" connect "127.0.0.1:$(cut -d: -f3 "$U/alice/state/mainsm/mainsm.conn")" \
		"$(tool_cert alice "$(key_of alice)")" \
		hello=tool 'request=:site_attach([]) node_attach([]) proc_attach([])'
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		for _ in 1 2 3 4 5 6 7 8 9 10; do set -- "$@" 'request=:proc_get_info([],1)'; done
	done
	timeout $((30 * PATIENCE)) "$@" read=5000
}
flood >"$TMPDIR/flood.out" 2>&1 &
flood=$!
check 'bob is answered meanwhile' says '^p_1_' as bob omig request ':proc_get_info([],512)'
check 'those of alice wait' until_true 20 has_field alice '"read_later_ns":[1-9]'
check 'and those of bob do not' has_field bob '"read_later_ns":0,'
wait $flood
check 'as many as she likes' as admin omig admin limit "$(key_of alice)" messages default

# --- the process dies
kill -KILL "$sm"
until_true 20 sm_is_gone
check 'the sm is killed and starts again' start_sm
check 'both are back' until_true 30 users_are_up 2
for who in alice bob; do
	answers() { as "$who" omig request ':proc_get_info([],512)' | grep -q '^p_1_'; }
	check "$who: the program answers" until_true 30 answers
done

# --- a reload, after which new users are served as those before
reloads() {
	[ "$(grep -c 'configuration reloaded' "$TMPDIR/sm.log")" = "$1" ]
}
kill -HUP "$sm"
check 'it reads its configuration again' until_true 20 reloads 1
check 'and no user is lost' users_are_up 2

# --- one user is dropped
before=$(cat "$U/bob/beat")
check 'alice is drained' as admin omig admin drain "$(key_of alice)"
check 'which shows' has_field alice '"draining":true'
check 'alice is dropped' as admin omig admin drop "$(key_of alice)"
check 'one is left' until_true 10 users_are_up 1
check 'of alice nothing is on the disk' test ! -e "$(echo "$site/users/$(key_of alice)"*)"
check 'bob does not notice' says '^p_1_' as bob omig request ':proc_get_info([],512)'
goes_on_at_bobs() { [ "$(cat "$U/bob/beat")" -gt $((before + 5)) ]; }
check 'the program of bob continues' until_true 20 goes_on_at_bobs
check 'the program of alice continues too' kill -0 "$(pgrep -n -f "$U/alice/beat")"
check 'alice joins again' says '^joined site a' as alice omig site join "$U/join.conn"
check 'and is back' until_true 30 users_are_up 2
audit_has() { # WORD...: one entry has them all
	as admin omig audit --json --site "$site/admin.conn" >"$TMPDIR/audit"
	cat "$TMPDIR/audit"
	for word; do
		grep -F -- "$word" "$TMPDIR/audit" >"$TMPDIR/fewer"
		mv "$TMPDIR/fewer" "$TMPDIR/audit"
	done
	[ -s "$TMPDIR/audit" ]
}
check 'the audit has the drop' audit_has '"daemon":"sm"' 'omig:tool-admin//' 'omig_site_drop(' \
	'"status":"OK"'
check 'and the user that was refused one' audit_has 'omig:tool-observe//' 'omig_site_drop(' \
	'"status":"NO_PERMISSION"'
check 'the log names what the admin did' grep -q 'admin: drop user=' "$TMPDIR/sm.log"
tap_end
