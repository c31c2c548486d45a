#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 240
# Programs that were not written for these tests: the stencil example, which reports its own counts,
# and a script of mpi4py, which counts its calls.
. tests/libapp/lib.sh

export OMIG_START=volume
seen() { # RANK CALL -> "COUNT OUT IN" or "0 0 0"
	awk -v r=$1 -v c=$2 '$1 == "call" && $2 == r && $3 == c { print $5, $7, $9; found = 1 }
		END { if (!found) print "0 0 0" }' "$TMPDIR/seen"
}
same_report() {
	test "$(grep -c ^report "$TMPDIR/out")" = $1 || { cat "$TMPDIR/out"; return 1; }
	grep ^report "$TMPDIR/out" | while read -r _ rank isend sends out irecv recvs in waitall \
		waits reduce reduces barrier barriers; do
		echo "rank $rank: $(seen $rank $isend) / $(seen $rank $irecv) / $(seen $rank \
			$waitall) / $(seen $rank $reduce) / $(seen $rank $barrier)"
		test "$(seen $rank $isend)" = "$sends $out 0" &&
			test "$(seen $rank $irecv)" = "$recvs 0 $in" &&
			test "$(seen $rank $waitall)" = "$waits 0 0" &&
			test "$(seen $rank $reduce)" = \
				"$reduces $((reduces * 8)) $((reduces * 8))" &&
			test "$(seen $rank $barrier)" = "$barriers 0 0" || exit 1
	done
}
for f in $flavours; do
	np=2
	test $f = openmpi && np=4
	bare $f $np "$B/examples/stencil.$f" --size 100 --steps 300 --barrier --slow 1 \
		>"$TMPDIR/bare" 2>&1
	start_lm
	watched $f $np "$B/examples/stencil.$f" --size 100 --steps 300 --barrier --slow 1 --report \
		>"$TMPDIR/out" 2>&1
	stop_lm "$TMPDIR/seen"
	check "$f: stencil: counts and bytes are those of its report" same_report $np
	check "$f: stencil: the result is the same as without Omig" test \
		"$(grep ^stencil "$TMPDIR/out")" = "$(cat "$TMPDIR/bare")"
done

cat >"$TMPDIR/ring.py" <<'PY'
import sys
from mpi4py import MPI
w = MPI.COMM_WORLD
r, n = w.Get_rank(), w.Get_size()
a, b = bytearray(1000), bytearray(5000)
for i in range(50):
    q = w.Irecv([b, MPI.BYTE], source=(r - 1) % n)
    w.Send([a, 400, MPI.BYTE], dest=(r + 1) % n)
    q.Wait()
    w.Allreduce(MPI.IN_PLACE, [b, 8, MPI.BYTE], op=MPI.BOR)
if r == 0:
    print("ring done")
PY
same_ring() {
	for r in 0 1; do
		test "$(seen $r MPI_Send)" = "50 20000 0" &&
			test "$(seen $r MPI_Irecv)" = "50 0 20000" &&
			test "$(seen $r MPI_Allreduce)" = "50 400 400" &&
				test "$(seen $r MPI_Wait)" = "50 0 0" || {
			cat "$TMPDIR/seen" "$TMPDIR/out"
			return 1
		}
	done
}
py=/usr/bin/python3
case $flavours in
*openmpi*)
	if $py -c 'import mpi4py' 2>/dev/null; then
		start_lm
		watched openmpi 2 $py "$TMPDIR/ring.py" >"$TMPDIR/out" 2>&1
		stop_lm "$TMPDIR/seen"
		check "mpi4py: its output is its own" test "$(cat "$TMPDIR/out")" = "ring done"
		check "mpi4py: counts and bytes are those of the script" same_ring
	else
		ok "mpi4py # SKIP python3-mpi4py is not installed"
	fi
	;;
esac
exit $failed
