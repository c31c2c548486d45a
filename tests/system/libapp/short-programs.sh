#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that end at once: each rank is visible after its end, with all of its calls. The first
# program starts the daemons; the others find them.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 \
	OMPI_MCA_hwloc_base_binding_policy=none
cat >"$TMPDIR/short.c" <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 7; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}
END

# The request is sent right after the end of the launcher.
has_both_ranks() { # JOB
	omig calls --job "$1" --by rank --csv >"$TMPDIR/ranks" &&
		[ "$(awk -F, 'NR > 1 && $1 ~ /^[01]$/' "$TMPDIR/ranks" | wc -l)" = 2 ] &&
		omig calls --job "$1" --csv | tee "$TMPDIR/calls" | grep -q '^MPI_Barrier,[^,]*,14,'
}
each_is_there() { # FLAVOUR FIRST LAST
	i=$2
	while [ "$i" -le "$3" ]; do
		omig run --job "$1-$i" --measure=count -- "mpirun.$1" -n 2 "$TMPDIR/short.$1" ||
			return 1
		has_both_ranks "$1-$i" || { echo "run $i"; cat "$TMPDIR/ranks"; return 1; }
		i=$((i + 1))
	done
}

for f in $flavours; do
	check "$f: a program is built" "mpicc.$f" -o "$TMPDIR/short.$f" "$TMPDIR/short.c"
	check "$f: the first starts the daemons, and is there" each_is_there "$f" 1 1
	omig stop >/dev/null 2>&1
	omig run --job "$f-0" -- "mpirun.$f" -n 2 "$TMPDIR/short.$f"
	check "$f: jobs has one that was the first" says "^$f-0 " omig jobs --all
	check "$f: so are twelve in a row" each_is_there "$f" 2 13
	omig stop >/dev/null 2>&1
done
tap_end
