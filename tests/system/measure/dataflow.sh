#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measurements by the services of the request language, on a host without a program: each service is
# used, and refuses invalid requests with a message.
. tests/system/lib.sh
. tests/system/faults.sh

own_host
session_begins

made() { # REQUEST: the token
	session_asks "$1" | sed -n 's/.* \(d_[0-9]*\)$/\1/p'
}
dfg=$(made ':dfg_create([],"","Node_load",["every_ms",0,"by","node"])')
check 'a measurement is made' [ -n "$dfg" ]
check 'one that does not run cannot be read' says 'does not run' session_asks ":dfg_read([$dfg])"
line=$(($(wc -l <"$TMPDIR/session.asked") + 1))
session_asks "dfg_has_read([$dfg]): print([\$dfg,\$read,\$values])" >/dev/null
check 'it is started' says '^1 0 ' session_asks ":dfg_start([$dfg])"
check 'a second time it is not' says 'runs already' session_asks ":dfg_start([$dfg])"
check 'a read by request has the node' says "^1 0 $dfg 1,[0-9]+,\[\[$node,1," session_asks \
	":dfg_read([$dfg])"
check 'its event has the same' until_true 10 sh -c \
	"grep -q '^$line 1 0 - [0-9]*,$dfg,1,\[$node,1,' '$TMPDIR/session.out'"
check 'objects are added' says '^1 0 ' session_asks ":dfg_add([$dfg],[$node])"
check 'the last one stays' says 'nothing would be left' session_asks ":dfg_remove([$dfg],[$node])"
check 'all of it can be seen' says \
	"\"Node_load\",\"1\",\"running\",\"start\",0,0,\"node\",0\],\[\],\[" \
	session_asks ":dfg_get_info([$dfg],255)"
check 'it is in the list of all' says "\\[$dfg,[0-9]+,\"[^\"]*\",\"Node_load\"," session_asks \
	':dfg_list()'
check 'any tool may look at it' says '"Node_load"' session_asks ":dfg_look([$dfg],1)"
check 'a text with a fault is shown with its place' says 'text:1:' session_asks \
	':dfg_create([],"M(","M")'
check 'its host reports how its piece runs' says '\[0,"input",[0-9]+,[0-9]+,0,0,0,0,0,' \
	session_asks ":omig_dfg_look([$node],${dfg#d_})"
# --- omig measure ends by itself when its values are enough
check 'it ends after as many values as were asked for' says '^ *all: 3 values' \
	omig measure Node_load --every 100ms --until 'n >= 3'
check 'or when the interval is narrow enough' says '^ *all: 5 values, mean ' \
	omig measure Node_load --every 100ms --until 'ci(0.95, min 5) < 1000000'
check 'JSON ends with the statistics of the values' sh -c "
	omig measure Node_load --by node --every 100ms --json --until 'n >= 2' | tail -n 1 |
	grep -q '\"until\":\"n >= 2\",\"reached\":true,\"reads\":[0-9]*,.*\"n\":2,'"
check 'without a process a read reports that' says \
	'^[0-9]+,[0-9]+,,all,,,B,0,0,0,[0-9]+,[0-9]+,missing$' \
	omig measure Send_volume --every 100ms --count 1 --csv
check 'as a line too' says 'all - B 0/0 missing$' omig measure Send_volume --every 100ms --count 1
check 'regions that no process has are reported' \
	says 'no process has two probes that make a region' \
	omig measure Send_volume --by region
check 'by an unknown word' status_is 2 omig measure Send_volume --by process,node
check 'by partner of what has none' says 'CPU_usage has no partners' omig measure CPU_usage --by \
	partner --count 1 --every 100ms
check 'too few reads for it are reported' \
	status_is 1 omig measure Node_load --every 100ms --count 2 \
	--until 'n >= 3'
check 'a rule that is none is refused' status_is 2 omig measure Node_load --until 'n > 3'
check 'it stops' says '^1 0 ' session_asks ":dfg_stop([$dfg])"
check 'and is deleted' says '^1 0 ' session_asks ":dfg_delete([$dfg])"
check 'then it is unknown' says '^1 24 ' session_asks ":dfg_get_info([$dfg],1)"
session_ends
tap_end
