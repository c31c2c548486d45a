#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The units of packaging/systemd forbid no system call that the daemons make:
# mainsm with an sm, and an lm with a program, from start to end.
# timeout: 90
. tests/system/lib.sh
. tests/system/faults.sh
need strace systemd-analyze
need_mpi

systemd-analyze syscall-filter >"$TMPDIR/sets" 2>/dev/null ||
	skip_all 'this systemd-analyze lists no system calls'
# The calls that the filter lines on stdin permit, one a line; sets are within sets
allowed() {
	awk '
	function add(word, way,    i, n, part) {
		if (word !~ /^@/) { if (way) may[word] = 1; else delete may[word]; return }
		n = split(members[word], part, " ")
		for (i = 1; i <= n; i++) add(part[i], way)
	}
	FNR == NR && /^@/ { set = $1; next }
	FNR == NR && /^ +[@a-z_]/ { members[set] = members[set] " " $1; next }
	FNR == NR { next }
	sub(/^SystemCallFilter=/, "") {
		way = !sub(/^~/, "")
		n = split($0, word, " ")
		for (i = 1; i <= n; i++) add(word[i], way)
	}
	END { for (c in may) print c }' "$TMPDIR/sets" - | sort
}
# may_make UNIT TRACE: all calls of the trace
may_make() {
	sed -e '/^@sandbox@$/{r packaging/systemd/sandbox' -e 'd;}' "packaging/systemd/$1.in" |
		allowed >"$TMPDIR/may"
	sed -n 's/^[0-9]* *\([a-z_0-9]*\)(.*/\1/p' "$2" | sort -u >"$TMPDIR/made"
	echo "$(wc -l <"$TMPDIR/made") calls made, not allowed:"
	comm -23 "$TMPDIR/made" "$TMPDIR/may" | tee "$TMPDIR/forbidden"
	[ "$(wc -l <"$TMPDIR/made")" -gt 20 ] && [ ! -s "$TMPDIR/forbidden" ]
}

strace -f -qq -o "$TMPDIR/above" mainsm --foreground >"$TMPDIR/conn" 2>"$TMPDIR/mainsm.log" &
above=$!
until_true 20 omig tree
OMIG_MAINSM=$(cat "$OMIG_STATE_DIR/mainsm/mainsm.conn") strace -f -qq -o "$TMPDIR/below" lm \
	--foreground 2>"$TMPDIR/lm.log" &
below=$!
if ! until_true 20 nodes_are 1; then
	cat "$TMPDIR/mainsm.log" "$TMPDIR/lm.log"
	skip_all 'nothing can be traced here'
fi
MEASURE=volume job j "$one_flavour" 2
check 'the program is watched' until_true 20 ranks_are 2
for r in ':node_get_info([],1023)' ':proc_get_info([],1023)' ':thread_get_info([],1023)' \
	':omig_calls_read([])' \
	':thread_stop([])' ':thread_continue([])' ':omig_status()'; do
	check "it answers $r" omig request "$r"
done
kill -HUP "$(daemon_pid mainsm)" "$(daemon_pid lm)"
check 'the program ends' end_job j "$job"
omig stop
wait $above $below
knows_sets() {
	printf \
		'SystemCallFilter=@system-service\nSystemCallFilter=~@network-io\nSystemCallFilter=bind\n' \
		| allowed >"$TMPDIR/some"
	grep -qx read "$TMPDIR/some" && grep -qx bind "$TMPDIR/some" &&
		! grep -qx socket "$TMPDIR/some"
}
check 'sets are read as systemd reads them' knows_sets
check 'mainsm and sm' may_make omig-mainsm.service "$TMPDIR/above"
check 'sm as the service, too' may_make 'omig-sm@.service' "$TMPDIR/above"
check 'lm' may_make omig-lm.service "$TMPDIR/below"
tap_end
