#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs bench-mpi-FLAVOUR and bench-recorded-FLAVOUR for each MPI. $B: the build folder.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for flavour in openmpi mpich; do
	for what in mpi recorded; do
		prog=$B/bin/bench-$what-$flavour start=
		[ $what = recorded ] && start=off+messages
		test -x "$prog" && command -v mpirun.$flavour >/dev/null || continue
		export LD_LIBRARY_PATH="$B/lib" OMIG_START="$start"
		mpirun.$flavour -np 2 "$prog" || exit 1
	done
done
