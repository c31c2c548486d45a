#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# With --json a failure is an object on stdout, besides the message on stderr; a single document
# stays single.
# timeout: 60
. tests/system/lib.sh

# fails_with STATUS TEXT COMMAND...: stdout is one object that has both, stderr has the text.
fails_with() {
	want=$1 text=$2
	shift 2
	"$@" >"$TMPDIR/out" 2>"$TMPDIR/err"
	got=$?
	cat "$TMPDIR/out" "$TMPDIR/err"
	[ "$got" = "$want" ] && [ "$(wc -l <"$TMPDIR/out")" = 1 ] || return 1
	grep -q "^{\"error\":{\"status\":$want,\"text\":\".*$text.*\"}}\$" "$TMPDIR/out" &&
		grep -q "$text" "$TMPDIR/err"
}
# document_with STATUS TEXT COMMAND...: one line that has TEXT, and no error behind it.
document_with() {
	want=$1 text=$2
	shift 2
	"$@" >"$TMPDIR/out" 2>"$TMPDIR/err"
	[ $? = "$want" ] && cat "$TMPDIR/out" && grep -qF "$text" "$TMPDIR/out" &&
		! grep -q '^{"error"' "$TMPDIR/out" && [ "$(wc -l <"$TMPDIR/out")" = 1 ]
}
says_nothing() {
	"$@" >"$TMPDIR/out" 2>/dev/null
	! [ -s "$TMPDIR/out" ]
}

check 'no mainsm' fails_with 3 'no mainsm is known' omig tree --json
check 'nor by the short option' fails_with 3 'no mainsm is known' omig status -j
check 'an option that there is not' fails_with 2 "unknown option '--bogus'" omig tree --json --bogus
check 'also in front of --json' fails_with 2 "unknown option '--bogus'" omig tree --bogus --json
check 'an operand too many' fails_with 2 "unexpected 'more'" omig version --json more
check 'a metric that there is not' fails_with 4 'did you mean Send_volume?' \
	omig metrics --json Send_volum3
check 'nor by a text' fails_with 4 'did you mean Loop_Counter?' omig metrics --json \
	-f examples/metrics/loop_counter.pmsl Loop_Countr
check 'a service that there is not' fails_with 4 'did you mean thread_stop?' \
	omig services --json thread_stopp
check 'a library call that there is not' fails_with 4 'did you mean MPI_Send?' \
	omig events tail --json 'io.*' MPI_Sendd
check 'nor its begin' fails_with 4 'did you mean MPI_Barrier?' \
	omig events on --json --to "$TMPDIR/x.olog" MPI_Barier.start
check 'nor any of such a beginning' fails_with 4 'is not a library call' \
	omig events tail --json 'MPI_Qqqqqq*'
check 'but some of another' fails_with 3 'no mainsm' \
	omig events tail --json 'MPI_*' 'MPI_Isen*' MPI_Send MPI_Send.end Sendd
check 'an option that there is not, of a world' fails_with 2 "unknown option '--bogus'" \
	omig sim growth --json --bogus
check 'a world that has no figures' fails_with 2 'belongs* to growth' \
	omig sim cluster --json
check 'a world that there is not' fails_with 2 'weather' omig sim weather --json
check 'an operand too few' fails_with 2 'which metric' omig measure --json
check 'a file that there is not' fails_with 4 'nofile' omig log cat --json nofile
check 'and one of a run' fails_with 4 'nofile' omig neko run --simulate --json nofile
echo 'M(TimeInterval t) { RETURN' >"$TMPDIR/bad.pmsl"
check 'two files of one input' fails_with 2 'one file' omig compare --json - -
check 'a folder is not a summary' fails_with 2 'directory' omig show --json "$TMPDIR"
check 'a job with a name that a rank has no room for' fails_with 2 '1 to 63 bytes' \
	omig env --json --job 0123456789012345678901234567890123456789012345678901234567890123
check 'no time since now' fails_with 2 'nothing was since then' omig calls --json --from now
check 'a picture in no folder' fails_with 1 'No such file' \
	omig matrix --json -o "$TMPDIR/none/x.svg"
check 'a text with errors' fails_with 1 'has errors' omig measure --json -f "$TMPDIR/bad.pmsl" M
check 'without --json stdout is empty' says_nothing omig tree
check 'a text that cannot be read' fails_with 4 'nofile' omig check --json "$TMPDIR/nofile"
check 'a text that has errors: a document' document_with 1 '"kind":"error"' \
	omig check --json "$TMPDIR/bad.pmsl"
check 'one of two cannot be read' document_with 4 '/nofile","error":{"status":4,"text":"' \
	omig check --json "$TMPDIR/nofile" "$TMPDIR/bad.pmsl"
printf '1\n2\nx\n' >"$TMPDIR/numbers"
check 'numbers that cannot be read' fails_with 4 'nofile' omig stats --json "$TMPDIR/nofile"
check 'one of two files of them' document_with 4 '/nofile","error":{"status":4,"text":"' \
	omig stats --json "$TMPDIR/nofile" "$TMPDIR/numbers"
check 'a line of them' document_with 1 '1 line could not be read"}}]}' \
	omig stats --json "$TMPDIR/numbers"
tap_end
