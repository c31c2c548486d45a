#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs bench-mpi-FLAVOUR for each MPI that is here. $B: the build folder.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for flavour in openmpi mpich; do
	prog=$B/bin/bench-mpi-$flavour
	test -x "$prog" && command -v mpirun.$flavour >/dev/null || continue
	env LD_LIBRARY_PATH="$B/lib" mpirun.$flavour -np 2 "$prog" || exit 1
done
