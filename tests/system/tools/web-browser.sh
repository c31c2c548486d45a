#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig web in a real browser, by keys and by pointer: nothing is fetched from elsewhere, nothing is
# refused by the policy of the page, and no exception occurs.
# timeout: 240
. tests/system/lib.sh
need python3
browser=$(command -v chromium-headless-shell || command -v chromium) ||
	skip_all 'no Chromium is here'
f=openmpi
over='--oversubscribe --mca mpi_yield_when_idle 1'
command -v mpirun.openmpi >/dev/null || { f=mpich && over= && need mpirun.mpich; }
[ -x "$(heat $f)" ] || skip_all 'no example program'

# shellcheck disable=SC2086 # words
omig run --job '<b>heat</b>' -- "mpirun.$f" -n 3 $over "$(heat "$f")" $as_long_as_needed \
	>"$TMPDIR/out" 2>&1 &
job=$!
check 'the ranks run' until_true 20 ranks_are 3
omig web --port 0 </dev/null >"$TMPDIR/web" 2>"$TMPDIR/web.err" &
web=$!
check 'a link is printed' until_true 10 grep -q '#t=' "$TMPDIR/web"
blur='eval=document.activeElement.blur()'
text='document.querySelector("textarea")'
wrong="eval=void ($text.value = $text.value.replace('Wait_delay', 'Wait_dely'))"
right="eval=void ($text.value = $text.value.replace('Wait_dely', 'Wait_delay'))"
again="eval=void $text.dispatchEvent(new Event('input'))"
# Each step waits for what it should have done: so a step that does nothing ends the browser.
python3 tests/system/browser.py "$browser" none size=1200x900 \
	"open=$(head -n 1 "$TMPDIR/web")" \
	'wait=document.querySelectorAll("#table tbody tr").length === 3' \
	'wait=/^3 ranks on 1 host compute/.test(document.getElementById("answer").textContent)' \
	'wait=location.hash === ""' \
	'wait=[...document.querySelectorAll("#words li")].some((e) => /<b>heat/.test(e.textContent))' \
	'wait=document.querySelectorAll("main b b, header b").length === 0' \
	key=/ type=rank=1 'wait=document.querySelectorAll("#table tbody tr").length === 1' \
	'eval=void (document.getElementById("filter").value = "", document.getElementById("filter").dispatchEvent(new Event("input")))' \
	'wait=document.querySelectorAll("#table tbody tr").length === 3' "$blur" \
	'eval=document.getElementById("strip").focus()' key=ArrowDown key=ArrowDown \
	'wait=/^rank 1 /.test(document.getElementById("strip-said").textContent)' key=Enter \
	'wait=/^Rank 1 on/.test(document.getElementById("chosen").textContent)' key=Escape \
	'wait=document.getElementById("chosen").hidden' \
	'eval=scrollTo(0, 0)' click=1000,330 \
	'wait=/^Rank [0-2] on/.test(document.getElementById("chosen").textContent)' \
	"$blur" key=m type=wait_del 'wait=document.querySelectorAll(".pick li").length > 0' \
	key=ArrowDown key=Enter key=Enter \
	'wait=/is highest with/.test(document.querySelector(".chart")?.textContent)' \
	"$blur" key=t 'wait=document.querySelectorAll(".twin tbody tr").length > 1' key=t \
	key=e "wait=$text.offsetHeight > 0" "$wrong" "$again" \
	'wait=document.querySelector(".editor u")?.textContent.startsWith("Wait_dely")' \
	'wait=/did you mean Wait_delay/.test(document.querySelector(".diagnoses").textContent)' \
	"$right" "$again" 'wait=!document.querySelector(".diagnoses li")' \
	'eval=document.querySelector("#new button[type=submit]").click()' \
	'wait=document.querySelectorAll(".chart").length === 2' "$blur" \
	'key= ' 'wait=/^frozen at/.test(document.getElementById("link").textContent)' 'key= ' \
	'wait=/^sample of/.test(document.getElementById("link").textContent)' \
	'key=?' 'wait=document.getElementById("help").open' key=Escape \
	'eval=document.getElementById("help").close()' \
	size=360x700 'wait=document.documentElement.scrollWidth <= 360' dark \
	"open=$(head -n 1 "$TMPDIR/web" | sed 's/#.*//')" \
	'wait=document.querySelectorAll("#table tbody tr").length === 3' \
	'wait=document.querySelectorAll(".chart").length === 2' \
	>"$TMPDIR/seen" 2>"$TMPDIR/browser.err"
status=$?
sed 's/^/# /' "$TMPDIR/seen" "$TMPDIR/browser.err"
check 'a browser goes all the way, by keys and by pointer' test $status = 0
no_trouble() { ! grep trouble "$TMPDIR/seen" "$TMPDIR/browser.err"; }
check 'without an exception, a refusal or a request elsewhere' no_trouble
kill -TERM $web
check 'the server reported nothing' test ! -s "$TMPDIR/web.err"
check 'the program ends as without it' enough $job
tap_end
