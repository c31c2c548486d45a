#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Event logs in SQL: omig log load into SQLite and PostgreSQL, when it is killed, without space, and
# into files that are not archives.
. tests/system/lib.sh

golden=tests/golden/eventlog
db=$TMPDIR/a.db

# --- loading a log twice stores it once
check 'a log is loaded' says '^14 events stored, 0 were there already' omig log load \
	$golden/little.olog --archive "$db"
check 'a second time nothing is' says '^0 events stored, 14 were there already' omig log load \
	$golden/big.olog --archive "$db"
check 'a batch that is safe is reported' says '^\{"batches":1,"stored":14,"known":0[,}]' \
	omig log load --json $golden/little.olog --archive "$TMPDIR/b.db"
omig log convert --to bp $golden/little.olog >"$TMPDIR/one.bp"
check 'a text is loaded' says '^14 events stored' omig log load "$TMPDIR/one.bp" --archive \
	"$TMPDIR/text.db"
grown() {
	cp "$TMPDIR/one.bp" "$TMPDIR/other.bp"
	echo 'ts=2026-01-01T00:00:00Z event=more level=Info' >>"$TMPDIR/other.bp"
	says '^1 events stored, 14 were there' omig log load "$TMPDIR/other.bp" --archive \
		"$TMPDIR/text.db"
}
check 'and when it has grown, what is new of it' grown
others() { # ARCHIVE: loads two more logs that begin with the same event, one of them shorter
	sed '3s/level=/more=1 level=/' "$TMPDIR/other.bp" >"$TMPDIR/second.bp"
	sed -n '1p; 4p' "$TMPDIR/other.bp" >"$TMPDIR/third.bp"
	omig log load "$TMPDIR/other.bp" --archive "$1"
	says '^17 events stored, 0 were there' omig log load "$TMPDIR/second.bp" \
		"$TMPDIR/third.bp" --archive "$1" &&
		says '^0 events stored, 32 were there' omig log load "$TMPDIR/third.bp" \
			"$TMPDIR/other.bp" "$TMPDIR/second.bp" --archive "$1"
}
check 'texts that begin with the same event are distinguished' others "$TMPDIR/text.db"
piped() {
	sed '2s/level=/more=2 level=/' "$TMPDIR/other.bp" |
		status_is 2 omig log load - --archive "$TMPDIR/text.db" &&
		[ "$(omig log query --json "$TMPDIR/text.db" streams | wc -l)" = 3 ]
}
check 'one that cannot be read twice is not mixed into another' piped

# --- an archive is read as a log: all kinds, names and constants. SQLite has no -0.
comes_back() {
	omig log convert --to xml $golden/little.olog | sed 's/>-0</>0</g' |
		sort >"$TMPDIR/went.xml"
	omig log convert --to xml "$1" | sed 's/>-0</>0</g' | sort | diff "$TMPDIR/went.xml" -
}
check 'all of a log comes back' comes_back "$db"
check 'and goes into another archive' says '^14 events stored, 0 were' omig log load "$db" \
	--archive "$TMPDIR/again.db"
check 'but not into itself' says 'not loaded into itself' omig log load "$db" --archive "$db"

# --- failures have messages
head -c 300 $golden/little.olog >"$TMPDIR/torn.olog"
check 'of a torn log the rest is loaded, with status 2' status_is 2 omig log load \
	"$TMPDIR/torn.olog" --archive "$TMPDIR/torn.db"
check 'a log that is not there is status 4' status_is 4 omig log load "$TMPDIR/none" --archive \
	"$TMPDIR/c.db"
check 'load without --archive is a mistake' status_is 2 omig log load $golden/little.olog
echo 'some text of a hundred bytes or so, which no database begins with, whatever program' \
	'has made it' >"$TMPDIR/text"
check 'a file that is not an archive is left alone' says 'text: is not an archive' omig log load \
	$golden/little.olog --archive "$TMPDIR/text"
check 'a missing folder is reported' says \
	'No such file or directory|cannot be opened' \
	omig log load $golden/little.olog --archive "$TMPDIR/nowhere/a.db"

# --- no space: a file system of 256 KB
awk \
	'BEGIN { for (i = 0; i < 20000; i++)
		printf "ts=%d.5 event=disk.write.%s level=Info block.id=%d n=%d host=node%d\n",
	1700000000 + i, i % 2 ? "end" : "start", i / 2, i * 7, i % 4 }' >"$TMPDIR/many.bp"
# shellcheck disable=SC2016 # for the shell inside
full='mount -t tmpfs -o size=256k none "$1" || exit 99; omig log load "$2" --archive "$1/a.db"'
mkdir "$TMPDIR/full"
if unshare -m sh -c 'mount -t tmpfs -o size=256k none "$1"' - "$TMPDIR/full" 2>/dev/null; then
	check 'a full disk is reported' says 'no space is left for the archive' unshare -m sh \
		-c "$full" - "$TMPDIR/full" "$TMPDIR/many.bp"
else
	skip 'a full disk is reported' 'needs root'
fi

# --- questions
q() { omig log query "$where" "$@"; }
json_is() {
	want=$1
	shift
	got=$(q --json "$@")
	[ "$got" = "$want" ] || { echo "$got"; return 1; }
}
# A statement that may read and one that may not, sentences, and queries of absent data.
questions() {
	omig log load "$TMPDIR/many.bp" --archive "$where" >/dev/null
	check "$1: types" says '^disk.write.end  *10000 .*2023-11-14T22:13:21.500000Z' q types
	check "$1: streams" says '^[0-9a-f]{16}  *20000  *0 ' q streams
	check "$1: no gaps" json_is '' gaps
	check "$1: count" json_is '{"event":"disk.write.end","events":10000}' count of \
		disk.write.end
	check "$1: count by a field" json_is '{"value":"node1","events":5000}
{"value":"node3","events":5000}' count of 'disk.write.e*' by host
	check "$1: where" json_is \
		'{"ts_ns":1700019999500000000,"event":"disk.write.end","block.id":9999,"n":139993,"host":"node3"}' \
		'disk.write.end where n > 139900.5 and host == node3 and block.id != 9997 and block.id >= 9996'
	check "$1: slowest lifelines" says '^0  *2023-11-14T22:13:20.500000Z  *1.000000 s  *2' q \
		slowest 2 lifelines of disk.write
	check "$1: slowest by a key" json_is \
		'{"key":"node1","begin_ns":1700000001500000000,"duration_ns":19996000000000,"events":5000}' \
		slowest 1 lifelines of disk.write.end by host
	check "$1: no such event is status 4" status_is 4 q count of nothing
	check "$1: no such field is status 4" status_is 4 q disk.write.end where nbytes '>' 5
	check "$1: no sentence is status 2" status_is 2 q slow
	check "$1: SQL" json_is '{"event":"disk.write.start","n":10000}' \
		--sql "SELECT event, count(*) AS n FROM event WHERE startend = 0 GROUP BY event"
	check "$1: the classic shape" json_is '{"name":"host","value":"node1"}' \
		--sql \
		"SELECT v.name, v.value FROM value AS v JOIN ident AS i ON i.event_id = v.event_id WHERE i.value = '0' AND v.value = 'node1'"
	for sql in 'DELETE FROM type' 'SELECT 1; SELECT 2' 'DROP TABLE type' \
		"COPY type TO '/tmp/omig-should-not-be'" \
		"ATTACH '/tmp/omig-should-not-be' AS x" 'CREATE TABLE x (y INTEGER)'; do
		unchanged() { ! q --sql "$sql" && json_is '{"n":2}' --sql \
			'SELECT count(*) AS n FROM type' && ! [ -e /tmp/omig-should-not-be ]; }
		check "$1: not allowed: $sql" unchanged
	done
	check "$1: a query has its time" status_is 124 q --timeout 1s --sql \
		'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r'
}
where=$TMPDIR/many.db
questions SQLite
printf 'ts=%s event=%s level=Info id=%s %s=%s\n' 1.0 x.a 1 n 7 2.0 x.b 2 nbytes 9 \
	>"$TMPDIR/heads.bp"
heads() { # one name is a prefix of the other
	omig log load "$TMPDIR/heads.bp" --archive "$TMPDIR/heads.db" >/dev/null &&
		omig log query "$TMPDIR/heads.db" 'x.*' where id '>' 0 >"$TMPDIR/heads" &&
		grep -q ' id  n$' "$TMPDIR/heads" && grep -q ' id  nbytes$' "$TMPDIR/heads"
}
check 'other fields have a table of their own' heads

# --- two runs beside each other, of which one is slower
run_of() {
	awk -v slow="$1" -v seed="$2" 'BEGIN { srand(seed); t = 1700000000;
		for (i = 0; i < 1000; i++) {
		t -= log(1 - rand()) * 0.01; d = 0.002 * (1 - log(1 - rand())) * slow
		printf "ts=%.6f event=disk.write.start level=Info block.id=%d\n", t, i
		printf "ts=%.6f event=disk.write.end level=Info block.id=%d\n", t + d, i } }' |
			omig log load - --archive "$3" >/dev/null
}
run_of 1 1 "$TMPDIR/base.db" && run_of 1 2 "$TMPDIR/same.db" && run_of 1.5 3 "$TMPDIR/slow.db"
check 'two runs of one kind do not surely differ' status_is 0 omig log compare "$TMPDIR/same.db" \
	"$TMPDIR/base.db"
check 'one that is slower does, with status 7' status_is 7 omig log compare "$TMPDIR/slow.db" \
	"$TMPDIR/base.db"
check 'and the event is named' says \
	'^slower  *disk.write  *duration  *1000  *1000 .* ms .* ms  *\+[3-7][0-9]' \
	omig log compare "$TMPDIR/slow.db" "$TMPDIR/base.db"
check 'also as JSON' says \
	'"event":"disk.write","what":"duration","verdict":"slower","n":1000,"n_base":1000,' \
	omig log compare --json "$TMPDIR/slow.db" "$TMPDIR/base.db"
check 'of a change that is ignored the status is 0' status_is 0 omig log compare --least 200 \
	"$TMPDIR/slow.db" "$TMPDIR/base.db"

# --- killed loaders: reported rows exist, and none exists twice. OMIG_ARCHIVE_KILLS=200 is the long
# run.
head -n 8000 "$TMPDIR/many.bp" >"$TMPDIR/kill.bp"
kills=${OMIG_ARCHIVE_KILLS:-15}
seed=${OMIG_TEST_SEED:-$$}
rows() { omig log query --json "$where" --sql 'SELECT sum(n) AS n FROM type' 2>/dev/null |
	sed -n 's/.*"n":\([0-9]*\).*/\1/p'; }
ms() { date +%s%3N; }
next_log() {
	logs=$((logs + 1))
	omig log convert --to olog -o "$TMPDIR/kill.$1.$logs.olog" "$TMPDIR/kill.bp"
}
# Runs a loader for at most that many milliseconds. Returns its status.
run_for() {
	# a shell that is killed before it redirects would keep the report of the previous run
	: >"$TMPDIR/told"
	omig log load --json --batch 800 "$TMPDIR/kill.$2.$logs.olog" --archive "$where" \
		>"$TMPDIR/told" 2>"$TMPDIR/load.err" &
	sleep "$(awk -v n="$1" 'BEGIN { printf "%.3f", n / 1000 }')"
	kill -KILL $! 2>/dev/null
	wait $! 2>/dev/null
}
killed() {
	logs=0 done_kills=0 runs=0 told=0
	next_log "$1"
	began=$(ms)
	omig log load --batch 800 "$TMPDIR/kill.$1.1.olog" --archive "$TMPDIR/pace.$1.db" \
		>/dev/null || return 1
	whole=$(($(ms) - began + 20))
	while [ $done_kills -lt "$kills" ] && [ $runs -lt $((4 * kills + 40)) ]; do
		runs=$((runs + 1))
		run_for "$(awk -v s=$((seed + runs)) -v w=$whole 'BEGIN { srand(s);
			printf "%d", rand() * w }')" "$1"
		status=$?
		told=$((told + $(sed -n 's/^{"batches":[0-9]*,"stored":\([0-9]*\),.*}$/\1/p' \
			"$TMPDIR/told" | tail -n 1 | grep . || echo 0)))
		has=$(rows)
		[ "${has:-0}" -ge $told ] || { echo \
			"seed $seed run $runs: $told events were told, ${has:-none} are there"; \
			return 1; }
		told=${has:-0} # more rows may be safe than were reported
		case $status in
		137) done_kills=$((done_kills + 1)) ;;
		0) next_log "$1" ;;
		*) cat "$TMPDIR/load.err" && return 1 ;;
		esac
	done
	for log in "$TMPDIR/kill.$1."*.olog; do
		omig log load "$log" --archive "$where" >/dev/null || return 1
	done
	whole_is "$logs"
	is_whole=$?
	echo "# $1: $done_kills kills in $runs runs, $logs logs, $has events, seed $seed" >&3
	return $is_whole
}
whole_is() {
	n=$((8000 * $1))
	json_is "{\"rows\":$n,\"ids\":$n,\"sum\":$((223972000 * $1)),\"said\":$n}" \
		--sql \
		'SELECT count(*) AS rows, count(DISTINCT id) AS ids,
		CAST(sum(f_n) AS BIGINT) AS sum, (SELECT CAST(sum(n) AS BIGINT) FROM type) AS said
		FROM (SELECT id, f_n FROM e_disk_write_start
			UNION ALL SELECT id, f_n FROM e_disk_write_end) AS x'
}
# --- names and values that contain SQL
sed -e ':a' -e '/\\$/N' -e 's/\\\n//' -e ta >"$TMPDIR/hostile.bp" <<'END'
ts=1700000000.0 event="x'); DROP TABLE type;--" level=Info \
select="'; DROP TABLE type; --" a"b=1 SELECT=2 Select=3
ts=1700000001.0 event=select level=Info e_x="\xc0'" from="\x00" table=$1
ts=1700000002.0 event=SELECT level=Info id="%s%n" $1="$1"
END
hostile_names() {
	omig log load "$TMPDIR/hostile.bp" --archive "$where" >"$TMPDIR/hostile.out" 2>&1
	cat "$TMPDIR/hostile.out"
	n=$(sed -n 's/^\([0-9]*\) events stored.*/\1/p' "$TMPDIR/hostile.out")
	json_is "{\"types\":$n,\"safe\":$n}" --sql \
		"SELECT count(*) AS types, count(CASE WHEN tab LIKE 'e%' THEN 1 END) AS safe FROM type" &&
		[ "$n" = 3 ] && json_is "{\"rows\":$n}" --sql 'SELECT count(*) AS rows FROM row_all'
}
where=$TMPDIR/hostile.db
check 'SQLite: names reach no SQL' hostile_names
where=$TMPDIR/kill.db
exec 3>&1
check "SQLite: a loader that is killed, $kills times" killed SQLite

# --- PostgreSQL: its library is loaded when it is needed
mkdir "$TMPDIR/damaged"
: >"$TMPDIR/damaged/libpq.so.5"
check 'PostgreSQL: a library that cannot be loaded: its package is reported' \
	says 'PostgreSQL needs libpq.so.5 .Debian: libpq5' env LD_LIBRARY_PATH="$TMPDIR/damaged" \
	omig log query postgresql:///?host=/nowhere types
check 'PostgreSQL: no program is linked with it' sh -c '! readelf -d "$1"/bin/* | grep libpq' - "$B"

# --- PostgreSQL: a server of our own
pg=tests/testbed/postgres
pg_dir=
trap '[ -z "$pg_dir" ] || $pg stop "$pg_dir"; end_all' EXIT
why_no_pg() {
	omig log query postgresql:///?host=/nowhere types 2>&1 |
		grep -q 'PostgreSQL needs libpq' && echo 'no libpq' && return
	$pg why
}
why=$(why_no_pg)
if [ -n "$why" ]; then
	skip 'PostgreSQL' "$why"
else
	pg_dir=$($pg start 1000 2>"$TMPDIR/pg.err")
	# shellcheck disable=SC2016 # for the shell inside
	check 'PostgreSQL: a server' sh -c 'cat "$1" && [ -n "$2" ]' - "$TMPDIR/pg.err" "$pg_dir"
	where="postgresql:///postgres?host=$pg_dir&user=omig"
	check 'PostgreSQL: a log is loaded' says '^14 events stored, 0 were' omig log load \
		$golden/little.olog --archive "$where"
	check 'PostgreSQL: a second time nothing is' says '^0 events stored, 14 were' omig log \
		load $golden/big.olog --archive "$where"
	check 'PostgreSQL: all of it comes back' comes_back "$where"
	own_max() {
		$pg sql "$pg_dir" postgres \
			"CREATE FUNCTION omig_archive.max(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 777::bigint'" &&
			omig log load "$TMPDIR/one.bp" --archive "$where" &&
				json_is '{"n":2}' --sql 'SELECT max(sid) AS n FROM stream'
	}
	check "PostgreSQL: no function of the schema's owner replaces one of the server" \
		own_max
	check 'PostgreSQL: texts that begin with the same event stay apart' others "$where"
	where="postgresql:///template1?host=$pg_dir&user=omig"
	questions PostgreSQL
	check 'PostgreSQL: a missing database is reported' says 'does not exist' \
		omig log load $golden/little.olog --archive \
			"postgresql:///nothing?host=$pg_dir&user=omig"
	$pg create "$pg_dir" kills
	where="postgresql:///kills?host=$pg_dir&user=omig"
	check "PostgreSQL: a loader that is killed, $kills times" killed PostgreSQL
	full() { # reported rows exist
		where="postgresql:///little?host=$pg_dir&user=omig"
		$pg create "$pg_dir" little && $pg sql "$pg_dir" little \
			'ALTER DATABASE little SET default_tablespace = small' || return 1
		omig log load --json --batch 500 "$TMPDIR/many.bp" --archive "$where" \
			>"$TMPDIR/told" 2>"$TMPDIR/load.err" && return 1
		told=$(sed -n 's/.*"stored":\([0-9]*\),.*/\1/p' "$TMPDIR/told" | tail -n 1)
		echo "reported $told, there are $(rows)" && cat "$TMPDIR/load.err"
		grep -q 'no space is left for the archive; events loaded before remain' \
			"$TMPDIR/load.err" && [ "$told" -gt 0 ] && [ "$(rows)" = "$told" ]
	}
	if [ -d "$pg_dir/small" ]; then
		check 'PostgreSQL: a full disk is reported, and nothing is lost' full
	else
		skip 'PostgreSQL: a full disk is reported, and nothing is lost' 'needs root'
	fi
	hostile() { $pg create "$pg_dir" hostile &&
		where="postgresql:///hostile?host=$pg_dir&user=omig" && hostile_names; }
	check 'PostgreSQL: names reach no SQL' hostile
fi
tap_end
