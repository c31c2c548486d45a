#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig attach by the pid of an mpirun whose ranks are on two other hosts. The lm of each virtual
# host sees its own processes; that of the head sees all of them, as around containers.
# timeout: 240
. tests/system/lib.sh
within_bed 2 1
. tests/system/faults.sh
bed_mainsm

ends_right() {
	: >"$TMPDIR/enough"
	wait $job
	status=$?
	cat "$TMPDIR/result"
	[ $status = 0 ] && grep -q '^0 wrong' "$TMPDIR/result"
}
list() { omig attach | tee "$TMPDIR/list"; }
# One line for each rank, at the host where it runs.
are_apart() {
	list
	[ "$(grep -c "summing.$f .*$1" "$TMPDIR/list")" = 2 ] &&
		[ "$(grep "summing.$f" "$TMPDIR/list" | awk '{print $2}' | sort -u | wc -l)" = 2 ]
}
start_lms() {
	for h in node1 node2; do "$bed" exec $h omig attach || return 1; done
}
are_watched() { says '^2 of 2 processes are watched' omig attach "$@"; }
are_detached() { says '^2 of 2 processes are detached' omig detach "$@"; }

check 'each host has an lm' start_lms
check 'and so does the head' says 'no ranks' omig attach
check 'all are known' until_true 20 nodes_are 3
for f in openmpi mpich; do
	if ! [ -x "$T/summing.$f" ] || ! command -v mpirun.$f >/dev/null; then
		skip "$f: attach" "no $f"
		continue
	fi
	rm -f "$TMPDIR/enough"
	# shellcheck disable=SC2046 # words
	$("$bed" mpirun $f node1,node2) -n 2 "$T/summing.$f" "$TMPDIR/enough" \
		>"$TMPDIR/result" 2>&1 &
	job=$!
	check "$f: each rank is listed once, at its host" until_true 60 are_apart unwatched
	omig attach $job >"$TMPDIR/first" 2>&1
	if grep -q 'ptrace_scope\|x86-64' "$TMPDIR/first"; then
		ends_right
		skip_all "$(cat "$TMPDIR/first")"
	fi
	check "$f: the pid of mpirun means the ranks of all hosts" until_true 60 are_watched $job
	check "$f: they are listed as attached" are_apart 'attached .* ago'
	check "$f: they are in the tree" until_true 20 ranks_are 2
	check "$f: their calls are counted" until_true 20 says ' [1-9][0-9.]* k?B 2/2' \
		omig measure Send_volume --count 2
	check "$f: they are detached" until_true 60 are_detached $job
	check "$f: and attached by the program's name" until_true 60 are_watched summing.$f
	check "$f: the results are right" ends_right
done
tap_end
