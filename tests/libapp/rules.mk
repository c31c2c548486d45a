# SPDX-License-Identifier: Apache-2.0
# Programs that tests/system/t11*.sh run: segdump (no MPI), and small MPI
# programs in C and Fortran, each for every MPI that is here.
LIBAPP_T   := $(B)/tests/libapp
LIBAPP_MPI := $(foreach f,openmpi mpich,$(if $(shell command -v mpicc.$f),$f))
LIBAPP_F90 := $(foreach f,$(LIBAPP_MPI),$(if $(shell command -v mpif90.$f),$f))
LIBAPP_C   := calls neighbours inrank threads rough constants loop matched rendezvous \
	lastcomer uneven
LIBAPP_F   := calls_h calls_mod calls_f08 probes_address probes_module

SYSTEM_NEEDS += $(LIBAPP_T)/segdump $(LIBAPP_T)/libsecond_next.so $(LIBAPP_T)/libsecond_pmpi.so \
	$(LIBAPP_T)/fake_lm $(foreach f,$(LIBAPP_MPI),$(LIBAPP_C:%=$(LIBAPP_T)/%.$f) \
	$(LIBAPP_T)/linked.$f $(LIBAPP_T)/archive.$f) \
	$(foreach f,$(LIBAPP_F90),$(LIBAPP_F:%=$(LIBAPP_T)/%.$f))
libapp-tests: $(SYSTEM_NEEDS) $(B)/lib/libomig.so
.PHONY: libapp-tests

LIBAPP_BELOW := $(patsubst %,$(B)/%.a,libapp/match common/ring common/gate common/base)
libapp_cc     = $(OUR_CFLAGS) -Wno-stringop-overflow -Wno-stringop-overread

$(LIBAPP_T)/segdump: tests/libapp/segdump.c $(LIBAPP_BELOW)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(OUR_CFLAGS) $(BASE_LDFLAGS) -o $@ $^
$(LIBAPP_T)/fake_lm: tests/libapp/fake_lm.c
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(OUR_CFLAGS) $(BASE_LDFLAGS) -o $@ $^
$(LIBAPP_T)/libsecond_%.so: tests/libapp/second.c
	$(call say,SHARED)mkdir -p $(@D) && $(CC) $(OUR_CFLAGS) $(BASE_LDFLAGS) -shared \
		-fvisibility=default -DSECOND_$* -o $@ $< -ldl

# $(1): flavour. `inrank` looks into its own segment; `constants` into libapp's tables.
define libapp_mpi
$(LIBAPP_T)/%.$(1): tests/libapp/%.c
	$$(call say,MPICC)mkdir -p $$(@D) && mpicc.$(1) $$(libapp_cc) -o $$@ $$< -pthread -ldl
$(LIBAPP_T)/inrank.$(1): tests/libapp/inrank.c bench/self.c $(LIBAPP_BELOW)
	$$(call say,MPICC)mkdir -p $$(@D) && mpicc.$(1) $$(libapp_cc) -o $$@ $$^ -pthread -ldl
$(LIBAPP_T)/matched.$(1): tests/libapp/matched.c tests/libapp/book.c bench/self.c $(LIBAPP_BELOW)
	$$(call say,MPICC)mkdir -p $$(@D) && mpicc.$(1) $$(libapp_cc) -o $$@ $$^ -pthread -ldl
$(LIBAPP_T)/constants.$(1): tests/libapp/constants.c $(B)/libapp/hot.a $(LIBAPP_BELOW)
	$$(call say,MPICC)mkdir -p $$(@D) && mpicc.$(1) $$(libapp_cc) -o $$@ $$^ -pthread -ldl
$(LIBAPP_T)/linked.$(1): tests/libapp/calls.c $(B)/lib/libomig.so
	$$(call say,MPICC)mkdir -p $$(@D) && mpicc.$(1) $$(libapp_cc) -o $$@ $$< -L$(B)/lib -lomig \
		-Wl,-rpath,'$$$$ORIGIN/../../lib'
$(LIBAPP_T)/archive.$(1): tests/libapp/calls.c $(B)/lib/libomig.a
	$$(call say,MPICC)mkdir -p $$(@D) && mpicc.$(1) $$(libapp_cc) -o $$@ $$^ -pthread -ldl
endef
define libapp_f90
$(LIBAPP_T)/calls_h.$(1): tests/libapp/calls.F90
	$$(call say,MPIF90)mkdir -p $$(@D)/h.$(1) && \
		mpif90.$(1) -w -g -cpp $$(if $$(filter mpich,$(1)),-DHAS_MPI_4) -DUSE_H \
		-J$$(@D)/h.$(1) -fallow-argument-mismatch -o $$@ $$<
$(LIBAPP_T)/calls_mod.$(1): tests/libapp/calls.F90
	$$(call say,MPIF90)mkdir -p $$(@D)/mod.$(1) && \
		mpif90.$(1) -w -g -cpp $$(if $$(filter mpich,$(1)),-DHAS_MPI_4) -J$$(@D)/mod.$(1) \
		-fallow-argument-mismatch -o $$@ $$<
$(LIBAPP_T)/calls_f08.$(1): tests/libapp/calls.F90
	$$(call say,MPIF90)mkdir -p $$(@D)/f08.$(1) && \
		mpif90.$(1) -w -g -cpp $$(if $$(filter mpich,$(1)),-DHAS_MPI_4) -DUSE_F08 \
		-J$$(@D)/f08.$(1) -fallow-argument-mismatch -o $$@ $$<
$(LIBAPP_T)/probes_address.$(1): tests/libapp/probes.F90 $(B)/examples/loops_probes.c
	$$(call say,MPIF90)mkdir -p $$(@D) && mpicc.$(1) -O2 -c -o $$@.o \
		$(B)/examples/loops_probes.c && mpif90.$(1) -g -cpp -o $$@ $$< $$@.o
$(LIBAPP_T)/probes_module.$(1): tests/libapp/probes.F90 $(B)/examples/loops_probes.c
	$$(call say,MPIF90)mkdir -p $$(@D)/m.$(1) && \
		mpicc.$(1) -O2 -c -o $$@.o $(B)/examples/loops_probes.c && \
		mpif90.$(1) -g -cpp -DUSE_MODULE -J$$(@D)/m.$(1) -o $$@ \
		$(B)/examples/loops_module.f90 $$< $$@.o
endef
$(foreach f,$(LIBAPP_MPI),$(eval $(call libapp_mpi,$f)))
$(foreach f,$(LIBAPP_F90),$(eval $(call libapp_f90,$f)))
