#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No peer gains a role: by a rank's environment, output for an observer, or a tool's name.
# timeout: 120
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
f=$one_flavour
A=$T/attack

job j "$f" 2
check 'the program is watched' until_true 20 ranks_are 2
holds j
rank=$(tokens_of p | head -n 1)
pid=$(cat "$TMPDIR/j.pid.0")
own=$(cat "$OMIG_STATE_DIR/mainsm/mainsm.conn")

# --- the string in a rank's environment
stolen=$(tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^OMIG_MAINSM=//p')
no_secret_of_the_owner() { ! tr '\0' '\n' <"/proc/$pid/environ" | grep -F "${own##*.}"; }
check "the owner's secret is not in its environment" no_secret_of_the_owner
check 'a token for hosts is' test "${stolen#*:lm-}" != "$stolen"
for role in tool tool-observe tool-manipulate tool-admin sm factory; do
	check "which makes no $role" says 'this token is for another role' "$A" enrol "$stolen" \
		$role '' root@vm
done
as_thief() { env OMIG_STATE_DIR="$TMPDIR/thief" OMIG_MAINSM="$stolen" "$@"; }
check 'nor lists certificates' comes_out 5 'another role' as_thief omig cert list
for host in ../x a/b .. -h; do
	check "nor a host called $host" says 'names no host' "$A" enrol "$stolen" lm '' "$host"
done
# The normal case: a host without files of the owner.
env OMIG_STATE_DIR="$TMPDIR/far" OMIG_RUNTIME_DIR="$TMPDIR/far.run" OMIG_MAINSM="$stolen" lm \
	--host far --linger 0 2>/dev/null
far_is_up() { omig tree | grep -Eq 'node .*far.* up$'; }
check 'but the lm of a host that has nothing else' until_true 20 far_is_up
check 'by its token, for a week' says "^[0-9a-f]* +lm +far +" omig cert list
claims() {
	i=0
	while [ $i -lt 20 ]; do
		"$A" enrol "$stolen" lm "x$i" "h$i"
		i=$((i + 1))
	done >"$TMPDIR/claims" 2>&1
	grep -c 'got enrol_ack [1-9]' "$TMPDIR/claims"
}
check 'nor sites without end' test "$(claims)" = 16
check 'and reports the reason' grep -q 'no section of mainsm.conf names' "$TMPDIR/claims"

# A mainsm that makes no token in time: programs start without one, and no other token is used.
tokenless() {
	omig run -- printenv OMIG_MAINSM >"$TMPDIR/carried" 2>"$TMPDIR/warned"
	grep -Ex 'omig1:[^:]*:[0-9]+:[0-9a-z]{26}' "$TMPDIR/carried" &&
		[ "$(wc -l <"$TMPDIR/warned")" = 1 ]
}
stopped=$(daemon_pid mainsm)
kill -STOP "$stopped"
until_true 5 is_stopped "$stopped" # the signal takes effect later on a loaded machine
check 'without a token of its own a program carries none' tokenless
kill -CONT "$stopped"

# --- the output for an observer
observer=$(omig cert token tool-observe --name carol)
for bits in 2 16 32 67108863; do
	check "an observer: proc_get_info of $bits" comes_out 5 \
		'with these flags needs the right manipulate' \
		as_observer ":proc_get_info([$rank],$bits)"
done
check 'an observer: memory' comes_out 5 'needs the right manipulate' as_observer \
	":proc_read_memory([$rank],4096,1,1,1)"
check 'an observer: as the action of an event' comes_out 5 'needs the right manipulate' \
	as_observer --follow 1s \
		'thread_has_started_lib_call([],"MPI_Barrier"): proc_get_info([$proc],32)'
check 'an observer: what runs' comes_out 0 '"steady' as_observer ":proc_get_info([$rank],33554432)"
check 'an observer: omig top' says 'steady' env OMIG_STATE_DIR="$TMPDIR/observer" omig top -1 \
	--json -m "$observer"
hides_secrets() {
	request ":proc_get_info([$rank],32)" >"$TMPDIR/envp" || return 1
	grep -q 'OMIG_MAINSM=omig1:' "$TMPDIR/envp" && ! grep -F "${stolen##*.}" "$TMPDIR/envp"
}
check 'the secret of a token is not shown' hides_secrets

# --- self-chosen names
other=$(omig cert token tool-manipulate)
as_other() { env OMIG_STATE_DIR="$TMPDIR/other" "$@" -m "$other"; }
check 'it has the name of the owner' as_other omig tree
id=$(echo "${other##*:}" | cut -d. -f1)
row=$(omig cert list | grep tool-manipulate)
check 'it is listed as its token, with its label beside that' says " $id +[^ ]+@" echo "$row"
expiring() { # TIME STATUS LINE
	status_is "$2" omig cert list --expiring "$1" >"$TMPDIR/expiring"
	rc=$?
	cat "$TMPDIR/expiring"
	[ $rc = 0 ] && grep -q "$3" "$TMPDIR/expiring"
}
check 'no certificate expires within a second' expiring 1s 0 '^no certificate expires within 1.0s$'
check 'within a year some do' expiring 366d 1 \
	'^[0-9]* certificates expire within 366d, the first at'
check 'carol is named there' grep -q ' carol ' "$TMPDIR/expiring"
check 'as an object, too' says '^{"within_ns":.*"expiring":\[{"serial":.*"name":"carol"' \
	omig cert list --expiring 366d --json
check 'the one with a name has it' says ' carol +[^ ]+@' omig cert list
check 'the name is taken' comes_out '[1-9]' 'carol' omig cert token tool-observe --name carol
keep='omig_events_keep("mine",["all"],"",0,[])'
check 'the owner keeps events' request ":$keep"
check 'another of the same name does not take them' comes_out 5 'another owner' as_other omig \
	request ":$keep"
check 'nor ends that' comes_out 5 'another owner' as_other omig request \
	':omig_events_unkeep("mine",0)'
check 'the owner does' request ':omig_events_unkeep("mine",0)'

# A factory runs the code of its user.
omig neko factory --listen 127.0.0.1:0 >"$TMPDIR/factory" 2>"$TMPDIR/factory.err" &
factory=$!
check 'a factory is ready' until_true 20 grep -q : "$TMPDIR/factory"
cat >"$TMPDIR/run.conf" <<END
process.num = 2
process.1.initializer = heartbeat
process.2.initializer = nfd-s
network = lan
network.lan.delay = constant(1ms)
fd.eta = 10ms
fd.delta = 50ms
simulation.until = 200ms
real.hosts = $(cat "$TMPDIR/factory")
END
refused_by_factory() {
	as_other omig neko run "$TMPDIR/run.conf" --real -o "$TMPDIR/refused.json" && return 1
	grep -q 'another user' "$TMPDIR/factory.err"
}
check 'a factory refuses another user of the same name' refused_by_factory
check 'but its user' omig neko run "$TMPDIR/run.conf" --real -o "$TMPDIR/served.json"
kill -TERM $factory
wait $factory

# --- the lifetime that the token determines
guest=$(omig cert token tool-observe --lifetime 4s)
env OMIG_STATE_DIR="$TMPDIR/guest" omig request -m "$guest" --follow forever \
	'proc_has_terminated([]): print([1])' \
	>"$TMPDIR/guest.out" 2>&1 &
tool=$!
check 'a guest is cut when its time is over' until_true 20 is_dead $tool
check 'and gets the reason' grep -Eqi 'certificate has ended|lost' "$TMPDIR/guest.out"
check 'it does not connect again' comes_out 5 'ended|expired|not valid' env \
	OMIG_STATE_DIR="$TMPDIR/guest" omig tree -m "$guest"

check 'a name revokes all of its certificates' says '^1 revoked' omig cert revoke carol
check 'the owner is untouched' omig cert list
end_job j $job
check 'the program ended well' test $? = 0
check 'and its output is unchanged' same_output j "$f" 2
tap_end
