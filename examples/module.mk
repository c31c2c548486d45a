# SPDX-License-Identifier: Apache-2.0
# Programs to watch, for every MPI that is here; heat2d alone is that of the
# first. They know nothing of Omig, but for the probes in loops and the events in blocks, and are not installed.
EXAMPLE_MPI := $(foreach f,openmpi mpich,$(if $(shell command -v mpicc.$f),$f))
EXAMPLES    := $(EXAMPLE_MPI:%=$(B)/examples/heat2d.%) $(B)/examples/heat2d \
	       $(EXAMPLE_MPI:%=$(B)/examples/stencil.%) $(EXAMPLE_MPI:%=$(B)/examples/loops.%) \
	       $(EXAMPLE_MPI:%=$(B)/examples/blocks.%)

$(B)/examples/heat2d.%: examples/heat2d.c
	$(call say,MPICC)mkdir -p $(@D) && mpicc.$* -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -o $@ $<
# mpich's mpi.h says that MPI_STATUSES_IGNORE is written to: a warning when that is in line.
$(B)/examples/stencil.%: examples/stencil.c
	$(call say,MPICC)mkdir -p $(@D) && mpicc.$* -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -Wno-stringop-overflow -o $@ $< -lm
$(B)/examples/loops_probes.c: examples/loops.probes $(B)/bin/omig
	$(call say,PROBES)mkdir -p $(@D) && $(B)/bin/omig probes -o $@ -H $(@:.c=.h) -f $(@D)/loops_module.f90 $<
$(B)/examples/loops.%: examples/loops.c $(B)/examples/loops_probes.c
	$(call say,MPICC)mkdir -p $(@D) && mpicc.$* -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -I$(@D) -o $@ $^
$(B)/examples/blocks.%: examples/blocks.c $(B)/lib/libomig-event.so eventlog/app/event.h | $(B)/examples/include/omig/event.h
	$(call say,MPICC)mkdir -p $(@D) && mpicc.$* -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -I$(@D)/include -o $@ $< \
		-L$(B)/lib -lomig-event -Wl,-rpath,'$$ORIGIN/../lib'
$(B)/examples/heat2d: examples/heat2d.c
	$(call say,MPICC)mkdir -p $(@D) && $(or $(firstword $(EXAMPLE_MPI:%=mpicc.%)),mpicc) -std=c17 -D_GNU_SOURCE \
		$(CFLAGS) $(WARNINGS) -o $@ $<
examples: $(EXAMPLES)
.PHONY: examples
# Without any MPI the rest is built all the same.
$(if $(SANITIZE)$(M),,$(if $(EXAMPLE_MPI)$(shell command -v mpicc),$(eval all: $(EXAMPLES))))
$(B)/check/system.tap: $(if $(EXAMPLE_MPI),$(EXAMPLES))

# A file server with events before and after each input and output, and the same without any.
SERVERS := $(B)/examples/fileserver $(B)/examples/fileserver-bare
$(B)/examples/include/omig/event.h: eventlog/app/event.h
	mkdir -p $(@D) && ln -srf $< $@
$(B)/examples/fileserver: examples/fileserver.c $(B)/lib/libomig-event.so | $(B)/examples/include/omig/event.h
	$(call say,CC)mkdir -p $(@D) && $(CC) -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -I$(B)/examples/include -o $@ $< \
		-L$(B)/lib -lomig-event -Wl,-rpath,'$$ORIGIN/../lib' -pthread
$(B)/examples/fileserver-bare: examples/fileserver.c
	$(call say,CC)mkdir -p $(@D) && $(CC) -std=c17 -D_GNU_SOURCE -DBARE $(CFLAGS) $(WARNINGS) -o $@ $< -pthread
$(if $(SANITIZE)$(M),,$(eval all: $(SERVERS)))
$(B)/check/system.tap: $(SERVERS)
