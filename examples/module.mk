# SPDX-License-Identifier: Apache-2.0
# Programs to watch, for each installed MPI; heat2d alone is that of the first. They contain
# nothing of Omig except the probes in loops and the events in blocks, and are not installed.
EXAMPLE_MPI := $(foreach f,openmpi mpich,$(if $(shell command -v mpicc.$f),$f))
EXAMPLE_CC   = -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS)
EXAMPLE_EVENT = -L$(B)/lib -lomig-event -Wl,-rpath,'$$ORIGIN/../lib'
EXAMPLES    := $(EXAMPLE_MPI:%=$(B)/examples/heat2d.%) $(B)/examples/heat2d \
	       $(EXAMPLE_MPI:%=$(B)/examples/stencil.%) $(EXAMPLE_MPI:%=$(B)/examples/loops.%) \
	       $(EXAMPLE_MPI:%=$(B)/examples/blocks.%)

$(B)/examples/heat2d.%: examples/heat2d.c
	$(call say,MPICC)mkdir -p $(@D) && mpicc.$* $(EXAMPLE_CC) -o $@ $<
# mpich's mpi.h declares that MPI_STATUSES_IGNORE is written: a warning when that is inlined.
$(B)/examples/stencil.%: examples/stencil.c
	$(call say,MPICC)mkdir -p $(@D) && mpicc.$* $(EXAMPLE_CC) \
		-Wno-stringop-overflow -o $@ $< -lm
$(B)/examples/now/loops_probes.c: examples/loops.probes $(B)/bin/omig
	$(call say,PROBES)mkdir -p $(@D) && $(B)/bin/omig probes -o $@ -H $(@:.c=.h) \
		-f $(@D)/loops_module.f90 $<
$(B)/examples/loops_probes.c: $(B)/examples/now/loops_probes.c
	$(call refresh,$(@D),loops_probes.c loops_probes.h loops_module.f90)
$(B)/examples/loops.%: examples/loops.c $(B)/examples/loops_probes.c
	$(call say,MPICC)mkdir -p $(@D) && mpicc.$* $(EXAMPLE_CC) -I$(@D) -o $@ $^
# A program with a shared library need not be linked again when the library changes.
$(B)/examples/blocks.%: examples/blocks.c eventlog/app/event.h | \
		$(B)/lib/libomig-event.so $(B)/examples/include/omig/event.h
	$(call say,MPICC)mkdir -p $(@D) && mpicc.$* $(EXAMPLE_CC) -I$(@D)/include -o $@ $< \
		$(EXAMPLE_EVENT)
$(B)/examples/heat2d: examples/heat2d.c
	$(call say,MPICC)mkdir -p $(@D) && $(or $(firstword $(EXAMPLE_MPI:%=mpicc.%)),mpicc) \
		$(EXAMPLE_CC) -o $@ $<
examples: $(EXAMPLES)
.PHONY: examples
# Without any MPI the rest is built.
$(if $(SANITIZE)$(M),,$(if $(EXAMPLE_MPI)$(shell command -v mpicc),$(eval all: $(EXAMPLES))))
$(B)/check/system.tap: $(if $(EXAMPLE_MPI),$(EXAMPLES))

# A file server with events before and after each input and output, and the same without any.
SERVERS := $(B)/examples/fileserver $(B)/examples/fileserver-bare
$(B)/examples/include/omig/event.h: eventlog/app/event.h
	mkdir -p $(@D) && ln -srf $< $@
$(B)/examples/fileserver: examples/fileserver.c eventlog/app/event.h | \
		$(B)/lib/libomig-event.so $(B)/examples/include/omig/event.h
	$(call say,CC)mkdir -p $(@D) && $(CC) $(EXAMPLE_CC) -I$(B)/examples/include -o $@ $< \
		$(EXAMPLE_EVENT) -pthread
$(B)/examples/fileserver-bare: examples/fileserver.c
	$(call say,CC)mkdir -p $(@D) && $(CC) $(EXAMPLE_CC) -DBARE -o $@ $< -pthread
$(if $(SANITIZE)$(M),,$(eval all: $(SERVERS)))
$(B)/check/system.tap: $(SERVERS)

# Plug-ins: counters is an example, which a user compiles alone.
$(B)/examples/include/omig/plugin.h: lm/plugin/plugin.h
	mkdir -p $(@D) && ln -srf $< $@
$(B)/examples/counters.so: examples/plugins/counters.c lm/plugin/plugin.h | \
		$(B)/examples/include/omig/plugin.h
	$(call say,SHARED)mkdir -p $(@D) && $(CC) $(EXAMPLE_CC) -I$(B)/examples/include -fPIC \
		-shared -o $@ $<
$(if $(SANITIZE)$(M),,$(eval all: $(B)/examples/counters.so))
$(B)/check/system.tap: $(B)/examples/counters.so
