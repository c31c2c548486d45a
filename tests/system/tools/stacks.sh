#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig stacks: ranks that hang, as one tree and in words; under each MPI.
# timeout: 120
. tests/system/lib.sh
. tests/system/faults.sh
need strip

for f in openmpi mpich; do
	program=$T/underway.$f
	if ! [ -x "$program" ] || ! command -v mpirun.$f >/dev/null; then
		skip "$f: stacks" "no $f"
		continue
	fi
	mkdir "$TMPDIR/$f"
	omig run --job hangs -- mpirun.$f -n 4 "$program" absent "$TMPDIR/$f" >"$TMPDIR/out" 2>&1 &
	job=$!
	check "$f: the ranks are visible" until_true 20 ranks_are 4
	omig stacks --json >"$TMPDIR/first" 2>&1
	if grep -q 'ptrace_scope\|UNSUPPORTED' "$TMPDIR/first"; then
		kill $job
		skip_all "ptrace is not for us here: $(cat "$TMPDIR/first")"
	fi
	check "$f: the first line says where they are" until_true 20 says \
		'^3 of 4 ranks .*; rank 0 waits in MPI_Barrier \(underway.c:[0-9]+\)$' omig stacks
	check "$f: the tree has the ranks" says \
		'^1 \[0\] main underway.c:[0-9]+ - MPI_Barrier$' env LC_ALL=C omig stacks
	check "$f: without characters that a terminal may not have" sh -c \
		'! LC_ALL=C omig stacks | LC_ALL=C grep "[^ -~]"'
	check "$f: with them where it has" says ' [^ -~]+ MPI_Barrier$' env LC_ALL=C.UTF-8 \
		omig stacks
	check "$f: all frames on request" says '__libc_start' omig stacks --deep
	check "$f: for programs" says \
		'^\{"summary":"3 of 4 ranks .*"function":"main","file":"[^"]*underway.c","line":[1-9]' \
		omig stacks --json
	check "$f: of some ranks" says '^\{"summary":"rank 0 waits in MPI_Barrier' \
		omig stacks --ranks 0 --json
	check "$f: of ranks that are not there" comes_out 4 'no such rank runs' omig stacks \
		--ranks 7-9,100
	check "$f: ranks are numbers" comes_out 2 "ranks such as 0-15,20, not 'x'" \
		omig stacks --ranks x
	check "$f: of a job that is not there" status_is 4 omig stacks --job hnags
	end_tree_of() { kill $job 2>/dev/null; wait $job; true; }
	check "$f: it ends" end_tree_of
	check "$f: its ranks have ended" until_true 20 ranks_are 0
	check "$f: which is reported" comes_out 4 'all ranks have ended|no process' omig stacks \
		--job hangs
	cp "$(heat $f)" "$TMPDIR/stripped.$f"
	strip "$TMPDIR/stripped.$f"
	omig run --job bare -- mpirun.$f -n 2 "$TMPDIR/stripped.$f" --seconds 900 \
		>"$TMPDIR/out" 2>&1 &
	job=$!
	check "$f: a stripped program is visible" until_true 20 ranks_are 2
	check "$f: it is reported without symbols" until_true 20 says \
		"^stripped.$f has no symbols" omig stacks --job bare
	check "$f: it ends as well" end_tree_of
	check "$f: with its ranks" until_true 20 ranks_are 0
done
tap_end
