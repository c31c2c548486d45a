#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# For the site's admin: wrong configurations are refused with file and line, and values name their
# source. A reload changes values and certificates while the links stay. Logs have the form of their
# reader, and omig status names problems.
# timeout: 90
. tests/system/lib.sh
. tests/system/faults.sh
A=$T/attack

# --- errors of a configuration, the same for each daemon
conf=$TMPDIR/site/x.conf
mkdir -m 755 "$TMPDIR/site"
# refused DAEMON PATTERN: by a check, and by a start
refused() {
	fails 78 "$2" "$1" --config "$conf" --check-config &&
		fails 78 "$2" "$1" --config "$conf" --foreground
}
# Formatted: \& keeps a full stop from being a request.
in_manual() {
	sed 's/\\&//g; s/\\//g' "$B/man/omig.conf.5" >"$TMPDIR/manual"
	grep -v '^$' "$TMPDIR/example" | grep -vxFf "$TMPDIR/manual" >"$TMPDIR/missing"
	cat "$TMPDIR/missing"
	[ ! -s "$TMPDIR/missing" ]
}
options_in_manual() { # DAEMON: the page has each option of --help, with the whole text
	sed 's/\\f.//g; s/\\&//g; s/\\//g' "$B/man/$1.8" >"$TMPDIR/manual"
	"$1" --help | sed -n 's/^  *\(-., \)\{0,1\}\(--[^ ]*\).*/\2/p' >"$TMPDIR/options"
	while IFS= read -r option; do grep -qF -- "$option" "$TMPDIR/manual" ||
		echo "$option"; done <"$TMPDIR/options" >"$TMPDIR/missing"
	cat "$TMPDIR/missing"
	[ -s "$TMPDIR/options" ] && [ ! -s "$TMPDIR/missing" ]
}
put_conf() {
	printf '%b' "$1" >"$conf"
	chmod 644 "$conf"
}
for d in mainsm sm lm; do
	put_conf 'linger = 5m\n'
	check "$d: a good file" says 'the configuration is good' "$d" --config "$conf" \
		--check-config
	check "$d: it says where a value is from" says "^linger = 5m	$conf:1\$" "$d" --config \
		"$conf" --print-config
	check "$d: an option is stronger" says '^linger = 7m	option --linger$' "$d" --config \
		"$conf" --linger 7m --print-config
	check "$d: the environment too" says '^log-level = info	environment OMIG_LOG_LEVEL$' \
		env OMIG_LOG_LEVEL=info "$d" --config "$conf" --print-config
	put_conf '\nlinger = 1s\ncolour = red\n'
	check "$d: an unknown key" refused "$d" "x.conf:3: unknown key 'colour'; --example-config"
	put_conf 'linger = 1s\nlinger = 2s\n'
	check "$d: a key that stands twice" refused "$d" 'x.conf:2: .*set twice .*keep one'
	put_conf 'linger = 1s\nlog-level = \0000\n'
	check "$d: a 0 byte" refused "$d" 'x.conf:2: a 0 byte'
	put_conf 'linger = 1s\n'
	head -c 1000000 /dev/zero | tr '\0' a >>"$conf"
	check "$d: a line of a megabyte" refused "$d" 'x.conf:2: the line is longer'
	put_conf 'linger = 1s\n'
	chmod 666 "$conf"
	check "$d: a file that others may write" refused "$d" 'x.conf:1: .*0666.*chmod go-w'
	chmod 644 "$conf"
	chmod 777 "$TMPDIR/site"
	check "$d: a folder that others may write" refused "$d" 'x.conf:1: .*0777.*chmod go-w'
	chmod 755 "$TMPDIR/site"
	if [ $d != lm ]; then
		put_conf 'listen = 198.51.100.77\n'
		check "$d: an address of another host" refused $d \
			'listen: 198.51.100.77 is not an address of this host'
		put_conf "listen = $(printf 'x%.0s' $(seq 80))\n"
		check "$d: a name that has no address" refused $d \
			'listen: x*x is not an address of this host: '
		put_conf "listen = $(uname -n)\n"
		check "$d: the name of this host" says 'the configuration is good' $d --config \
			"$conf" --check-config
	fi
	"$d" --example-config >"$TMPDIR/example"
	sed -n 's/^#\([a-z[]\)/\1/p' "$TMPDIR/example" >"$conf"
	check "$d: the example holds the defaults" says 'is good' "$d" --config "$conf" \
		--check-config
	check "$d: the manual has each line of the example" in_manual
	check "$d: the manual has each option" options_in_manual $d
done
check 'no daemon has begun to serve' test -z \
	"$(find "$OMIG_STATE_DIR" "$OMIG_RUNTIME_DIR" -name '*lock')"

# --- a running monitor: mainsm, sm, lm
mkdir -p "$XDG_CONFIG_HOME/omig"
mainsm >"$TMPDIR/conn"
OMIG_MAINSM=$(cat "$TMPDIR/conn") lm --linger=0
check 'one host' until_true 20 nodes_are 1
check 'an sm' until_true 10 daemon_pid sm

# The links of a daemon: its sockets to others, by inode
links() {
	find "/proc/$(daemon_pid "$1")/fd" -lname 'socket:*' -printf '%l\n' | sort
}
figure() { # DAEMON NAME
	omig status --json | tr '{' '\n' | sed -n "/\"daemon\":\"$1\"/,\$p" |
		grep -o "\"$2\":-\{0,1\}[0-9]*" | head -n 1 | cut -d: -f2
}
same_links() {
	[ "$(links lm)" = "$lm_links" ] && [ "$(links sm)" = "$sm_links" ] &&
		[ "$(figure lm parent_connects) $(figure sm parent_connects) $(figure mainsm \
		branches)" = "$counts" ]
}
# Makes a daemon reload, and waits for its log line: PATTERN
reload() {
	said=$(log_of "$1" | grep -Ec "$2")
	kill -HUP "$(daemon_pid "$1")" && until_true 10 has_said_again "$1" "$2" "$said"
}
has_said_again() {
	[ "$(log_of "$1" | grep -Ec "$2")" -gt "$3" ]
}
counts='1 1 1'
# The enrolment connection of a daemon may still be open for a moment.
links_are_up() {
	lm_links=$(links lm)
	sm_links=$(links sm)
	same_links
}
check 'each link came up once' until_true 10 links_are_up
for d in mainsm sm lm; do
	echo 'log-format = json' >"$XDG_CONFIG_HOME/omig/$d.conf"
	check "$d: reloads" reload "$d" 'configuration reloaded'
	check "$d: and writes the new form" logged "$d" \
		'^\{"time":"[^"]*","level":"notice","program":"[a-z]*","area":"daemon","text":"configuration reloaded"\}$'
	echo 'log-format = jason' >"$XDG_CONFIG_HOME/omig/$d.conf"
	check "$d: refuses a wrong file, in one line" reload "$d" \
		"reload refused, the old configuration stays: .*$d.conf:1: "
	check "$d: and keeps the form" sh -c 'tail -n 1 "$1" | grep -q "^{"' sh \
		"$(find "$OMIG_STATE_DIR" -maxdepth 1 -name "$d-*.log")"
	echo 'port = 1' >"$XDG_CONFIG_HOME/omig/$d.conf"
	[ "$d" = lm ] || check "$d: says what needs a restart" reload "$d" \
		'port changed in the configuration: it needs a restart'
	rm "$XDG_CONFIG_HOME/omig/$d.conf"
done
check 'the links are the same' until_true 10 same_links

# --- certificates: a new one, one that expires soon, an invalid file
own=$OMIG_RUNTIME_DIR/lm-$(uname -n)-$(caid)
issue() { # FROM TO
	"$A" issue "$OMIG_STATE_DIR/mainsm" "$own" good lm default "$(uname -n)" "$1" "$2"
}
# Ignores messages about a busy machine.
check 'all is well' sh -c '! omig status | grep WARN | grep -v "late in the last minute"'
issue -60 86400
old=$(figure lm certificate_expires_ns)
check 'lm: takes a new certificate' reload lm 'configuration reloaded'
check 'lm: and shows it' test "$(figure lm certificate_expires_ns)" != "$old"
check 'omig status warns of its end' says 'WARN lm of .*: the certificate ends in 23h' omig status
check 'for programs too' says '"warnings":\["the certificate ends in 23h' omig status --json
check 'omig doctor as well' says 'note +daemon +lm n_1: the certificate ends in 23h' omig doctor
old=$(figure lm certificate_expires_ns)
echo garbage >"$own/cert.pem"
check 'lm: refuses what is not a certificate' \
	reload lm 'reload refused, the old configuration stays: '
issue -7200 -60
check 'lm: and one that has expired' reload lm 'reload refused, .*expired'
issue -60 864000
chmod 644 "$own/key.pem"
check 'lm: and a key that others may read' reload lm \
	'reload refused, .*key.pem:1: mode 0644 .*chmod 600'
check 'lm: and keeps the old one' test "$(figure lm certificate_expires_ns)" = "$old"
chmod 600 "$own/key.pem"
sm_own=$OMIG_STATE_DIR/sm-default
"$A" issue "$OMIG_STATE_DIR/mainsm" "$sm_own" good sm default "$(uname -n)" -60 43200
check 'sm: takes a new certificate' reload sm 'configuration reloaded'
check 'sm: and shows it' says 'WARN sm of .*: the certificate ends in 11h' omig status
"$A" issue "$OMIG_STATE_DIR/mainsm" "$OMIG_STATE_DIR/mainsm/own" good mainsm '' "$(uname -n)" -60 \
	21600
check 'mainsm: takes a new certificate' reload mainsm 'configuration reloaded'
check 'mainsm: and shows it' says 'the certificate ends in 5h' omig status
check 'the links are the same still' until_true 10 same_links
check 'and the new certificates are good' sh -c \
	'OMIG_STATE_DIR=$TMPDIR/other omig tree --mainsm "$(cat "$TMPDIR/conn")"'

# --- a log for the journal, as systemd asks for it
(
	: >"$TMPDIR/journal"
	JOURNAL_STREAM=$(stat -L -c %d:%i "$TMPDIR/journal")
	export JOURNAL_STREAM
	OMIG_STATE_DIR=$TMPDIR/second timeout $((30 * PATIENCE)) mainsm --foreground \
		>"$TMPDIR/second.conn" 2>>"$TMPDIR/journal" &
	echo $! >"$TMPDIR/second.pid"
)
check 'a line for the journal begins with its level' until_true 10 grep -q '^<5>daemon: ready' \
	"$TMPDIR/journal"
kill "$(cat "$TMPDIR/second.pid")"
tap_end
