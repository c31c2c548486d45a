#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Event logs in SQL: omig log load, into SQLite and PostgreSQL, killed, without space, into what is no archive.
. tests/system/lib.sh

golden=tests/golden/eventlog
db=$TMPDIR/a.db

# --- twice is once
check 'a log is loaded' says '^14 events stored, 0 were there already' omig log load $golden/little.olog --archive "$db"
check 'a second time nothing is' says '^0 events stored, 14 were there already' omig log load $golden/big.olog --archive "$db"
check 'a batch that is safe is told' says '^\{"batches":1,"stored":14,"known":0[,}]' \
	omig log load --json $golden/little.olog --archive "$TMPDIR/b.db"
omig log convert --to bp $golden/little.olog >"$TMPDIR/one.bp"
check 'a text is loaded' says '^14 events stored' omig log load "$TMPDIR/one.bp" --archive "$TMPDIR/text.db"
grown() {
	cp "$TMPDIR/one.bp" "$TMPDIR/other.bp"
	echo 'ts=2026-01-01T00:00:00Z event=more level=Info' >>"$TMPDIR/other.bp"
	says '^1 events stored, 14 were there' omig log load "$TMPDIR/other.bp" --archive "$TMPDIR/text.db"
}
check 'and when it has grown, what is new of it' grown

# --- what goes wrong has words
head -c 300 $golden/little.olog >"$TMPDIR/torn.olog"
check 'of a torn log the rest is loaded, with status 2' status_is 2 omig log load "$TMPDIR/torn.olog" --archive "$TMPDIR/torn.db"
check 'a log that is not there is status 4' status_is 4 omig log load "$TMPDIR/none" --archive "$TMPDIR/c.db"
check 'load without --archive is a mistake' status_is 2 omig log load $golden/little.olog
echo 'some text of a hundred bytes or so, which no database begins with, whatever it is that has made it' >"$TMPDIR/text"
check 'a file that is no archive is left alone' says 'text: is no archive' omig log load $golden/little.olog --archive "$TMPDIR/text"
check 'a folder that is not there is said to be that' says 'No such file or directory|cannot be opened' \
	omig log load $golden/little.olog --archive "$TMPDIR/nowhere/a.db"

# --- no space: a file system of 256 KB
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "ts=%d.5 event=disk.write.%s level=Info block.id=%d n=%d host=node%d\n",
	1700000000 + i, i % 2 ? "end" : "start", i / 2, i * 7, i % 4 }' >"$TMPDIR/many.bp"
# shellcheck disable=SC2016 # for the shell inside
full='mount -t tmpfs -o size=256k none "$1" || exit 99; omig log load "$2" --archive "$1/a.db"'
mkdir "$TMPDIR/full"
if unshare -m sh -c 'mount -t tmpfs -o size=256k none "$1"' - "$TMPDIR/full" 2>/dev/null; then
	check 'no space is said to be that' says 'no space is left for the archive' unshare -m sh -c "$full" - "$TMPDIR/full" "$TMPDIR/many.bp"
else
	skip 'no space is said to be that' 'needs root'
fi
tap_end
