#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Event logs in files, without a monitor: omig log cat and convert, on good files and damaged ones.
. tests/system/lib.sh

golden=tests/golden/eventlog
out=$TMPDIR

# --- a log is shown whole, and equally for each writer
check 'a log is shown' says \
	'^ts=1970-01-01T00:00:00.000000Z event=all.kinds level=Info pid=4711 HOST=foo.lbl.gov ' \
	omig log cat $golden/little.olog
both_orders() {
	omig log cat $golden/little.olog >"$TMPDIR/little" &&
		omig log cat $golden/big.olog >"$TMPDIR/big" &&
		cmp "$TMPDIR/little" "$TMPDIR/big" && test "$(wc -l <"$TMPDIR/big")" = 14
}
check 'of either byte order' both_orders
check 'as JSON' says '"event":"all.kinds","level":"Info","stream":"1122334455667788","number":0,' \
	omig log cat --json $golden/big.olog
no_control() { ! omig log cat $golden/little.olog | LC_ALL=C grep -q "$(printf '\033')"; }
check 'control characters never reach the terminal' no_control
check 'a log comes through a pipe' sh -c "omig log cat - <$golden/big.olog | cmp - $TMPDIR/big"

# --- conversion to other forms and back
round() {
	omig log convert --to "$1" -o "$TMPDIR/a.$1" $golden/big.olog &&
		omig log convert --from "$1" --to olog -o "$TMPDIR/a.olog" "$TMPDIR/a.$1" &&
		omig log convert --to "$1" "$TMPDIR/a.olog" | cmp - "$TMPDIR/a.$1"
}
for form in ulm bp lite xml; do
	check "$form and back and again is the same" round $form
done
by_looks() { omig log convert --to bp "$TMPDIR/a.$1" | cmp - "$2"; }
omig log convert --to bp $golden/big.olog >"$TMPDIR/want.bp"
check 'forms are known by their looks' by_looks xml "$TMPDIR/want.bp"
check 'XML keeps all kinds' sh -c \
	"omig log convert --to xml '$TMPDIR/a.olog' | grep -q 't=\"float\"'"
into_olog() {
	omig log convert --to olog -o "$TMPDIR/b.olog" $golden/big.olog &&
		omig log convert --to xml "$TMPDIR/b.olog" | cmp - "$TMPDIR/a.xml"
}
check 'a log becomes a log' into_olog
joined() {
	omig log cat $golden/big.olog $golden/big.olog >"$TMPDIR/two"
	test "$(wc -l <"$TMPDIR/two")" = 28
}
check 'files one after another' joined
twice() {
	cat $golden/big.olog $golden/big.olog >"$TMPDIR/twice.olog"
	omig log cat "$TMPDIR/twice.olog" 2>"$TMPDIR/twice.err" | cmp - "$TMPDIR/big" &&
		cat "$TMPDIR/twice.err" && grep -q 'there again; ' "$TMPDIR/twice.err"
}
check 'what comes twice in a file is read once' twice

# --- several logs become one, by time
ulm() { echo "DATE=2026010203040$1.000000 HOST=$2 PROG=p LVL=Info NL.EVNT=e$1"; }
{ ulm 1 node1; ulm 4 node1; ulm 3 node1; } >"$TMPDIR/one.ulm"
{ ulm 2 node2; ulm 5 node2; } >"$TMPDIR/two.ulm"
merged() {
	want=$1
	shift
	omig log merge "$@" "$TMPDIR/one.ulm" "$TMPDIR/two.ulm" >"$TMPDIR/merged" \
		2>"$TMPDIR/merge.err" || return 1
	test "$(sed 's/.* event=e\([0-9]\).*/\1/' "$TMPDIR/merged" | tr -d '\n')" = "$want"
}
warned() { cat "$TMPDIR/merge.err" && grep -q "$1" "$TMPDIR/merge.err"; }
check 'logs are merged by time' merged 12345
check 'clocks that are not corrected are reported' warned \
	'times are those of the clocks of 2 nodes, not corrected'
check 'events out of order are counted' warned ': 1 of 5 events were out of order'
check 'a clock is corrected' merged 21534 --clock node2=2.5s
check 'the correction is reported' warned 'clock of node2: 2 events moved by -2500ms'
check 'a clock that is behind' merged 13245 --clock node2=-1500ms
check 'a clock of no event is an error' status_is 4 omig log merge --clock node9=1s \
	"$TMPDIR/one.ulm"
check 'a clock without a time is refused' says 'is not NODE=TIME' omig log merge --clock node1 \
	"$TMPDIR/one.ulm"
check 'a clock is given once' status_is 2 omig log merge --clock a=1s --clock a=2s \
	"$TMPDIR/one.ulm"
merged_again() {
	omig log merge --to olog -o "$TMPDIR/merged.olog" "$TMPDIR/one.ulm" "$TMPDIR/two.ulm" &&
		omig log cat "$TMPDIR/merged.olog" >"$TMPDIR/again" && merged 12345 &&
		cmp "$TMPDIR/merged" "$TMPDIR/again"
}
check 'a merged log is a log' merged_again
merged_json() { omig log merge --json "$TMPDIR/two.ulm" | head -1 | grep -q '^{"time_ns"\|^{"'; }
check 'merged as JSON' merged_json
nothing_merged() {
	! omig log merge -o "$TMPDIR/gone.bp" "$TMPDIR/one.ulm" "$TMPDIR/none" &&
		test ! -e "$TMPDIR/gone.bp"
}
check 'a missing log merges nothing' nothing_merged

# --- the end of logs that grow
tail_begin() {
	omig log tail "$@" >"$TMPDIR/tail.out" 2>"$TMPDIR/tail.err" &
	tail_pid=$!
}
tail_has() { grep -q "event=$1 " "$TMPDIR/tail.out"; }
tail_warned() { grep -q "$1" "$TMPDIR/tail.err"; }
tail_end() {
	kill -INT "$tail_pid"
	wait "$tail_pid"
	tail_status=$?
}
ulm 1 node1 >"$TMPDIR/grows.ulm"
ulm 2 node1 >>"$TMPDIR/grows.ulm"
tail_begin -n 1 "$TMPDIR/grows.ulm"
check 'tail shows the last event' until_true 10 tail_has e2
without_earlier() { ! tail_has e1; }
check 'and none before it' without_earlier
ulm 3 node1 >>"$TMPDIR/grows.ulm"
check 'and the next one' until_true 10 tail_has e3
ulm 4 node1 | tr -d '\n' >>"$TMPDIR/grows.ulm"
echo ' X=7' >>"$TMPDIR/grows.ulm"
check 'and a line that is written in two parts' until_true 10 grep -q 'event=e4 .* X=7' \
	"$TMPDIR/tail.out"
ulm 5 node1 >"$TMPDIR/new.ulm"
mv "$TMPDIR/new.ulm" "$TMPDIR/grows.ulm"
check 'and the log that takes its place' until_true 10 tail_has e5
check 'which is reported' tail_warned 'was replaced or truncated'
tail_end
check 'a signal ends it with status 0' test $tail_status = 0
omig log convert --to olog -o "$TMPDIR/grows.olog" "$TMPDIR/one.ulm"
tail_begin -n 1 "$TMPDIR/grows.olog"
check 'tail of a log of blocks shows its last event' until_true 10 tail_has e3
omig log convert --to olog -o "$TMPDIR/more.olog" "$TMPDIR/two.ulm"
size=$(stat -c %s "$TMPDIR/more.olog")
head -c 100 "$TMPDIR/more.olog" >>"$TMPDIR/grows.olog"
tail -c $((size - 100)) "$TMPDIR/more.olog" >>"$TMPDIR/grows.olog"
check 'and blocks that are appended' until_true 10 tail_has e5
tail_end
check 'ends without damage' test $tail_status = 0
check 'and has no event of the past' without_earlier
echo garbage >>"$TMPDIR/grows.ulm"
tail_bad() { omig log tail --for 200ms "$TMPDIR/grows.ulm" 2>"$TMPDIR/tail.err"; }
check 'damage is status 2' status_is 2 tail_bad
check 'and is reported once' test "$(grep -c 'ulm:2: ' "$TMPDIR/tail.err")" = 1
mkfifo "$TMPDIR/fifo"
omig log tail - <"$TMPDIR/fifo" >"$TMPDIR/tail.out" &
tail_pid=$!
exec 7>"$TMPDIR/fifo"
ulm 8 node1 >&7
check 'tail of a pipe shows what it has' until_true 10 tail_has e8
exec 7>&-
wait "$tail_pid"
check 'and ends with it' test $? = 0
omig log tail "$TMPDIR/fifo" >"$TMPDIR/tail.out" &
tail_pid=$!
{ ulm 3 node1; ulm 4 node1; } >"$TMPDIR/fifo"
wait "$tail_pid"
check 'a pipe with a name is read once' test "$(grep -c 'event=e[34] ' "$TMPDIR/tail.out")" = 2
omig log load --archive "$TMPDIR/tail.db" "$TMPDIR/two.ulm" >/dev/null
check 'an archive is not followed' says 'cannot be followed' omig log tail "$TMPDIR/tail.db"
check 'a missing log is status 4' status_is 4 omig log tail "$TMPDIR/none"

# --- parsers of others
if command -v python3 >/dev/null 2>&1; then
	strict() {
		omig log convert --to "$1" -o "$TMPDIR/x.$1" $golden/little.olog &&
			python3 - "$TMPDIR/x.$1" "$1" <<'END'
import json, sys
def no(word): raise ValueError(word)
text = open(sys.argv[1], encoding="utf-8").read()
if sys.argv[2] == "chrome":
    doc = json.loads(text, parse_constant=no)
    ev = doc["traceEvents"]
    assert len(ev) == 14 and doc["displayTimeUnit"] == "ns"
    for e in ev:
        assert e["ph"] in "ibeBE" and isinstance(e["ts"], float | int)
        assert isinstance(e["pid"], int) and isinstance(e["tid"], int)
        assert e["name"] == "all.kinds" and e["args"]["HOST"] == "foo.lbl.gov"
    assert ev[0]["args"]["exact"] == 0.1 and ev[0]["pid"] == 4711
elif sys.argv[2] == "otlp":
    n = 0
    for line in text.splitlines():
        for r in json.loads(line, parse_constant=no)["resourceLogs"]:
            for s in r["scopeLogs"]:
                for rec in s["logRecords"]:
                    n += 1
                    assert rec["timeUnixNano"].isdigit() and rec["severityNumber"] == 9
                    assert rec["eventName"] == "all.kinds"
                    at = {a["key"]: a["value"] for a in rec["attributes"]}
                    assert at["size"] == {"intValue": str(1 << 40)}
                    assert at["HOST"] == {"stringValue": "foo.lbl.gov"}
    assert n == 14
else:
    lines = [json.loads(l, parse_constant=no) for l in text.splitlines()]
    assert len(lines) == 14 and lines[3]["fields"]["i"] == 2147483647
    assert lines[4]["fields"]["l"] == -(1 << 63)
END
	}
	for form in json chrome otlp; do
		check "$form is what its readers expect" strict $form
	done
	as_xml() { python3 \
		-c 'import sys, xml.etree.ElementTree as t; assert len(t.parse(sys.argv[1]).getroot()) == 14' \
		"$TMPDIR/a.xml"; }
	check 'XML is XML' as_xml
else
	skip 'strict parsers' 'python3 is not here'
fi
printf '%s\n' 'ts=5.5 event=io.read.start id=7 n=100' 'ts=5.500001 event=io.read.end id=7' \
	>"$TMPDIR/span.bp"
check 'a start and an end are a span' says \
	'"name":"io.read","cat":"event","ph":"e","id":"7","ts":1,' \
	omig log convert --to chrome "$TMPDIR/span.bp"
if command -v babeltrace2 >/dev/null 2>&1; then
	ctf() {
		omig log convert --to ctf -o "$TMPDIR/ctf" "$TMPDIR/span.bp" &&
			babeltrace2 --clock-seconds --no-delta "$TMPDIR/ctf" >"$TMPDIR/ctf.text" &&
			grep -q '^\[5.500000000\] .*io.read.start: .* id = 7, n = 100' \
				"$TMPDIR/ctf.text" &&
			test "$(wc -l <"$TMPDIR/ctf.text")" = 2
	}
	check 'babeltrace2 reads a CTF trace' ctf
	printf '%s\n' 'ts=-5.25 event=a.b n=1' 'ts=5.5 event=a.b n=2' >"$TMPDIR/early.bp"
	early() {
		omig log convert --to ctf -o "$TMPDIR/early" "$TMPDIR/early.bp" &&
			babeltrace2 --clock-seconds --no-delta "$TMPDIR/early" \
				>"$TMPDIR/ctf.text" &&
			grep '^\[-5.250000000\] ' "$TMPDIR/ctf.text" &&
			grep '^\[5.500000000\] ' "$TMPDIR/ctf.text"
	}
	check 'a log that begins before 1970 has its times' early
	all_kinds() {
		omig log convert --to ctf -o "$TMPDIR/ctf2" $golden/big.olog 2>"$TMPDIR/ctf.err"
		[ $? = 2 ] && grep -q 'none before its clock' "$TMPDIR/ctf.err" &&
			babeltrace2 "$TMPDIR/ctf2" >"$TMPDIR/ctf.text" &&
			test "$(grep -c 'all.kinds' "$TMPDIR/ctf.text")" = 14 &&
				grep -q ' l = 9223372036854775807, ' "$TMPDIR/ctf.text"
	}
	check 'with all kinds and edge values' all_kinds
else
	skip 'babeltrace2 reads a CTF trace' 'babeltrace2 is not here'
fi
check 'a folder that is there is left alone' status_is 1 omig log convert --to ctf -o "$TMPDIR" \
	"$TMPDIR/span.bp"

# --- damaged, empty and foreign files
head -c 900 $golden/little.olog >"$TMPDIR/torn.olog"
check 'a torn log is read as far as it goes' says 'event=all.kinds' omig log cat "$TMPDIR/torn.olog"
check 'and reported as torn, with the place' \
	says 'torn.olog: the first of them is byte [1-9]' omig \
	log cat "$TMPDIR/torn.olog"
check 'with status 2' status_is 2 omig log cat "$TMPDIR/torn.olog"
: >"$TMPDIR/empty"
check 'an empty file is reported' says 'empty: is empty' omig log cat "$TMPDIR/empty"
check 'with status 2 too' status_is 2 omig log cat "$TMPDIR/empty"
head -c 5000 /dev/urandom >"$TMPDIR/noise"
check 'noise has no events' says ' 0 events ok, 0 bad, 5000 bytes skipped' omig log cat --from \
	olog "$TMPDIR/noise"
check 'no file is status 4' status_is 4 omig log cat "$TMPDIR/none"
check 'a folder is not a log' status_is 5 omig log cat "$TMPDIR"
sed -e ':a' -e '/\\$/N' -e 's/\\\n//' -e ta >"$TMPDIR/wild.ulm" <<'END'
DATE=20070215110703.2102 HOST=h PROG=globus-gridftp-server NL.EVNT=FTP_INFO NBYTES=55 \
DEST=[129.79.4.64]
this line is none
DATE=20060327125110.975908 HOST=heri PROG=pathload LVL=Usage PATHLOAD.FLEETS=9
END
check 'a bad line is shown' says 'wild.ulm:2: a word that is not NAME=VALUE' omig log cat \
	"$TMPDIR/wild.ulm"
check 'and counted' says '2 events ok, 1 bad lines of 3 skipped' omig log cat "$TMPDIR/wild.ulm"
check 'the others are read' says 'ts=2007-02-15T11:07:03.002102Z event=FTP_INFO' omig log cat \
	"$TMPDIR/wild.ulm"
check 'and the rule for short times is printed' says \
	'1 times with fewer than six digits were read as microseconds' \
	omig log cat "$TMPDIR/wild.ulm"
check 'which is an option' says 'ts=2007-02-15T11:07:03.210200Z' omig log cat --fraction decimal \
	"$TMPDIR/wild.ulm"

# --- a program writes, as C99 and as C++
cat >"$TMPDIR/hello.c" <<'END'
#include <omig/event.h>
OMIG_EVENT(hello, "hello", OMIG_INFO, (int32, n), (string, who))
OMIG_EVENT0(bye, "bye", OMIG_DEBUG)
int main(void)
{
	int i;
	for (i = 0; i < 1000; i++)
		omig_event(hello, i, "world");
	omig_event0(bye);
	return 0;
}
END
mkdir -p "$TMPDIR/include" && ln -s "$PWD/eventlog/app" "$TMPDIR/include/omig"
program_writes() {
	"$@" -Wall -Wextra -Werror -O2 -I"$TMPDIR/include" -o "$TMPDIR/hello" "$TMPDIR/hello.c" -x \
		none -L"$B/lib" -lomig-event \
		-Wl,-rpath,"$B/lib" && rm -f "$TMPDIR/hello.olog" &&
			OMIG_EVENT_LOG=$TMPDIR/hello.olog "$TMPDIR/hello" &&
		omig log cat "$TMPDIR/hello.olog" >"$TMPDIR/hello.text" &&
			test "$(grep -c 'event=hello' "$TMPDIR/hello.text")" = 1000 &&
		tail -n 1 "$TMPDIR/hello.text" | grep -q 'event=bye level=Debug tid=[0-9]* HOST='
}
check 'a program in C writes where the environment says' program_writes "${CC:-cc}" -std=gnu99
if command -v g++ >/dev/null 2>&1; then
	check 'and one in C++' program_writes g++ -x c++ -std=c++11
else
	skip 'and one in C++' 'g++ is not here'
fi
without() { "$TMPDIR/hello" && test ! -e "$TMPDIR/hello.gone"; }
check 'and runs as ever without' without

# --- a program that was written for NetLogger, in both generations of its calls
for h in NetLogger.h nl.h; do ln -s "$PWD/eventlog/netlogger/netlogger.h" "$TMPDIR/include/$h"; done
cat >"$TMPDIR/nl.c" <<'END'
#ifdef LATER
#include "nl.h"
int main(int argc, char **argv)
{
	NL_log_T log = NL_open(argv[1]);
	NL_set_level(log, 4);
	NL_write(log, 4, "program.end", "status=i guid=s", 0, "ABC");
	NL_close(log);
	return argc != 2;
}
#else
#include "NetLogger.h"
int main(int argc, char **argv)
{
	NLhandle *lp = NetLoggerOpen("test_prog", argv[1], NL_MEM);
#ifdef OLD_API
	NetLoggerWrite(lp, "EVENT_START", "TEST.SIZE=%d", 10);
#else
	NetLoggerWrite(lp, "EVENT_START", "", "TEST.SIZE=%d", 10);
#endif
	return NetLoggerClose(lp) || argc != 2;
}
#endif
END
nl_writes() {
	want=$1
	shift
	"${CC:-cc}" "$@" -I"$TMPDIR/include" -o "$TMPDIR/nl" "$TMPDIR/nl.c" -L"$B/lib" \
		-lomig-netlogger -Wl,-rpath,"$B/lib" &&
		"$TMPDIR/nl" "$TMPDIR/nl.olog" && omig log convert --to ulm "$TMPDIR/nl.olog" |
			grep -q "$want"
}
check 'NetLoggerOpen and its kin' nl_writes ' PROG=test_prog NL.EVNT=EVENT_START .*TEST.SIZE=10$'
check 'as they were before' nl_writes ' PROG=test_prog NL.EVNT=EVENT_START .*TEST.SIZE=10$' \
	-DOLD_API
check 'NL_open and its kin' nl_writes ' LVL=Info NL.EVNT=program.end .*status=0 guid=ABC$' -DLATER

# --- the command line
check 'no word is status 2' status_is 2 omig log
check 'another word too' status_is 2 omig log dog
check 'convert says where to' says 'convert needs --to' omig log convert "$TMPDIR/wild.ulm"
check 'a form that is none' says 'olog, ulm, bp, lite, xml, json, chrome, otlp or ctf' omig log \
	convert --to pdf "$TMPDIR/a.xml"
check 'ctf wants a folder' status_is 2 omig log convert --to ctf "$TMPDIR/a.xml"
check 'help' says 'cat.convert' omig log --help
full() { ! omig log cat $golden/big.olog >/dev/full; }
if [ -c /dev/full ]; then check 'a full disk is a failure' full; else skip 'a full disk' \
	'no /dev/full'; fi
nothing_half() {
	! omig log convert --to bp -o "$out/gone.bp" "$TMPDIR/none" && test ! -e "$out/gone.bp" &&
		test -z "$(find "$out" -name '*.part-*')"
}
check 'an output is whole or not there' nothing_half
tap_end
