#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Processes of the user send invalid data to the lm in every way that the socket and the memory
# permit. Each is refused or contained with one line in the log, and a good program beside them is
# counted exactly.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
f=$one_flavour

# vandal KIND [MS [N]]: in the background, waits until it has done its first action; $v is its
# process
vandal() {
	rm -f "$TMPDIR/vandal.out"
	(cd "$TMPDIR" && exec "$T/vandal" "$socket" "$caid" "$1" "${2:-300000}" "${3:-0}") \
		>"$TMPDIR/vandal.out" 2>&1 7>&- &
	v=$!
	until_true 30 test -s "$TMPDIR/vandal.out"
	[ "$(cat "$TMPDIR/vandal.out")" = $v ] || { cat "$TMPDIR/vandal.out"; return 1; }
}
v_ends() {
	kill -KILL "$v" 2>/dev/null
	wait "$v" 2>/dev/null
	true
}
lm_lives() {
	[ "$(daemon_pid lm)" = "$lm" ]
}
lines_about() {
	log_of lm | grep "pid=$1 "
}
in_tree() {
	omig tree | grep -Eq "rank 0 of 1 +pid $1 .*(run|wait|ready)"
}
# refused KIND PATTERN [N]: it is not watched, and one line has the reason
refused() {
	vandal "$1" 300000 "${3:-0}"
	until_true 10 log_has lm "not watched pid=$v reason=.*$2"
	lines_about "$v"
	in_tree "$v"
	seen=$?
	n=$(lines_about "$v" | wc -l)
	log_has lm "not watched pid=$v reason=.*$2"
	said=$?
	v_ends
	[ $said = 0 ] && [ $seen != 0 ] && [ "$n" = 1 ] && lm_lives
}
# A tool attaches it: its hooks are switched on, its ring is polled
is_followed() {
	in_tree "$v" && session_asks ':proc_attach([])' >/dev/null
}
reads() {
	session_asks ':omig_calls_read([],3) proc_get_info([],512) omig_status()' \
		>"$TMPDIR/read.out"
	grep -q "^2 0 p_.* $v\$" "$TMPDIR/read.out"
}
# contained KIND [MS]: it is watched like others, and its contents are read without harm
contained() {
	vandal "$1" "${2:-300000}"
	until_true 10 is_followed && reads && reads
	rc=$?
	lines_about "$v"
	v_ends
	[ $rc = 0 ] && lm_lives
}
# detached KIND: its ring is no longer read, and one line reports that; it is still shown
detached() {
	vandal "$1"
	until_true 10 is_followed && until_true 15 log_has lm "segment_corrupt pid=$v reason=" &&
		reads
	rc=$?
	lines_about "$v"
	n=$(lines_about "$v" | grep -c corrupt)
	v_ends
	[ $rc = 0 ] && [ "$n" = 1 ] && lm_lives
}
figure() {
	session_asks ':omig_status()' | sed -n "s/^1 0 n_.*\\[\"$1\",\\([0-9]*\\)\\].*/\\1/p"
}
events_reported() {
	grep -c "^$watch 1 0 - .*,$1\$" "$TMPDIR/session.out"
}
events_go_on() {
	for p in $good; do
		until_true 10 more_events "$p" "$(events_reported "$p")" || return 1
	done
}
more_events() {
	[ "$(events_reported "$1")" -gt "$2" ]
}
fds_are_few() { # MORE than at the start
	now=$(figure fds)
	echo "$now descriptors, $fds at the start"
	[ "$now" -le $((fds + $1)) ]
}
storm_is_weathered() { # KIND N
	vandal "$1" 60000 "$2"
	rc=$?
	fds_are_few 80
	few=$?
	v_ends
	[ $rc = 0 ] && [ $few = 0 ] && lm_lives
}

rm -f "$TMPDIR"/good.*
timeout $((120 * PATIENCE)) omig run --measure=volume -- "mpirun.$f" -n 2 "$T/fate.$f" \
	"$TMPDIR/good" -1 none >"$TMPDIR/good.out" 2>"$TMPDIR/good.err" &
job=$!
check 'a good program is watched' until_true 20 ranks_are 2
socket=$(lm_socket)
caid=$(caid)
lm=$(daemon_pid lm)
session_begins
good=$(tokens_of p)
session_asks 'thread_has_started_lib_call([],"MPI_Barrier"): print([$proc])' >/dev/null
watch=1
check 'its events come' events_go_on
fds=$(figure fds)
rss=$(figure rss_bytes)

# --- files that are not segments, and never become one
check 'its file is not sealed' refused unsealed 'not sealed'
check 'its size is another one' refused size 'not have the size in its header'
check 'it is truncated after that' refused truncated '(not sealed|not have the size in its header)'
check 'it has grown' refused grown 'has a size of [0-9]+ bytes, the file has [0-9]+'
check 'an ordinary file' refused file 'not a memory file'
check 'a pipe with a name' refused fifo 'not a memory file'
check 'a device' refused device 'not a memory file'
check 'a directory' refused directory 'not a memory file'
check 'a file of 1 TiB' refused sparse 'not a memory file'
if vandal huge 0; then
	check 'memory of huge pages' refused huge 'plain pages'
else
	skip 'memory of huge pages' 'this kernel has none'
fi
v_ends
check 'another magic number' refused magic 'not a segment of omig'
check 'another version of the layout' refused version \
	'segment layout [0-9]+, this program knows [0-9]+'
check 'an offset beyond the end' refused beyond 'contradicts itself'
check 'more thread blocks than there can be' refused blocks 'contradicts itself'
check 'parts that lie over each other' refused overlap 'contradicts itself'
check 'a header of random words' refused header '(segment layout|contradicts itself)'
check 'it says that it is process 1' refused pid 'belongs to process 1"' 1
check 'it says that it is the good program' refused pid 'belongs to process' \
	"$(cat "$TMPDIR/good.pid.0")"

# --- messages that are not registrations
check 'a message with another magic number' refused message 'not a message of libomig'
check 'a message of another version' refused other \
	'lm has segment version [0-9]+, libomig has [0-9]+: .omig stop.'
check 'half a message' refused half 'not a message of libomig'
check 'no descriptor' refused nofd 'no single descriptor'
check 'two descriptors' refused twofds 'no single descriptor'
check 'two hundred descriptors' refused manyfds 'no single descriptor'
check 'none of these is still open' until_true 10 fds_are_few 1
stolen_is_ignored() {
	vandal stolen 300000 "$(cat "$TMPDIR/good.pid.0")"
	events_go_on
	rc=$?
	in_tree "$v"
	seen=$?
	v_ends
	[ $rc = 0 ] && [ $seen != 0 ] && lm_lives
}
check "the good program's own segment, from another process" stolen_is_ignored

# --- another user
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$T/vandal" "$OMIG_RUNTIME_DIR/vandal"
	as_nobody() {
		(cd "$OMIG_RUNTIME_DIR" && exec setpriv --reuid=nobody --clear-groups ./vandal \
			"./${socket##*/}" "$caid" good 300000)
	}
	check "another user does not reach the socket" says 'Permission denied' as_nobody
	chmod 711 "$OMIG_RUNTIME_DIR"
	chmod 755 "$OMIG_RUNTIME_DIR/vandal"
	chmod 777 "$socket"
	nobody_is_refused() {
		as_nobody >"$TMPDIR/nobody.out" 2>&1 7>&- &
		nobody=$!
		until_true 30 test -s "$TMPDIR/nobody.out"
		v=$(cat "$TMPDIR/nobody.out")
		until_true 5 log_has lm \
			"not watched pid=$v reason=\"it belongs to user [0-9]*, not to this user"
		kill -KILL "$v"
		wait $nobody
		lines_about "$v"
		[ "$(lines_about "$v" | grep -c 'it belongs to user')" = 1 ] && lm_lives
	}
	check "nor in, when permissions are wrong" nobody_is_refused
	chmod 600 "$socket"
	chmod 700 "$OMIG_RUNTIME_DIR"
	rm "$OMIG_RUNTIME_DIR/vandal"
else
	skip 'another user' 'only root can play one'
fi

# --- watched segments with false contents
check 'a text without end in it: it is watched' contained good
check 'set up late: it is watched then' contained late
check 'sequence words that stay odd' contained odd
check 'action lists that never end' contained cycle
check 'its memory is given back while it is watched' contained punched
for kind in full back wild crossing nothing giant; do
	check "its ring: $kind" detached $kind
done
flips_are_survived() {
	vandal flip 5000
	until_true 5 is_followed
	for _ in 1 2 3 4 5 6 7 8 9 10; do reads; done
	v_ends
	lm_lives
}
check 'all words change all the time, and are read' flips_are_survived
check 'events of the good program continue' events_go_on

# --- very many
check '500 silent connections' storm_is_weathered silent 500
check '10,000 registrations that are none' storm_is_weathered storm_bad 10000
check '3,000 segments of one process' storm_is_weathered storm 3000
vandal storm_unready 60000 1000
# connections that the lm has just accepted are open, too, until it has read them
check 'segments that are never set up hold few descriptors' until_true 10 fds_are_few 80
watched_steady "$f" 2 >"$TMPDIR/beside.out" 2>"$TMPDIR/beside.err" 7>&-
check 'a program that begins beside them ends well' test $? = 0
check 'and its output is unchanged' same_output beside "$f" 2
both_taken() {
	[ "$(omig tree | grep -c "steady.$f .*ended")" = 2 ]
}
check 'it was watched' until_true 10 both_taken
v_ends
check 'all is given back' until_true 20 fds_are_few 1
memory_is_bounded() {
	echo "$(($(figure rss_bytes) / 1024)) KiB, $((rss / 1024)) at the start"
	[ $(($(figure rss_bytes) - rss)) -lt 8388608 ]
}
check 'memory stays bounded' memory_is_bounded
log_is_short() {
	log_of lm | wc -l
	[ "$(log_of lm | wc -l)" -lt 1500 ]
}
check 'so does the log' log_is_short

# --- an lm that starts later finds their memory files like those of other processes
vandals=
for kind in unsealed header unready odd; do
	vandal $kind
	vandals="$vandals $v"
done
check 'the lm is killed among them' kill_hard lm
env OMIG_MAINSM="$(cat "$OMIG_STATE_DIR/mainsm/mainsm.conn")" lm 2>"$TMPDIR/lm.err"
taken_over() { # in all jobs
	cat "$TMPDIR/lm.err"
	[ "$(sed -n 's/.*took over \([0-9]*\) running processes job=.*/\1/p' "$TMPDIR/lm.err" |
		awk "{ n += \$1 } END { print n }")" = "$1" ]
}
check 'a new one takes over what is fit' taken_over 3
lm=$(daemon_pid lm)
check 'and serves' until_true 20 is_followed
check 'and reads them' until_true 20 reads
check 'events of the good program continue again' events_go_on
for v in $vandals; do v_ends; done

# --- the good program: counted exactly
: >"$TMPDIR/good.end"
wait $job
check 'the good program ended well' test $? = 0
exactly() {
	request ':proc_get_info([],512)' >"$TMPDIR/pids"
	for r in 0 1; do
		t=$(sed -n "s/^\\(p_[0-9a-z_]*\\).*[^0-9]$(cat "$TMPDIR/good.pid.$r")\$/\\1/p" \
			"$TMPDIR/pids")
		n=$("$T/fate.$f" books "$TMPDIR/good.books.$r" | cut -d' ' -f1)
		request ":omig_calls_read([$t],0)" >"$TMPDIR/calls"
		echo "rank $r: $n"
		cat "$TMPDIR/calls"
		grep -q "\"MPI_Barrier\",\"barrier\",$n,.*\"MPI_Reduce_local\",\"other\",$n," \
			"$TMPDIR/calls" || return 1
	done
}
check 'and its calls are counted exactly' exactly
check 'no message of Omig on its stderr' no_word_of_ours "$TMPDIR/good.err"
check 'the lm is the one that it was' lm_lives
session_ends
tap_end
