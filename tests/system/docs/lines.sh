#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 400
# An ordinary user with an install in $HOME types every shell line of the documents. The set-up
# makes the folder for that: programs, event logs, results of runs, and examples/ of the install.
# The programs (./program and others) run until they are stopped. tests/docs/rules names the lines
# that end with another status than 0. It also names lines that cannot run here, and why. Most lines
# wait, so lanes run documents in parallel. Each lane has its own folder and monitor.
. tests/system/lib.sh
need make mpirun.openmpi setpriv pgrep

rules=tests/docs/rules
base=$(mktemp -d /tmp/omig-docs-XXXXXX) || exit 2
here=$base/here home=$base/home
lanes='1 2 3'
lane_is() { # NUMBER: the folder and the monitor of the following lines
	lane=$base/lane$1
	here=$lane/here
	TMPDIR=$lane/test
	# Processes with this state directory in their environment belong to this lane.
	OMIG_STATE_DIR=$lane/state
	OMIG_RUNTIME_DIR=$lane/run
}
as=
if [ "$(id -u)" = 0 ]; then
	user=$((60000 + $$ % 5000))
	as="setpriv --reuid $user --regid $user --clear-groups"
fi
typed() { # COMMAND...: as that user, in this environment and no other
	# shellcheck disable=SC2086 # words
	env -i HOME="$home" PATH="$home/.local/bin:/usr/bin:/bin:/usr/sbin:/sbin" LANG=C.UTF-8 \
		NO_COLOR=1 TMPDIR="$lane/tmp" \
		OMIG_STATE_DIR="$OMIG_STATE_DIR" OMIG_RUNTIME_DIR="$OMIG_RUNTIME_DIR" \
			XDG_CONFIG_HOME="$lane/config" \
			PKG_CONFIG_PATH="$home/.local/lib/pkgconfig" \
		OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 \
			OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMIG_TIMEOUT="$OMIG_TIMEOUT" $as "$@"
}
end_lanes() {
	# shellcheck disable=SC2086 # words
	[ -z "${typing:-}" ] || kill $typing 2>/dev/null
	for number in $lanes; do
		lane_is "$number"
		end_all
	done
	rm -rf "$base"
}
trap 'end_lanes' EXIT

# --- the set-up
transfers() { # SECONDS each takes
	awk -v takes="$1" 'BEGIN { for (i = 0; i < 500; i++) { t = 1700000000 + i * 0.01
		at = "level=Info block.id=" i " conn=" i % 4 " block=" i " HOST=node" i % 3
		printf "ts=%.6f event=block.transfer.start %s\nts=%.6f event=io.read.start %s\n", t,
			at, t + 0.001, at
		printf "ts=%.6f event=io.read.end %s nbytes=%d status=%d\n",
			t + 0.003 + i % 7 / 3000, at, 60000 + i * 100, i % 5
		printf "ts=%.6f event=block.transfer.end %s\n", t + takes, at } }'
}
set_up() {
	make install PREFIX="$home/.local" CC="${CC:-gcc}" >"$base/install.out" 2>&1 ||
		{ tail -n 5 "$base/install.out"; return 1; }
	doc=$home/.local/share/doc/omig
	mkdir -p "$here"
	cp -r "$doc/examples" "$here/examples"
	for p in program your_program solver; do
		printf '#!/bin/sh\nexec "%s" --seconds 900\n' "$B/examples/$1" >"$here/$p"
		chmod 755 "$here/$p"
	done
	printf '#!/bin/sh\nexec "%s" --clients 2 --mib 64\n' "$B/examples/fileserver" \
		>"$here/server"
	chmod 755 "$here/server"
	seq 1 4000 | awk '{ srand($1); print -log(1 - rand()) * 0.02 }' >"$here/latencies.txt"
	awk '{ print $1 "," 2 * $1 "," 3 * $1 }' "$here/latencies.txt" >"$here/run.csv"
	transfers 0.009 >"$here/run.bp"
	transfers 0.006 >"$here/before.bp"
	"$B/bin/omig" log convert --to olog -o "$here/run7.olog" "$here/run.bp"
	"$B/bin/omig" log convert --to ulm -o "$here/netlogger.ulm" "$here/run.bp"
	"$B/bin/omig" log load "$here/before.bp" --archive "$here/run6.db" >/dev/null
	awk 'BEGIN { for (i = 0; i < 2000; i++) printf "lan 1 2 %d.0 0.0%d\n", i,
		10 + i * 7 % 80 }' >"$here/nfds.delays"
	sed \
		's/^network.lan.delay.*/network.lan.delay = file:nfds.delays/; s/^stat.stop.*/simulation.until = 30m/' \
		examples/neko/nfds.conf >"$here/replayed.conf"
	"$B/bin/omig" neko run examples/neko/nfds.conf --real --deadline 3s -o "$here/real.json" \
		>/dev/null
	"$B/bin/omig" neko run examples/neko/nfds.conf --simulate -o "$here/sim.json" >/dev/null
	cp "$here/run7.olog" "$here/run.olog"
	cp -r "$doc/examples/neko/ring/." "$here"
	for number in $lanes; do
		mkdir "$base/lane$number" &&
			(cd "$base/lane$number" && mkdir tmp run config test && chmod 700 run) &&
			cp -r "$here" "$base/lane$number/here" || return 1
	done
	# shellcheck disable=SC2086
	[ -z "$as" ] || chown -R "$user:$user" "$base"
}
check 'an install in $HOME, and the programs and files that the documents speak of' set_up \
	heat2d.openmpi

# --- lines
rule_of() { # FILE LINE: how<TAB>argument of the first rule that fits
	while IFS='	' read -r file glob how; do
		case $file in '' | '#'*) continue ;; esac
		# shellcheck disable=SC2254 # patterns
		case $1 in $file) ;; *) continue ;; esac
		# shellcheck disable=SC2254
		case $2 in $glob) echo "$how" && return ;; esac
	done <"$rules"
	echo run
}
# A line's changes of the shell's environment apply to the lines directly below it.
in_shell='cd "$1" || exit 99; [ ! -e .env ] || . ./.env; eval "$2"; rc=$?; export -p | grep -v " \(PWD\|OLDPWD\|_\)=" >.env; exit $rc'
type_line() { # STATUS SECONDS LINE
	typed timeout -k 5 $(($2 * PATIENCE)) sh -c "$in_shell" - "$here" "$3" >"$lane/out" 2>&1 \
		</dev/null
	rc=$?
	head -c 2000 "$lane/out"
	[ $rc = "$1" ] || { echo "status $rc, not $1"; return 1; }
}
shows() { # SECONDS LINE: a line that does not end is stopped, and must have shown output by then
	typed sh -c "$in_shell" - "$here" "$2" >"$lane/out" 2>&1 </dev/null &
	shown=$!
	until_true "$1" has_shown
	has=$?
	end_tree $shown
	head -c 1000 "$lane/out"
	wait $shown
	return $has
}
end_tree() { # PID, from the leaves
	for child in $(pgrep -P "$1"); do end_tree "$child"; done
	kill "$1" 2>/dev/null
}
# True if there is output, and the line still runs or has ended with status 0.
has_shown() {
	[ -s "$lane/out" ] && ! grep -q '^omig: ' "$lane/out" && { kill -0 "$shown" 2>/dev/null ||
		wait "$shown"; }
}
stays() { # LINE: in the background, until the document is over
	typed sh -c "$in_shell" - "$here" "$1" >"$lane/stays.out" 2>&1 </dev/null &
	until_true 20 has_ranks || { cat "$lane/stays.out"; return 1; }
}
has_ranks() { typed omig tree --json | grep -q '"rank":3'; }
typed_token() { typed omig tree --json | grep -o '"token":"p_[^"]*"' |
	sed -n '1s/.*:"//; 1s/"//p'; }

one_line() { # FILE NUMBER LINE
	how=$(rule_of "$1" "$3")
	arg=${how#*=}
	line=$3
	case $line in *p_1_8fk3q0*) line=$(echo "$line" | sed "s/p_1_8fk3q0/$(typed_token)/") ;; \
		esac
	case $how in
	run) check "$1:$2: $3" type_line 0 30 "$line" ;;
	status=*) check "$1:$2: $3" type_line "$arg" 30 "$line" ;;
	shows) check "$1:$2: $3" shows 15 "$line" ;;
	shows=*) check "$1:$2: $3" shows 15 "$arg" ;;
	stays) check "$1:$2: $3" stays "$line" ;;
	as=*) check "$1:$2: $3" type_line 0 60 "$arg" ;;
	set-up) check "$1:$2: $3 (by the set-up)" test -x "$home/.local/bin/omig" ;;
	not=*) skip "$1:$2: $3" "$arg" ;;
	*) check "$1:$2: $3: no rule $how" false ;;
	esac
}
document() {
	[ "$1" = README.md ] || typed omig env >/dev/null # a mainsm of the user's runs
	awk -f tests/docs/lines.awk "$1" >"$lane/lines"
	last=0
	while IFS='	' read -r number line; do
		[ "$number" = $((last + 1)) ] || rm -f "$here/.env"
		last=$number
		one_line "$1" "$number" "$line"
	done <"$lane/lines"
	typed omig stop >/dev/null 2>&1
	PATIENCE=1 until_true 5 no_leftovers || for pid in $(leftovers); do kill -KILL "$pid" \
		2>/dev/null; done
	rm -f "$here/.env"
}

# --- documents: run with the longest ones first, reported in the order of their names
mkdir "$base/said"
for doc in ${OMIG_DOCS:-README.md docs/*.md docs/measured/*.md}; do
	echo "$(awk -f tests/docs/lines.awk "$doc" | wc -l) $doc"
done >"$base/documents"
said_of() { # DOCUMENT
	echo "$base/said/$(echo "$1" | tr / -)"
}
# mkdir is atomic: the lane that made the folder runs the document.
types() { # LANE
	lane_is "$1"
	sort -rn "$base/documents" | while read -r _ doc; do
		mkdir "$(said_of "$doc")" 2>/dev/null || continue
		document "$doc" >"$(said_of "$doc")/part"
		mv "$(said_of "$doc")/part" "$(said_of "$doc")/tap"
	done
}
for number in $lanes; do
	types "$number" &
	typing="${typing:-} $!"
done
# shellcheck disable=SC2086 # words
wait $typing
typing=
while read -r _ doc; do
	cat "$(said_of "$doc")/tap" || echo "not ok 0 - $doc: its lines were not typed to the end"
done <"$base/documents" | awk -v n="$tap_n" '
	sub(/^ok [0-9]+/, "ok " n + 1) { n++ }
	sub(/^not ok [0-9]+/, "not ok " n + 1) { n++ }
	{ print } END { print "1.." n }'
