#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Metrics that a user adds to the monitor: other texts, omig measure by name and requests of other
# tools use them. They survive a mainsm that is killed.
. tests/system/lib.sh
. tests/system/faults.sh
own_host
program=$B/examples/loops.openmpi
[ -x "$program" ] || skip_all 'no example program with probes'

cd "$TMPDIR" || exit 1
cat >sent.pmsl <<'END'
Sent(Process p, TimeInterval t) : Unit("B") { RETURN p.Send_volume(t); }
END
cat >more.pmsl <<'END'
Sent_twice(Process p, TimeInterval t) { RETURN 2 * Sent(p, t); }
END
cat >use.pmsl <<'END'
All_sent(Process[] procs, TimeInterval t) {
	Process p;
	RETURN SUM(Sent_twice(p, t) - Sent(p, t) WHERE p IN procs);
}
END
echo 'Sent(Process p, TimeInterval t) { RETURN p.Send_volum(t); }' >bad.pmsl

check 'nothing is there at first' says '^no metrics have been added$' omig metrics list
check 'a text is added' says '^sent is version 1$' omig metrics add sent.pmsl
check 'one that uses it' says '^more is version 1$' omig metrics add more.pmsl
check 'a mistake has its place' says '^sent:1:42: error: there is no metric .* Send_volum$' \
	omig metrics add bad.pmsl --name sent
check 'what is not a name is refused' status_is 2 omig metrics add sent.pmsl --name ''
check 'no file is status 4' status_is 4 omig metrics add none.pmsl
check 'they are listed' says '^more +1 +[0-9T:Z-]+ +Sent_twice +sent$' omig metrics list
check 'as JSON' says '"name":"more","version":1,.*"metrics":\["Sent_twice"\],"uses":\["sent"\]' \
	omig metrics list --json
check 'a text is shown' says '^Sent_twice\(Process p' omig metrics show more
check 'by a metric in it, too' says '^Sent\(Process p' omig metrics show Sent
check 'as JSON' says '"name":"sent","version":1,"text":"Sent' omig metrics show sent --json
check 'what is used is not removed' says 'more uses sent: remove that first' \
	omig metrics remove sent
check 'what is not there' status_is 4 omig metrics show nothing
check 'nothing to add' status_is 2 omig metrics add

omig run -- mpirun.openmpi -n 2 "$program" --passes 1000000 --work 200 \
	--until "$TMPDIR/enough" >out 2>err </dev/null &
job=$!
two_run() {
	[ "$(omig tree --json | tr '{' '\n' | grep -c '"rank":')" = 2 ]
}
check 'two ranks are visible' until_true 30 two_run
value_of() { # OPTION...: the last of three reads
	omig measure --every 200ms --count 3 --csv "$@" |
		awk -F, 'NR > 1 { v = $6 } END { print v }'
}
is_positive() {
	awk -v v="$(value_of "$@")" 'BEGIN { exit !(v > 0) }'
}
check 'a later text uses them' is_positive -f use.pmsl All_sent
check 'a metric is measured by its name' is_positive Sent_twice
check 'of each process' says ',rank0@.*,B,' omig measure Sent --by process --count 2 --csv
check 'another tool has it by a request' says '^d_[0-9]+: d_[0-9]+$' \
	omig request ':dfg_create([],"","Sent_twice")'
check 'a text without them has the error of its place' says 'use.pmsl:3:13: error: .*Sent_thrice' \
	sh -c "sed s/Sent_twice/Sent_thrice/ use.pmsl >wrong.pmsl &&
		omig measure -f wrong.pmsl All_sent 2>&1 | sed s/wrong/use/"
check 'a new version' says '^sent is version 2$' sh -c \
	"echo '// better' >>sent.pmsl && omig metrics add sent.pmsl"

# --- killed
pid=$(daemon_pid mainsm)
check 'mainsm has a process' [ -n "$pid" ]
: >"$TMPDIR/enough"
wait "$job"
kill -9 "$pid"
again() {
	(unset OMIG_MAINSM && omig run -- true) && [ "$(daemon_pid mainsm)" != "$pid" ] &&
		omig metrics list | grep -q '^sent .*2 '
}
check 'they are there when mainsm is back' until_true 30 again
check 'with their texts' says '^// better$' omig metrics show sent
check 'they are removed' sh -c 'omig metrics remove more && omig metrics remove sent'
check 'and gone' says '^no metrics have been added$' omig metrics list
tap_end
