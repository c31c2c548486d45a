# SPDX-License-Identifier: Apache-2.0
# omig-sim: after mk/rules.mk, which knows the archives.
$(B)/libexec/omig/omig-sim: $(B)/sim/sim_main.o $(B)/sim/heap_wrap.o $(call archives,sim)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(BASE_LDFLAGS) -pie -o $@ $(filter %.o %.a,$^) \
		$(call links,sim) $(foreach f,$(sim.allocs),-Wl$(comma)--wrap=$f)
