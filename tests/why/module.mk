# SPDX-License-Identifier: Apache-2.0
# Programs with planted bottlenecks, and the benchmark that compares what a search finds in them.
WHY          := $(B)/tests/why
WHY_MPI      := $(foreach f,openmpi mpich,$(if $(shell command -v mpicc.$f),$f))
WHY_SRC      := $(wildcard tests/why/plant/*.c)
WHY_PROGRAMS := $(WHY_MPI:%=$(WHY)/plant.%) $(WHY_MPI:%=$(WHY)/plant-probes.%) \
		$(foreach f,$(WHY_MPI),$(if $(shell command -v mpif90.$f),$(WHY)/plant-fortran.$f))
WHY_CC        = mpicc.$* -std=c17 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -Wno-stringop-overflow

faults-tools: $(WHY_PROGRAMS)
$(B)/check/system.tap: $(WHY_PROGRAMS)
plants: $(WHY_PROGRAMS)
.PHONY: plants

$(WHY)/plant.%: $(WHY_SRC) tests/why/plant/plant.h
	$(call say,MPICC)mkdir -p $(@D) && $(WHY_CC) -o $@ $(WHY_SRC) -lm
$(WHY)/plant_probes.c: tests/why/plant/plant.probes $(B)/bin/omig
	$(call say,PROBES)mkdir -p $(@D) && $(B)/bin/omig probes -o $@ -H $(@:.c=.h) $<
$(WHY)/plant-probes.%: $(WHY_SRC) tests/why/plant/plant.h $(WHY)/plant_probes.c
	$(call say,MPICC)mkdir -p $(@D) && $(WHY_CC) -DPLANT_PROBES -I$(@D) -o $@ $(WHY_SRC) \
		$(WHY)/plant_probes.c -lm
# A C program that is linked as Fortran. One kernel calls MPI by its interface for Fortran.
$(WHY)/plant-fortran.%: tests/why/plant/kernel_fortran.f90 $(WHY_SRC) tests/why/plant/plant.h
	$(call say,MPIF90)mkdir -p $(@D)/f.$* && cd $(@D)/f.$* && \
		$(WHY_CC) -DPLANT_FORTRAN -c $(addprefix $(CURDIR)/,$(WHY_SRC)) && \
		mpif90.$* -O2 -o $(abspath $@) $(CURDIR)/$< *.o -lm

# Minutes: CASES=words of tests/why/cases, SIZES=0.1, MPI=mpich, SEEDS=n and FOR=20s choose. A case
# with an answer is not run again with KEEP=1.
bench-why: all faults-tools
	$(if $(KEEP),,rm -rf $(B)/why)
	B="$(FULL_B)" MPI='$(MPI)' SIZES='$(SIZES)' SEEDS='$(or $(SEEDS),1)' \
		FOR='$(or $(FOR),20s)' KEEP='$(KEEP)' sh tests/why/run.sh $(B)/why $(CASES)
	{ cat $(B)/why/about.md && python3 tests/why/score.py --markdown $(B)/why/*/; } \
		>docs/measured/why.md
	python3 tests/why/score.py $(B)/why/*/
.PHONY: bench-why
