# SPDX-License-Identifier: Apache-2.0
# Programs that the fault tests t2*.sh run.
FAULTS     := $(B)/tests/system
FAULTS_MPI := $(foreach f,openmpi mpich,$(if $(shell command -v mpicc.$f),$f))
ATTACK     := attack_main.c attack_conn.c attack_bombs.c
ATTACK_OBJ := $(ATTACK:%.c=$(FAULTS)/%.o) $(FAULTS)/certs.o

FAULT_MPI  := steady fate functions lives measured phased queued sites summing underway \
		waiting

FAULT_NEEDS := $(FAULTS)/attack $(FAULTS)/vandal $(FAULTS)/session $(FAULTS)/refuse \
		$(FAULTS)/libnomem.so $(FAULTS)/traced \
	       $(foreach p,$(FAULT_MPI),$(FAULTS_MPI:%=$(FAULTS)/$p.%)) \
	       $(FAULTS_MPI:%=$(FAULTS)/late.%)
faults-tools: $(FAULT_NEEDS)
.PHONY: faults-tools
$(B)/check/system.tap: $(FAULT_NEEDS)

$(ATTACK_OBJ): | $(common/link.gens)
$(FAULTS)/attack: $(ATTACK_OBJ) $(call archives,common/link)
	$(call say,LINK)$(CC) $(BASE_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(call links,common/link)
$(FAULTS)/certs.o: tests/unit/common/net/certs.c tests/system/plain/check.h
	$(call say,CC)mkdir -p $(@D) && $(CC) -Itests/system/plain $(OUR_CFLAGS) -c -o $@ $<
$(FAULTS)/vandal: $(FAULTS)/vandal.o $(call archives,common/ring)
	$(call say,LINK)$(CC) $(BASE_LDFLAGS) -o $@ $(filter %.o %.a,$^)
$(FAULTS)/session: $(FAULTS)/session.o $(B)/lib/libomis.so
	$(call say,LINK)$(CC) $(BASE_LDFLAGS) -o $@ $< -L$(B)/lib -lomis \
		'-Wl,-rpath,$$ORIGIN/../../lib'
$(FAULTS)/refuse: $(FAULTS)/refuse.o
	$(call say,LINK)$(CC) $(BASE_LDFLAGS) -o $@ $<
$(FAULTS)/libnomem.so: tests/system/nomem.c
	$(call say,SHARED)mkdir -p $(@D) && $(CC) $(OUR_CFLAGS) $(BASE_LDFLAGS) -shared -o $@ $<
# PROGRAM FLAVOUR
define fault_mpi_program
$(FAULTS)/$(1).$(2): tests/system/$(1).c
	$$(call say,MPICC)mkdir -p $$(@D) && mpicc.$(2) $$(OUR_CFLAGS) -o $$@ $$<
endef
$(foreach p,$(FAULT_MPI),$(foreach f,$(FAULTS_MPI),$(eval $(call fault_mpi_program,$p,$f))))
FUNCTIONS_CXX := $(if $(shell command -v mpicxx.openmpi),$(FAULTS)/functions_cxx)
faults-tools $(B)/check/system.tap: $(FUNCTIONS_CXX)
$(FAULTS)/functions_cxx: tests/system/functions_cxx.cc
	$(call say,MPICXX)mkdir -p $(@D) && mpicxx.openmpi -O2 -g -o $@ $<
# With room or calls at the entries of functions, without optimisation, and without symbols.
FUNCTIONS_BUILT       := plain sled instrumented slow stripped $(if $(shell command -v clang),xray)
functions.sled        := -fpatchable-function-entry=16
functions.instrumented := -finstrument-functions
functions.slow        := -O0
functions.stripped    := -rdynamic -s
functions.xray        := -fxray-instrument -fxray-instruction-threshold=1
$(FAULTS)/functions_built.xray: export OMPI_CC := clang
FUNCTIONS_PROGRAMS    := $(if $(filter openmpi,$(FAULTS_MPI)),\
		$(FUNCTIONS_BUILT:%=$(FAULTS)/functions_built.%))
FUNCTIONS_PROGRAMS    += $(if $(shell command -v mpif90.openmpi),$(FAULTS)/functions_fortran)
faults-tools $(B)/check/system.tap: $(FUNCTIONS_PROGRAMS)
$(FAULTS)/functions_built.%: tests/system/functions_built.c
	$(call say,MPICC)mkdir -p $(@D) && mpicc.openmpi -O2 -pthread $(functions.$*) -o $@ $<
$(FAULTS)/functions_fortran: tests/system/functions_fortran.f90
	$(call say,MPIF90)mkdir -p $(@D) && mpif90.openmpi -O2 -fno-inline -J $(@D) -o $@ $<
SUMMING_FORTRAN := $(foreach f,$(FAULTS_MPI),$(if $(shell command -v mpif90.$f),\
		$(FAULTS)/summing_fortran.$f))
faults-tools $(B)/check/system.tap: $(SUMMING_FORTRAN)
$(FAULTS)/summing_fortran.%: tests/system/summing_fortran.f90
	$(call say,MPIF90)mkdir -p $(@D)/modules.$* && \
		mpif90.$* -O2 -J $(@D)/modules.$* -o $@ $<
# Compiled with MPI's header, linked without its library.
$(FAULTS)/late.%: tests/system/late.c
	$(call say,MPICC)mkdir -p $(@D) && mpicc.$* $(OUR_CFLAGS) -c -o $@.o $< && \
		$(CC) $(BASE_LDFLAGS) -o $@ $@.o -ldl
# Without frame pointers, and with frames of a library in the middle.
UNFRAMED := -O2 -fvisibility=default -fomit-frame-pointer -fno-optimize-sibling-calls
$(FAULTS)/libtraced.so: tests/system/traced_library.c
	$(call say,SHARED)mkdir -p $(@D) && $(CC) $(filter-out -fsanitize%,$(OUR_CFLAGS)) \
		$(UNFRAMED) -fPIC -shared -o $@ $<
$(FAULTS)/traced: tests/system/traced.c $(FAULTS)/libtraced.so
	$(call say,CC)$(CC) $(filter-out -fsanitize%,$(OUR_CFLAGS)) $(UNFRAMED) -o $@ $< \
		-L$(FAULTS) -ltraced '-Wl,-rpath,$$ORIGIN'
# A program that requests/services does things to.
faults-tools $(B)/check/system.tap: $(FAULTS)/subject
$(FAULTS)/subject: $(FAULTS)/subject.o
	$(call say,LINK)$(CC) $(BASE_LDFLAGS) -pthread -o $@ $<
# faults/random-kills compares the reports that a tool got with what its programs have seen.
faults-tools $(B)/check/system.tap: $(FAULTS)/oracle
$(FAULTS)/oracle.o: | $(common/link.gens)
$(FAULTS)/oracle: $(FAULTS)/oracle.o $(call archives,common/link)
	$(call say,LINK)$(CC) $(BASE_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(call links,common/link)
# What events/subscriptions counts: numbered events, and which of them are in a log.
faults-tools $(B)/check/system.tap: $(FAULTS)/numbers $(FAULTS_MPI:%=$(FAULTS)/numbered.%)
$(FAULTS)/numbers: $(FAULTS)/numbers.o $(call archives,eventlog)
	$(call say,LINK)$(CC) $(BASE_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(call links,eventlog)
$(FAULTS)/numbered.%: tests/system/numbered.c $(B)/lib/libomig-event.so | \
		$(B)/examples/include/omig/event.h
	$(call say,MPICC)mkdir -p $(@D) && mpicc.$* -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) \
		-I$(B)/examples/include -o $@ $< \
		-L$(B)/lib -lomig-event -Wl,-rpath,'$$ORIGIN/../../lib'
# Interactions of two ranks, for events/watch-interactions.
faults-tools $(B)/check/system.tap: $(if $(filter openmpi,$(FAULTS_MPI)),$(FAULTS)/served.openmpi)
$(FAULTS)/served.%: tests/system/served.c eventlog/app/interaction.h $(B)/lib/libomig-event.so
	$(call say,MPICC)mkdir -p $(@D)/include/omig && \
		ln -sf $(CURDIR)/eventlog/app/interaction.h $(@D)/include/omig && \
		mpicc.$* -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -I$(@D)/include -o $@ $< \
		-L$(B)/lib -lomig-event -Wl,-rpath,'$$ORIGIN/../../lib'
# What events/receive sends, with both libraries.
faults-tools $(B)/check/system.tap: $(FAULTS)/netlogged
$(FAULTS)/netlogged: tests/system/netlogged.c $(B)/lib/libomig-event.so \
		$(B)/lib/libomig-netlogger.so | $(B)/examples/include/omig/event.h
	$(call say,CC)mkdir -p $(@D)/include/omig && \
		ln -sf $(CURDIR)/eventlog/netlogger/netlogger.h $(@D)/include/omig && \
		$(CC) -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -I$(@D)/include \
		-I$(B)/examples/include -o $@ $< -L$(B)/lib -lomig-event -lomig-netlogger \
		'-Wl,-rpath,$$ORIGIN/../../lib'
# EVENTS=N of two ranks together, KILLS=N of each of lm, sm and loader, BURST=N: minutes to hours.
# The rest must be 0.
soak-events: faults-tools all
	d=$$(mktemp -d) && OMIG_EVENTS=$$(($(or $(EVENTS),1000000000) / 2)) \
		OMIG_EVENT_BURST=$(or $(BURST),2000) OMIG_EVENT_KILLS=$(or $(KILLS),30) \
		B="$(FULL_B)" PATH="$(FULL_B)/bin:$$PATH" TMPDIR=$$d \
		sh tests/system/events/subscriptions.sh </dev/null | tee $$d/said; \
	grep -q '^1\.\.' $$d/said && ! grep '^not ok' $$d/said; rc=$$?; rm -rf $$d; exit $$rc
.PHONY: soak-events
# Programs without MPI that start/without-mpi and start/chosen-processes watch: with a probe and an
# event, with the probe alone, with OpenMP, and a static one.
ALONE := $(FAULTS)/alone $(FAULTS)/alone-probe $(FAULTS)/parallel $(FAULTS)/parallel-static
faults-tools $(B)/check/system.tap: $(ALONE)
$(FAULTS)/alone: tests/system/alone.c $(B)/examples/loops_probes.c $(B)/lib/libomig-event.so | \
		$(B)/examples/include/omig/event.h
	$(call say,CC)mkdir -p $(@D) && $(CC) -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) \
		-I$(B)/examples -I$(B)/examples/include -o $@ \
		$(filter %.c,$^) -L$(B)/lib -lomig-event '-Wl,-rpath,$$ORIGIN/../../lib' -pthread \
		-ldl
$(FAULTS)/alone-probe: tests/system/alone.c $(B)/examples/loops_probes.c
	$(call say,CC)mkdir -p $(@D) && $(CC) -std=c17 -D_GNU_SOURCE -DNO_EVENTS $(CFLAGS) \
		$(WARNINGS) -I$(B)/examples -o $@ $^ -pthread -ldl
# A program with services of known demands, for tools/observe.
faults-tools $(B)/check/system.tap: $(FAULTS)/demands
$(FAULTS)/demands: tests/system/demands.c $(B)/examples/loops_probes.c
	$(call say,CC)mkdir -p $(@D) && $(CC) -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) \
		-I$(B)/examples -o $@ $^ -pthread
$(FAULTS)/parallel: tests/system/parallel.c
	$(call say,CC)mkdir -p $(@D) && $(CC) -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) \
		-fopenmp -o $@ $<
# Without its pragma.
$(FAULTS)/parallel-static: tests/system/parallel.c
	$(call say,CC)mkdir -p $(@D) && $(CC) -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) \
		-Wno-unknown-pragmas -static -o $@ $<
# Programs that start/refusals and the units of tracer enter: with an MPI library of its own; with
# that library inside; static; of 32 bits, where the compiler makes these.
ENTERED := $(addprefix $(FAULTS)/,entered entered-now entered-inside entered-static entered-32)
faults-tools $(B)/check/system.tap: $(ENTERED)
entered_build = $(call say,CC)mkdir -p $(@D) && $(CC) -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) \
		-Wno-missing-prototypes -o $@
$(FAULTS)/libmpi_entered.so: tests/system/entered_mpi.c
	$(entered_build) -fPIC -shared $< -Wl,-soname,$(@F)
$(FAULTS)/entered: tests/system/entered.c $(FAULTS)/libmpi_entered.so
	$(entered_build) -fPIE -pie $< -Wl,-z,lazy -L$(FAULTS) -lmpi_entered '-Wl,-rpath,$$ORIGIN'
# At a fixed address, with slots that the loader fills at once and protects.
$(FAULTS)/entered-now: tests/system/entered.c $(FAULTS)/libmpi_entered.so
	$(entered_build) -fno-pie -no-pie $< -Wl,-z,relro,-z,now -L$(FAULTS) -lmpi_entered \
		'-Wl,-rpath,$$ORIGIN'
$(FAULTS)/entered-inside: tests/system/entered.c tests/system/entered_mpi.c
	$(entered_build) -rdynamic $^
$(FAULTS)/entered-static: tests/system/entered.c tests/system/entered_mpi.c
	$(entered_build) -static $^
$(FAULTS)/entered-32: tests/system/entered_32.c
	$(entered_build) -m32 -nostdlib -static -fno-pie -fno-stack-protector -fno-builtin $< || \
		printf '#!/bin/sh\nexit 77\n' >$@; chmod +x $@
