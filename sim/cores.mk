# SPDX-License-Identifier: Apache-2.0
# Siblings may name things alike: each kind of daemon is one object whose other names are its own.
sim_core = $(CC) -r -nostdlib -o $@.o $(filter %.o,$^) && objcopy -w $(foreach k,$(1),--keep-global-symbol='$k') $@.o $@ && rm $@.o
$(B)/sim/core_lm.o: $(call daemon_objs,lm)
	$(call say,LINK)mkdir -p $(@D) && $(call sim_core,lm_* host_figures_clear)
$(B)/sim/core_sm.o: $(call daemon_objs,sm)
	$(call say,LINK)mkdir -p $(@D) && $(call sim_core,sm_*)
$(B)/sim/core_mainsm.o: $(call daemon_objs,mainsm)
	$(call say,LINK)mkdir -p $(@D) && $(call sim_core,mainsm_*)
sim.cores := $(foreach d,lm sm mainsm,$(B)/sim/core_$d.o)
$(B)/sim/nodes.a: $(sim.cores)
$(B)/libexec/omig/omig-sim: $(B)/sim/sim_main.o $(B)/sim/heap_wrap.o $(call archives,sim)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(BASE_LDFLAGS) -pie -o $@ $(filter %.o %.a,$^) $(call links,sim) \
		$(foreach f,$(sim.allocs),-Wl$(comma)--wrap=$f)
