#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 400
# omig why finds causes that were planted, where they were planted and with their size: a short
# `make bench-why`. A busy machine may disturb a run more than the plant does, so a case has three
# attempts.
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
need python3

# attempt FLAVOUR CASE SIZE
attempt() {
	rm -rf "$TMPDIR/runs"
	MPI=$1 SIZES=$3 FOR=12s sh tests/why/run.sh "$TMPDIR/runs" "$2" || return 1
	python3 tests/why/score.py "$TMPDIR/runs"/*/
	python3 tests/why/score.py --json "$TMPDIR/runs"/*/ >"$TMPDIR/score" || return 1
	cat "$TMPDIR/runs"/*/why.json "$TMPDIR/runs"/*/why.err
	python3 - "$TMPDIR/score" "$4" <<-'END'
		import json, sys
		s = json.load(open(sys.argv[1]))
		a, p = s["all"], s["planted"]
		assert not s["broken"] and eval(f"({sys.argv[2]})"), sys.argv[2]
	END
}
attempts() {
	attempt "$@" || attempt "$@" || attempt "$@"
}
finds() { # FLAVOUR CASE SIZE
	check "$1: $2 is found" attempts "$@" 'a["recall"] == 1 and p["place"] in (1, None)'
}

finds "$one_flavour" imbalance_at_barrier 0.4
finds "${flavours##* }" imbalance_at_allreduce 0.4
finds "$one_flavour" late_broadcast 0.4
check 'in a healthy program nothing false is found' attempts "$one_flavour" healthy_stencil - \
	's["controls"] == {"runs": 1, "false": 0}'
tap_end
