#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 120
# Partners, events, actions in the rank, sampling, delays, MPI_Pcontrol, errors; and libapp's tables
# against mpi.h.
. tests/libapp/lib.sh

for f in $flavours; do
	check "$f: constants, handles, statuses are those of mpi.h" bare $f 1 "$T/constants.$f"
	check "$f: two ranks that watch themselves" watched $f 2 "$T/inrank.$f"
done
exit $failed
