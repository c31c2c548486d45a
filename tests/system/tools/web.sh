#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig web: its link, its page and its limits, by a client that also sends what no browser sends.
# timeout: 180
. tests/system/lib.sh
need python3
f=openmpi
over='--oversubscribe --mca mpi_yield_when_idle 1'
command -v mpirun.openmpi >/dev/null || { f=mpich && over= && need mpirun.mpich; }
[ -x "$(heat $f)" ] || skip_all 'no example program'

check 'without a mainsm: one line and status 3' status_is 3 omig web
# shellcheck disable=SC2086 # words
omig run --job heat -- "mpirun.$f" -n 3 $over "$(heat "$f")" $as_long_as_needed \
	>"$TMPDIR/out" 2>&1 &
job=$!
check 'the ranks run' until_true 20 ranks_are 3
check 'an address that others reach is refused' says 'use the ssh line' omig web --listen 0.0.0.0
check 'a name is not an address' says 'not a numeric address' omig web --listen localhost
omig web --port 0 </dev/null >"$TMPDIR/web" 2>"$TMPDIR/web.err" &
web=$!
check 'the first line is a link' until_true 10 grep -Eq \
	'^http://127\.0\.0\.1:[0-9]+/#t=[0-9a-f]{64}$' "$TMPDIR/web"
check 'the second is a tunnel' until_true 10 grep -Eq \
	'^from another machine first: ssh -L ([0-9]+):127\.0\.0\.1:\1 ' "$TMPDIR/web"
python3 tests/system/tools/web.py "$(head -n 1 "$TMPDIR/web")" >"$TMPDIR/said" 2>"$TMPDIR/said.err"
client=$?
while IFS="$(printf '\t')" read -r name result; do
	check "$name" test "$result" = ok || echo "# $result"
done <"$TMPDIR/said"
sed 's/^/# /' "$TMPDIR/said.err"
check 'the client went all the way' test $client = 0
port=$(sed -n '1s,.*:\([0-9]*\)/.*,\1,p' "$TMPDIR/web")
check 'a port that is taken: the words name the option' says 'choose another with --port' \
	omig web --port "$port"
# Another address of loopback, and samples that are rare.
omig web --port 0 --listen 127.0.0.2 --every 60s </dev/null >"$TMPDIR/rare" 2>"$TMPDIR/rare.err" &
rare=$!
check 'a link to another address of loopback' until_true 10 grep -q '127.0.0.2.*#t=' "$TMPDIR/rare"
omig web --port 0 </dev/null >"$TMPDIR/third" 2>"$TMPDIR/third.err" &
third=$!
check 'a third link' until_true 10 grep -q '#t=' "$TMPDIR/third"
lm=$(cat "$(find "$OMIG_RUNTIME_DIR" -maxdepth 1 -name 'lm-*.lock' | head -n 1)")
python3 tests/system/tools/web_rare.py "$(head -n 1 "$TMPDIR/rare")" \
	"$(head -n 1 "$TMPDIR/third")" "$lm" omig >"$TMPDIR/said" 2>"$TMPDIR/said.err"
client=$?
while IFS="$(printf '\t')" read -r name result; do
	check "$name" test "$result" = ok || echo "# $result"
done <"$TMPDIR/said"
sed 's/^/# /' "$TMPDIR/said.err" "$TMPDIR/rare.err"
check 'this client, too, went all the way' test $client = 0
kill -TERM $web $rare $third
has_ended() { ! kill -0 "$1"; }
check 'a signal ends it' until_true 20 has_ended $web
check 'it reported nothing' test ! -s "$TMPDIR/web.err"
check 'the program ends as without it' enough $job
tap_end
