# SPDX-License-Identifier: Apache-2.0
# The counter of libapp/programs-of-others.sh: a PMPI layer made from each mpi.h that is here.
FOREIGN   := $(B)/tests/system/foreign
TALLY     := $(FAULTS_MPI:%=$(FOREIGN)/libtally.%.so)
# mpi.h has deprecated calls, and most rules need few arguments.
TALLY_OFF := -Wno-deprecated-declarations -Wno-unused-variable

faults-tools: $(TALLY)
$(B)/check/system.tap: $(TALLY)

$(FOREIGN)/%/tally_calls.h: tests/system/foreign/tally.awk
	$(call say,GEN)mkdir -p $(@D) && echo '#include <mpi.h>' | mpicc.$* -E -P -x c - | \
		LC_ALL=C awk -f $< >$@
$(FOREIGN)/libtally.%.so: tests/system/foreign/tally.c $(FOREIGN)/%/tally_calls.h
	$(call say,MPICC)mpicc.$* $(OUR_CFLAGS) $(TALLY_OFF) -fvisibility=default -I$(FOREIGN)/$* \
		-shared -Wl,-z,defs -o $@ $<
