#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lifelines of event logs: the table, the page in a real browser, the picture for papers.
. tests/system/lib.sh
export LC_ALL=C.UTF-8

# 200 blocks through four stages of 1, 30 and 2 ms; block 77 takes 300 ms, block 5 lacks a stage.
# One event has a hostile name.
awk 'BEGIN {
	t = 1795341600
	for (i = 0; i < 200; i++) {
		at = t + i * 0.01
		printf "ts=%.6f event=asked block.id=%d nbytes=%d\n", at, i, i * 1000
		printf "ts=%.6f event=disk.read.start block.id=%d\n", at + 0.001, i
		end = at + 0.001 + (i == 77 ? 0.3 : 0.03)
		if (i != 5) printf "ts=%.6f event=disk.read.end block.id=%d\n", end, i
		printf "ts=%.6f event=sent block.id=%d\n", end + 0.002, i
		printf "ts=%.6f event=host.load cpu=%d\n", at, i % 100
	}
	printf "ts=%.6f event=tcp.retransmit level=Warn n=1\n", t + 1
	evil = "</script><script>document.title=\\\"owned\\\"</script>"
	evil = evil "<img src=x onerror=\\\"document.title=1\\\">"
	printf "ts=%.6f event=asked block.id=\"%s\"\n", t + 2, evil
	printf "ts=%.6f event=sent block.id=\"%s\"\n", t + 2.05, evil
}' >"$TMPDIR/run.bp"
omig log convert --to olog -o "$TMPDIR/run.olog" "$TMPDIR/run.bp"

lines() { omig log lifelines --key block.id "$@"; }
check 'the slowest step is reported' says \
	'^Slowest: disk.read, 90\.[0-9] % of the time of all lines: median 30.0 ms, p95 30.0 ms, n = 199' \
	lines "$TMPDIR/run.olog"
check 'each step has its figures' says \
	'^disk.read.end → sent +[0-9.]+ % +2.00 ms +2.00 ms +2.00 ms +199$' lines "$TMPDIR/run.bp"
check 'a log comes through a pipe' says '^Slowest: disk.read' sh -c \
	"omig log lifelines <$TMPDIR/run.olog"
omig log load "$TMPDIR/run.olog" --archive "$TMPDIR/run.db" >/dev/null
# Events outside of the time are counted in a log, and not even read in an archive.
seconds() { lines --stages asked,sent --from 2026-11-22T10:00:00.5Z --to 2026-11-22T10:00:01Z "$1" |
	sed '2s/^[0-9,]* events, //; 2s/;.*//'; }
from_archive() {
	seconds "$TMPDIR/run.olog" >"$TMPDIR/log.txt" && grep -q '^Slowest' "$TMPDIR/log.txt" &&
		seconds "$TMPDIR/run.db" | diff "$TMPDIR/log.txt" -
}
check 'a log comes out of an archive' says '^Slowest: disk.read, 90\.[0-9] %' lines "$TMPDIR/run.db"
check 'a part of it is the same' from_archive
check 'a stage that it has not is status 4' status_is 4 lines --stages asked,nothing \
	"$TMPDIR/run.db"
check 'stages in an order of mine' says 'asked → sent +100.0 %' lines --stages asked,sent \
	"$TMPDIR/run.olog"
check 'some of the lines' says ' 9 lifelines by block.id' lines --where 'nbytes > 190000' \
	"$TMPDIR/run.olog"
check 'a part of the time' says ' 11 lifelines by block.id .* over [0-9.]+ ms' lines --from 500ms \
	--to 600ms --stages asked "$TMPDIR/run.olog"
check 'and from a time of the day' says '^[0-9,]+ events, 1 lifelines by' lines --from \
	2026-11-22T10:00:02Z --stages asked "$TMPDIR/run.olog"
check 'a condition that is none' status_is 2 lines --where 'nbytes' "$TMPDIR/run.olog"
check 'a time that is none' status_is 2 lines --from yesterday "$TMPDIR/run.olog"
check 'no file is status 4' status_is 4 lines "$TMPDIR/none"
nothing_half() {
	! lines -o "$TMPDIR/gone.html" "$TMPDIR/none" && test ! -e "$TMPDIR/gone.html" &&
		test -z "$(find "$TMPDIR" -name '*.part-*')"
}
check 'a page is whole or not there' nothing_half
head -c 5000 "$TMPDIR/run.olog" >"$TMPDIR/torn.olog"
check 'a torn log has a page' status_is 2 lines -o "$TMPDIR/torn.html" "$TMPDIR/torn.olog"
check 'and reports that' grep -q '^<p class="note">Something in this log could not be read' \
	"$TMPDIR/torn.html"

page=$TMPDIR/page.html
check 'a page is written' lines -o "$page" "$TMPDIR/run.olog"
alone() { ! grep -E 'https?:|<link|@import' "$page"; }
check 'that needs nothing else' alone
check 'and says what is slow without a script' grep -q \
	'^<p class="verdict">Slowest: <b>disk.read</b>, 90' "$page"
svg() { lines -o "$TMPDIR/page.svg" "$TMPDIR/run.olog" &&
	grep -q '^<svg xmlns' "$TMPDIR/page.svg" && ! grep -q '<script' "$TMPDIR/page.svg"; }
check 'and a picture' svg
if command -v python3 >/dev/null 2>&1; then
	check 'which is XML' python3 -c \
		'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' "$TMPDIR/page.svg"
else
	skip 'which is XML' 'python3 is not here'
fi

# --- a file server: the page shows its slow stage. A busy machine may delay other stages: then it
# is repeated.
study() {
	rm -f "$TMPDIR/study.olog"
	"$B/examples/fileserver" --clients 5 --mib 1 --folder "$TMPDIR" --log "$TMPDIR/study.olog" \
		"$1" 30000 &&
		omig log lifelines -q --key conn,block -o "$TMPDIR/study.html" \
			"$TMPDIR/study.olog" 2>/dev/null &&
		grep -q "^<p class=\"verdict\">Slowest: <b>$2</b>, " "$TMPDIR/study.html" &&
		grep -q '^<p class="facts">.* 80 lifelines by conn,block (80 complete), 8 stages' \
			"$TMPDIR/study.html"
}
check 'of a file server with a slow net' until_true 20 study --slow-net server.net.send
check 'and with a slow disk, the page reports it' until_true 20 study --slow-disk server.disk.read

browser=$(command -v chromium-headless-shell || command -v chromium) || browser=
names='the page in a browser'
if [ -z "$browser" ] || ! command -v python3 >/dev/null 2>&1; then
	skip "$names" 'chromium or python3 is not here'
	check 'without UTF-8 it writes ASCII' sh -c \
	'! LC_ALL=C omig log lifelines --key block.id "$TMPDIR/run.bp" | LC_ALL=C grep "[^ -~]"'
tap_end
	exit 0
fi
# A picture with more lines than pixels.
awk 'BEGIN { for (i = 0; i < 30000; i++) for (k = 0; k < 3; k++)
	printf "ts=%.6f event=s%d id=%d\n", 1795341600 + i * 0.0001 + k * (k == 2 ? 0.004 : 0.001),
		k, i }' >"$TMPDIR/many.bp"
omig log lifelines -q -o "$TMPDIR/many.html" "$TMPDIR/many.bp"
# All steps use one browser, because its start takes seconds.
ready='wait=document.body.dataset.ready'
see='eval=document.body.dataset.mode + " " + document.body.dataset.ready + " " + document.body.dataset.drawn'
told='eval=document.getElementById("said").textContent'
python3 tests/system/browser.py "$browser" "$page" size=1200x900 load "$ready" "$see" key=s \
	"$told" key=s key=Escape "$told" \
	key=/ key=5 key=Enter "$told" 'eval=document.title' \
		'eval=document.querySelectorAll("img, iframe, object").length' \
	key=Escape key=0 wait='document.body.dataset.view.startsWith("0 ")' key=ArrowUp \
	wait='!document.body.dataset.view.startsWith("0 ")' key=0 \
		wait='document.body.dataset.view.startsWith("0 ")' \
	wheel=700,600,-200 wait='!document.body.dataset.view.startsWith("0 ")' 'load=#key=77' \
		wait='/77/.test(document.getElementById("said").textContent)' \
	"$see" \
	'eval=[...document.getElementById("lines").getContext("2d").getImageData(300, 30, 800, 400).data].some((v, i) => i % 4 < 3 && v)' \
	dark shot="$TMPDIR/page.png" "page=$TMPDIR/many.html" load "$ready" "$see" \
		'load=#from=1000000&to=3000000' \
	wait='document.body.dataset.mode === "lines"' "$see" "page=$TMPDIR/study.html" load \
		"$ready" "$see" \
	'eval=document.querySelector(".verdict b").textContent' shot="$TMPDIR/study.png" \
		>"$TMPDIR/seen" 2>"$TMPDIR/browser.err"
browser_status=$?
sed 's/^/# /' "$TMPDIR/seen" "$TMPDIR/browser.err"
line() { sed -n "$1p" "$TMPDIR/seen"; }
check 'a browser goes all the way' test $browser_status = 0
no_trouble() { ! grep 'trouble' "$TMPDIR/seen" "$TMPDIR/browser.err"; }
check 'without an error, a refusal or a request' no_trouble
check 'all lines are drawn' test "$(line 1)" = '"lines 201 201"'
slowest() { line 2 | grep -q '^"block.id 77: 303 ms.*disk.read300 ms10 ×'; }
check 'the slowest is chosen by a key' slowest
check 'and let go' test "$(line 3)" = '""'
missing() { line 4 | grep -q '^"block.id 5: .*missing: disk.read.end'; }
check 'a line is found by its key, and what it lacks is shown' missing
check 'names are not script' test "$(line 5)" = '"run.olog - lifelines"'
check 'and no markup' test "$(line 6)" = 0
check 'the address says what is shown' sh -c 'test -n "$1"' - "$(line 7 | grep '^"lines 201 ')"
check 'it is not empty' test "$(line 8)" = true
check 'and it can be looked at' test -s "$TMPDIR/page.png"

check 'many lines are a density' sh -c 'test -n "$1"' - "$(line 9 | grep '^"density 30000 ')"
check 'and lines from nearby' sh -c 'test -n "$1"' - "$(line 10 | grep '^"lines 30000 ')"
check 'the study is drawn' test "$(line 11)" = '"lines 80 80"'
check 'and its slow stage stands above it' test "$(line 12)" = '"server.disk.read"'
check 'without UTF-8 it writes ASCII' sh -c \
	'! LC_ALL=C omig log lifelines --key block.id "$TMPDIR/run.bp" | LC_ALL=C grep "[^ -~]"'
tap_end
