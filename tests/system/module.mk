# SPDX-License-Identifier: Apache-2.0
# Programs that the fault tests t2*.sh run.
FAULTS     := $(B)/tests/system
FAULTS_MPI := $(foreach f,openmpi mpich,$(if $(shell command -v mpicc.$f),$f))
ATTACK     := attack_main.c attack_conn.c attack_bombs.c
ATTACK_OBJ := $(ATTACK:%.c=$(FAULTS)/%.o) $(FAULTS)/certs.o

FAULT_NEEDS := $(FAULTS)/attack $(FAULTS)/vandal $(FAULTS)/libnomem.so $(FAULTS_MPI:%=$(FAULTS)/steady.%)
faults-tools: $(FAULT_NEEDS)
.PHONY: faults-tools
$(B)/check/system.tap: $(FAULT_NEEDS)

$(ATTACK_OBJ): | $(common/daemon.gens)
$(FAULTS)/attack: $(ATTACK_OBJ) $(call archives,common/daemon)
	$(call say,LINK)$(CC) $(BASE_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(call links,common/daemon)
$(FAULTS)/certs.o: tests/unit/common/net/certs.c tests/system/plain/check.h
	$(call say,CC)mkdir -p $(@D) && $(CC) -Itests/system/plain $(OUR_CFLAGS) -c -o $@ $<
$(FAULTS)/vandal: $(FAULTS)/vandal.o $(call archives,common/ring)
	$(call say,LINK)$(CC) $(BASE_LDFLAGS) -o $@ $(filter %.o %.a,$^)
$(FAULTS)/libnomem.so: tests/system/nomem.c
	$(call say,SHARED)mkdir -p $(@D) && $(CC) $(OUR_CFLAGS) $(BASE_LDFLAGS) -shared -o $@ $<
$(FAULTS)/steady.%: tests/system/steady.c
	$(call say,MPICC)mkdir -p $(@D) && mpicc.$* $(OUR_CFLAGS) -o $@ $<
