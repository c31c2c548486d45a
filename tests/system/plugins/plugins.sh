#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plug-ins: services of shared objects, through mainsm, sm and lm. Whatever one does, the lm and its
# other services go on.
. tests/system/lib.sh
own_host
need cc

good=$B/examples/counters.so
[ -e "$good" ] || skip_all 'no example of a plug-in'

compile() { # NAME NUMBER
	cc -DBAD="$2" -I"$B/examples/include" -fPIC -shared -o "$TMPDIR/$1.so" \
		tests/system/plugins/bad.c
}
n=0
for name in bad version nosymbol atload atopen refuses hangs builtin badtype same service; do
	check "$name compiles" compile $name $n
	n=$((n + 1))
done

omig run -- sleep 900 &
job=$!
check 'a host is there' until_true 30 nodes_are 1
added() {
	omig plugin add "$TMPDIR/$1.so"
}

# --- a good one
check 'there is none' says '^no host has a plug-in$' omig plugin list
check 'it is added' says '^n_1 has plug-in counters: device_counters, device_list, ' \
	omig plugin add "$good"
check 'again: nothing changes' says '^n_1 has plug-in counters: ' omig plugin add "$good"
check 'it is listed' says '^n_1 +counters +ready +0 +0 +0 .*counters\.so +-$' omig plugin list
completed() { # as a shell does after a tab
	# shellcheck disable=SC2016 # bash's own
	bash -c 'source "$1"; COMP_WORDS=(omig plugin remove co); COMP_CWORD=3; _omig
	printf "%s\n" "${COMPREPLY[@]}"' - "$B/share/omig.bash" | grep -Fx counters
}
check 'bash completes its name' completed
check 'as JSON' says '"name":"counters",.*"state":"ready","pid":[0-9]+,.*"services":\["device_c' \
	omig plugin list --json
check 'services() has them' says '^5,"device_counters","device_list",' \
	omig request ':services("plugin")'
check 'omig services --ask, too' says 'library_counters' omig services --ask
check 'their parameters' says \
	'"device_counters\(token\* node_list, string kind, string device\)".*\[n_1\]' \
	omig request ':omig_plugin_services()'
check 'a device is read' says '\["rx_bytes",[0-9]+\],\["rx_packets",[0-9]+\]' \
	omig request ':device_counters([],"net","lo")'
grown() {
	a=$(omig request ':device_counters([],"net","lo")' | grep -o 'rx_packets",[0-9]*')
	b=$(omig request ':device_counters([],"net","lo")' | grep -o 'rx_packets",[0-9]*')
	[ "${b#*,}" -gt "${a#*,}" ]
}
check 'its counters grow with our own traffic' until_true 10 grown
check 'a device that is not there' says 'OS_ERROR n_1: there is no such network interface' \
	omig request ':device_counters([],"net","none")'
check 'no path leads elsewhere' says 'there is no such block device' \
	omig request ':device_counters([],"block","../../proc")'
check 'a process' says '^p_1_[a-z0-9]+: [1-9][0-9]*$' omig request ':process_descriptors([])'
check 'too few parameters' says 'PARAMETER_ERROR device_counters takes 3 parameters, not 2' \
	omig request ':device_counters([],"net")'
check 'of another type' says 'TYPE_MISMATCH parameter kind of device_counters takes a string' \
	omig request ':device_counters([],5,"lo")'
check 'a slip of the pen' says 'did you mean device_list' omig request ':device_lits([])'
check 'no event' says 'is not an event service' \
	omig request --follow 1 'device_list([]): print([1])'
check 'what carries them is internal' says 'UNKNOWN_SERVICE' \
	omig request ':omig_plugin_info([],"device_list",[])'
library() {
	z='\000\000\000\000\000\000\000'
	# shellcheck disable=SC2059 # z has escapes
	printf "counters\002$z%-24s\007$z%-24s\011$z" solves restarts >"/dev/shm/omig-test-$$"
	says '\["solves +",7\],\["restarts +",9\]' \
		omig request ":library_counters([],\"omig-test-$$\")"
}
check 'counters of a library' library
: >"/dev/shm/omig-test-$$"
check 'an empty one' says 'OS_ERROR' omig request ":library_counters([],\"omig-test-$$\")"
rm -f "/dev/shm/omig-test-$$"

# --- refused ones
check 'no file' status_is 4 omig plugin add none.so
check 'no path' says 'is not an absolute path' omig request ':omig_plugin_add([],"counters.so")'
check 'another version' says 'made for version 99 of plug-ins, this lm has version 1' added version
check 'no symbol' says 'has no symbol omig_plugin' added nosymbol
check 'a crash while it is loaded' says 'the process of the plug-in has ended' added atload
check 'a crash in open' says 'the process of the plug-in has ended' added atopen
check 'a failure in open' says 'it refused to open: the device is away' added refuses
check 'a hang in open' says 'did not answer within 1.5 s' added hangs
check 'a built-in name' says 'node_get_info is a built-in service' added builtin
check 'a type that is none' says "'text' is not a type" added badtype
check 'no shared object' says 'it cannot be loaded' \
	sh -c 'echo text >"$TMPDIR/text.so" && omig plugin add "$TMPDIR/text.so"'
check 'none of them is left' says '^counters$' \
	sh -c 'omig plugin list --json | tr , "\n" | sed -n "s/.*\"name\":\"\(.*\)\"/\1/p"'
writable() {
	cp "$TMPDIR/bad.so" "$TMPDIR/writable.so" && chmod 666 "$TMPDIR/writable.so" &&
		says 'others may write .*: chmod go-w ' added writable
}
check 'a file that others may write' writable
no_zombies() {
	! cat /proc/[0-9]*/stat 2>/dev/null | grep -q '(lm-plugin) Z'
}
check 'their processes have been reaped' until_true 10 no_zombies
linked() {
	ln -s bad.so "$TMPDIR/link.so" &&
		says 'is not a regular file' omig request ":omig_plugin_add([],\"$TMPDIR/link.so\")"
}
check 'a link' linked

# --- one that misbehaves
check 'a bad one is added' says 'has plug-in bad: bad_answer' added bad
check 'a second one of its name' says 'bad is the name of .*/bad.so already' added same
check 'a second service of that name' says 'plug-in bad .* has a service bad_answer already' \
	added service
check 'it answers' says '^n_1: 1$' omig request ':bad_answer([])'
check 'its process stays' says '^n_1: 2$' omig request ':bad_answer([])'
check 'its failure is an error' says 'OS_ERROR n_1: this one always fails' \
	omig request ':bad_fail([])'
check 'lists that do not end' says 'lists that do not match' omig request ':bad_lists([])'
large() {
	[ "$(omig request ':bad_large([],200000)' | tr -cd x | wc -c)" = 200000 ]
}
check 'a large result' large
check 'one that is too large' says 'the result has more than 262144 bytes' \
	omig request ':bad_large([],1048576)'
check 'defaults' says '^n_1: 7,"",0,0.0,3#a.x00b$' omig request ':bad_echo([],7)'
check 'all parameters' says '^n_1: 7,"t",2,2.5,3#a.x00b$' \
	omig request ':bad_echo([],7,"t",[1,2.5])'
check 'a change' says '^p_1_[a-z0-9]+: [0-9]+$' omig request ':bad_change([])'
observe() {
	token=$(omig cert token tool-observe)
	says 'bad_change needs the right manipulate' env OMIG_STATE_DIR="$TMPDIR/observer" \
		omig request --mainsm "$token" ':bad_change([])'
}
check 'a change needs the right' observe
check 'it is in the audit' says 'bad_change' omig audit
check 'it crashes in a call' says 'OS_ERROR n_1: the process of the plug-in has ended' \
	omig request ':bad_crash([])'
check 'the lm answers at once' says '^n_1: "' omig request ':node_get_info([],1)'
check 'the other plug-in, too' says '^n_1: \[' omig request ':device_list([])'
check 'the next call waits for its time' says '\(1 in a row\)|^n_1: 1$' \
	omig request ':bad_answer([])'
check 'then it is started again' until_true 10 says '^n_1: 1$' omig request ':bad_answer([])'
check 'it exits in a call' says 'OS_ERROR n_1: the process of the plug-in has ended' \
	omig request ':bad_leave([])'
check 'and is started again' until_true 10 says '^n_1: 1$' omig request ':bad_answer([])'
check 'it hangs' says 'OS_ERROR n_1: the plug-in did not answer within 1.5 s' \
	omig request --timeout 20s ':bad_hang([])'
check 'meanwhile the lm goes on' says '^n_1: "' omig request ':node_get_info([],1)'
check 'it is killed between calls' until_true 10 says '^n_1: [0-9]+$' omig request ':bad_answer([])'
kill_it() {
	kill -KILL "$(omig plugin list --json | tr '{' '\n' |
		sed -n 's/.*"name":"bad".*"pid":\([0-9]*\).*/\1/p')"
}
check 'by its user' kill_it
check 'that is known' until_true 10 says '^n_1 +bad +waiting' omig plugin list
check 'and no harm' until_true 10 says '^n_1: 1$' omig request ':bad_answer([])'
limited() {
	omig request --timeout 20s ':bad_leak([])' | tee "$TMPDIR/mib"
	mib=$(sed -n 's/^n_1: \([0-9]*\)$/\1/p' "$TMPDIR/mib")
	[ "$mib" -gt 100 ] && [ "$mib" -lt 512 ]
}
check 'its memory is limited' limited

# --- another lm
restarted() {
	says '^n_1: \[' omig request ':device_list([])' && omig plugin list | grep -q bad
}
kill_lm() {
	for p in $(leftovers); do
		[ "$(cat "/proc/$p/comm")" != lm ] || kill -KILL "$p"
	done
}
check 'the lm is killed' kill_lm
omig run -- sleep 900 &
second=$!
check 'the next one has the same plug-ins' until_true 30 restarted
check 'one is removed' omig plugin remove bad
check 'its services are gone' until_true 10 \
	says "UNKNOWN_SERVICE there is no service 'bad_answer'" omig request ':bad_answer([])'
check 'it cannot be removed twice' says 'there is no plug-in bad' omig plugin remove bad
check 'the other one stays' says '^n_1 +counters +(ready|waiting)' omig plugin list
check 'which word?' status_is 2 omig plugin
check 'no list of nodes' status_is 2 omig plugin list --nodes 'n_1]) print(['
kill $job $second
tap_end
