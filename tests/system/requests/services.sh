#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Services of Linux without tracing, on a real process through mainsm, an sm and the lm: priorities,
# signals of threads, suspending, memory, modules, files. Each is refused without the right, for
# absent objects, and for objects of another kind.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need lm sm mainsm omig
need_subject

said() { # NAME WORD: the first value behind it
	sed -n "s/^$2 \([^ ]*\).*/\1/p" "$TMPDIR/$1.out" | head -n 1
}
in_state() { # LETTERS: of the first subject
	grep -Eq "^State:[[:space:]]*[$1]" "/proc/$one/status"
}
nice_is() { # TID NICE
	[ "$(sed 's/.*) //' "/proc/$one/task/$1/stat" | cut -d' ' -f17)" = "$2" ]
}
asks() { # REQUEST: of the connected tool; the first entry is OK
	session_asks "$1" >"$TMPDIR/asked" 2>&1
	cat "$TMPDIR/asked"
	grep -q '^1 0' "$TMPDIR/asked"
}

own_host
subject a
one=$subject
exec 8>"$TMPDIR/a.in"
subject b
two=$subject
exec 9>"$TMPDIR/b.in"
check 'two programs run' until_true 20 grep -q code "$TMPDIR/a.out" "$TMPDIR/b.out"
p=$(token_of "$one") gone=$(token_of "$two")
check 'both are watched' [ "${p:+1}${gone:+1}" = 11 ]
check 'by way of an sm' daemon_pid sm
tid=$(sed -n 's/^threads [0-9]* //p' "$TMPDIR/a.out")
thread_is_reported() {
	t=$(request ":thread_get_info([$p],128)" | sed -n "s/^\(t_[^:]*\): $tid\$/\1/p")
	[ -n "$t" ]
}
check 'its second thread has a token' until_true 20 thread_is_reported
t=$(request ":thread_get_info([$p],128)" | sed -n "s/^\(t_[^:]*\): $tid\$/\1/p")
written=$(said a written) constant=$(said a constant) unset=$(said a unset) code=$(said a code)

# --- flags
fields() { request ":$1([$2],$3)" | tr -cd , | wc -c; }
all_fields() { [ "$(fields "$1" "$2" -1)" = "$(fields "$1" "$2" "$3")" ] &&
	[ "$(fields "$1" "$2" -1)" -gt "$4" ]; }
check '-1 is all of a node' all_fields node_get_info '' 131071 50
check '-1 is all of a process' all_fields proc_get_info "$p" $(((1 << 31) - 1)) 20
check '-1 is all of a thread' all_fields thread_get_info "$t" $(((1 << 20) - 1)) 5

# --- priorities and signals
check 'a priority of one thread' answered 0 '^OK$' ":thread_set_priority([$t],5)"
check 'is of that thread' nice_is "$tid" 5
check 'and of no other' nice_is "$one" "$(nice)"
check 'a priority of the process' answered 0 '^OK$' ":proc_set_priority([$p],9)"
check 'is of all threads' nice_is "$tid" 9
check 'also of the first' nice_is "$one" 9
check 'its priority is shown plus 20' answered 0 ': 29$' ":proc_get_info([$p],4096)"
check 'what is not a nice value' answered 2 'PARAMETER_ERROR.*-20 to 19' \
	":proc_set_priority([$p],20)"
check 'a signal for a thread' answered 0 '^OK$' ":thread_send_signal([$t],10)"
check 'reaches it' until_true 10 grep -qx "signal 10 $tid" "$TMPDIR/a.out"
check 'what is not a signal' answered 2 PARAMETER_ERROR ":thread_send_signal([$t],65)"

# --- actions behind a ';' see the effects of those before
states_are() { # STATES REQUEST: of the second action, one a process
	request "$2" | sed -n 's/^.*: \([0-9]\)$/\1/p' | sort -u | tr '\n' ' ' | grep -Eqx "($1 )+"
}
stands_and_runs() {
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		states_are 4 ":thread_stop([$p,$gone]) ; proc_get_info([$p,$gone],1024)" || return 1
		states_are '[01]' ":thread_continue([$p,$gone]) ; proc_get_info([$p,$gone],1024)" ||
			return 1
	done
}
check 'twenty stops are seen by what is behind them, twenty continues too' stands_and_runs
ends_are_seen() {
	for i in 1 2 3 4 5; do
		sleep 1000 &
		q=$(request ":proc_attach3(n_1,$!,\"\")" | sed 's/.*: //')
		states_are 3 ":proc_send_signal([$q],9) ; proc_get_info([$q],1024)" || return 1
	done
}
check 'so is the end by a signal' ends_are_seen

# --- events that cannot occur in a program without libomig
cannot() { # EVENT
	comes_out 2 \
		'PARAMETER_ERROR c_[0-9]*: not enabled, it can never happen: p_[0-9a-z_]*: the process runs without libomig' \
		request --follow 5s "$1: print([1])"
}
check 'a probe of a program without libomig' cannot "thread_executes_probe([$p],\"step\")"
check 'a library call of one' cannot "thread_has_started_lib_call([$p],\"MPI_Send\")"

# --- suspending, by a connected tool
session_begins
check 'a tool suspends a thread' asks ":thread_suspend([$t])"
check 'its process is held' until_true 10 in_state T
check 'and no tool is notified' answered 0 ': 1$' ":proc_get_info([$p],1024)"
check 'it does it once more' asks ":thread_suspend([$t])"
check 'another tool stops and continues' answered 0 '^OK$' \
	":thread_stop([$p]) ; thread_continue([$p])"
check 'another tool resumes' answered 0 '^OK$' ":thread_resume([$p])"
check 'it is held' in_state T
check 'one resume' asks ":thread_resume([$t])"
check 'it is held still' in_state T
check 'two resumes' asks ":thread_resume([$t])"
check 'it runs' until_true 10 in_state SR
check 'the tool suspends again' asks ":thread_suspend([$p])"
check 'it is held again' until_true 10 in_state T
session_ends
check 'the tool has left: it runs' until_true 10 in_state SR
session_begins
check 'a tool suspends' asks ":thread_suspend([$p])"
check 'held' until_true 10 in_state T
check 'the lm is killed' kill_hard lm
check 'it runs, without a tool' until_true 10 in_state SR
lm --background 2>>"$TMPDIR/lm.log"
session_ends
has_node() { nodes_are 1 && p=$(token_of "$one") && gone=$(token_of "$two") && [ -n "$p" ] &&
	[ -n "$gone" ] && thread_is_reported; }
check 'all is watched again' until_true 30 has_node
p=$(token_of "$one") gone=$(token_of "$two")
thread_is_reported

# --- stopping is an event
session_begins
ended() { # EVENT OBJECT: a conditional request that prints; its line
	session_asks "$1([$2]): print([\$thread,\$proc])" >/dev/null
	wc -l <"$TMPDIR/session.asked"
}
stopped=$(ended proc_has_been_stopped "$p") continued=$(ended proc_has_been_continued "$p")
tstopped=$(ended thread_has_been_stopped "$t") tcontinued=$(ended thread_has_been_continued "$t")
check 'another tool stops and continues it' answered 0 '^OK$' \
	":thread_stop([$p]) ; thread_continue([$p])"
told() { session_told "$1" | grep -q "^1 0 .*$2"; }
check 'the stop is an event' until_true 10 told "$stopped" "$p"
check 'the continue is one' until_true 10 told "$continued" "$p"
check 'also of a thread' until_true 10 told "$tstopped" "$t,$p"
check 'both' until_true 10 told "$tcontinued" "$t,$p"
check 'a thread is detached' asks ":thread_detach([$t])"
not_seen() { ! asks ":thread_get_info([$t],1)" && asks ":thread_get_info([$p],1)" &&
	! grep -q "$t" "$TMPDIR/asked"; }
check 'it is no longer seen' not_seen
check 'it comes back with its process' asks \
	":proc_detach([$p]) proc_attach([$p]) thread_get_info([$t],1)"
session_ends

# --- memory
hex_of() { # TEXT: bytes as a list
	printf '%s' "$1" | od -An -v -tu1 | tr -s ' \n' ',' | sed 's/^,//;s/,$//'
}
if answered 0 ': \[' ":proc_read_memory([$p],$written,4,4,1)" >/dev/null; then
	check 'memory is read' answered 0 ": \\[$(hex_of 'what may')\\]" \
		":proc_read_memory([$p],$written,8,8,1)"
	check 'in blocks' answered 0 ": \\[$(hex_of 'whmae ')\\]" \
		":proc_read_memory([$p],$written,2,5,3)"
	check 'as a binary value' answered 0 ': 8#what may' \
		":proc_read_memory_bin([$p],$written,8,8,1)"
	check 'as JSON' says '"base16":"77686174"' omig request --json \
		":proc_read_memory_bin([$p],$written,4,4,1)"
	check 'memory is written' answered 0 '^OK$' \
		":proc_write_memory([$p],$written,1,5,[87,77,66])"
	check 'in blocks too' answered 0 ': 14#What May bB wr' \
		":proc_read_memory_bin([$p],$written,14,14,1)"
	check 'a binary value is written' answered 0 '^OK$' \
		":proc_write_memory_bin([$p],$written,4,4,4#that)"
	check 'it is there' answered 0 ': 4#that' ":proc_read_memory_bin([$p],$written,4,4,1)"
	check 'the same program elsewhere is as it was' answered 0 ': 4#what' \
		":proc_read_memory_bin([$gone],$(said b written),4,4,1)"
	if answered 0 '^OK$' ":proc_write_memory_bin([$p],$constant,4,4,4#that)" >/dev/null; then
		check 'what the program may only read is written' answered 0 ': 4#that' \
			":proc_read_memory_bin([$p],$constant,4,4,1)"
	else
		skip 'what the program may only read is written' 'this kernel keeps it for tracers'
	fi
	check 'an address that is not there' answered 1 'OS_ERROR .*0x10:' \
		":proc_read_memory([$p],16,4,4,1)"
	check 'nothing is written there' answered 1 'OS_ERROR .*0x10:' \
		":proc_write_memory([$p],16,1,1,[1])"
else
	skip memory 'the kernel shows memory to tracers only (kernel.yama.ptrace_scope)'
fi
for shape in "-1,1,1,1" "$written,0,1,1" "$written,4,3,1" "$written,4,4,0" \
	"$written,65537,65537,1" "$written,1,1,4097"; do
	check "a shape that makes no sense: $shape" answered 2 PARAMETER_ERROR \
		":proc_read_memory([$p],$shape)"
done
check 'what is not a byte' answered 2 PARAMETER_ERROR ":proc_write_memory([$p],$written,1,1,[256])"

# --- modules
inside() { # ADDR FIELD: it is in [FIELD, FIELD+next) of the first module
	start=$(echo "$first" | cut -d, -f"$2") len=$(echo "$first" | cut -d, -f$(($2 + 1)))
	[ $(($1)) -ge "$start" ] && [ $(($1)) -lt $((start + len)) ]
}
modules=$(request ":proc_get_loader_info([$p])")
first=$(echo "$modules" | sed 's/^[^:]*: [0-9]*,\[\([^]]*\)\].*/\1/')
check 'the program is the first module' [ "$(echo "$first" | cut -d, -f1)" = \
	"\"$(readlink "/proc/$one/exe")\"" ]
check 'its code is where it says' inside "$code" 3
check 'its data' inside "$written" 5
check 'its bss' inside "$unset" 7
check 'the C library is another one' says 'libc' echo "$modules"

# --- files
check 'a file of the node' answered 0 'MemTotal:.*kB' \
	":node_get_file_listing([$node],\"/proc/meminfo\",0,0)"
check 'a part of it' answered 0 ': "Linux"$' ":node_get_file_listing([$node],\"/proc/version\",0,5)"
for file in /etc/passwd /proc/1/environ /proc/../etc/passwd proc/meminfo '/proc/meminfo '; do
	check "not $file" answered 5 "NO_PERMISSION .*'files'" \
		":node_get_file_listing([$node],\"$file\",0,0)"
done
check 'a list in lm.conf that makes no sense' status_is 78 env OMIG_FILES=/a/../b lm --host \
	elsewhere
check 'is found before it is used' status_is 78 env OMIG_FILES=relative lm --check-config

# --- refusals, each for each service
services="proc_set_priority(@,1)
thread_set_priority(@,1)
thread_send_signal(@,10)
thread_suspend(@)
thread_resume(@)
proc_read_memory(@,$written,4,4,1)
proc_read_memory_bin(@,$written,4,4,1)
proc_write_memory(@,$written,1,1,[1])
proc_write_memory_bin(@,$written,1,1,1#a)
proc_get_loader_info(@)"
each() { # STATUS PATTERN OBJECTS COMMAND...: of each service
	want=$1 pattern=$2 objects=$3
	shift 3
	echo "$services" >"$TMPDIR/services"
	while read -r service; do
		"$@" ":$(echo "$service" | sed "s/@/$objects/")" >"$TMPDIR/answer" 2>&1 </dev/null
		got=$?
		echo "$service: $got"
		cat "$TMPDIR/answer"
		echo $got | grep -Eqx "$want" || return 1
		grep -Eq -- "$pattern" "$TMPDIR/answer" || return 1
	done <"$TMPDIR/services"
}
observer=$(omig cert token tool-observe)
check 'an observer can list modules' says '"/.*subject"' as_observer ":proc_get_loader_info([$p])"
check 'and files' says MemTotal as_observer ":node_get_file_listing([$node],\"/proc/meminfo\",0,0)"
all=$services
services=$(echo "$all" | grep -v loader)
check 'and may do nothing' each 5 'NO_PERMISSION .* needs the right manipulate' "[$p]" as_observer
as_event() { as_observer --follow 5s "proc_has_terminated([]): ${1#:}"; }
check 'nor by way of an event' each 5 'NO_PERMISSION .* needs the right manipulate' "[$p]" as_event
services=$all
check 'an empty list: no process' each 0 '' '[]' request --no-attach
check 'what is not attached is not there' each 4 UNKNOWN_OBJECT "[$p]" request --no-attach
check 'no such thing' each 4 UNKNOWN_OBJECT '[p_1_zzzzzz]' request
check 'another kind of thing' each 2 TYPE_MISMATCH '[c_1]' request
check 'a node that is none' answered 4 UNKNOWN_OBJECT \
	':node_get_file_listing([n_99],"/proc/stat",0,0)'
check 'pid 1 has no token' answered 4 'no process of this user' ":proc_attach3([$node],1,\"\")"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1; then
	setpriv --reuid 65534 --clear-groups sleep 900 &
	theirs=$!
	is_theirs() { grep -q '^Uid:[[:space:]]*65534' "/proc/$theirs/status"; }
	until_true 20 is_theirs
	check "another user's process has none" answered 4 'no process of this user' \
		":proc_attach3([$node],$theirs,\"\")"
	kill "$theirs"
else
	skip "another user's process has none" 'that takes root and setpriv'
fi
exec 9>&-
is_gone() { [ ! -d "/proc/$two" ] || grep -q '^State:.[ZX]' "/proc/$two/status"; }
check 'one program ends' until_true 10 is_gone
has_ended() { omig tree | grep -q "ended"; }
until_true 10 has_ended
check 'it is gone for all of them' each 4 UNKNOWN_OBJECT "[$gone]" request
check 'the other one runs' in_state SR
exec 8>&-
tap_end
