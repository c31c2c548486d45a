# SPDX-License-Identifier: Apache-2.0
# Faults are planted by wraps of functions, in the link of an lm and an sm for that test. Those of
# rings, files, clocks, blocks and dataflow are wrapped for all.
PLANT_LM := host_proc_signal holds_tool_gone csrs_disarm csrs_tool_gone loop_timer_arm reply_free \
		csr_before
$(B)/tests/unit/sim/planted_lm.o: $(call daemon_objs,lm) $(B)/tests/unit/sim/plant_lm.o
	$(call say,LINK)mkdir -p $(@D) && $(CC) -r -nostdlib \
		$(foreach f,$(PLANT_LM),-Wl$(comma)--wrap=$f) -o $@.o $(filter %.o,$^) && \
		objcopy -w --keep-global-symbol='lm_*' --keep-global-symbol=host_figures_clear \
		$@.o $@ && rm $@.o
PLANT_SM := nodes_owns site_csrs_drop_tool site_csrs_disarm
$(B)/tests/unit/sim/planted_sm.o: $(call daemon_objs,sm) $(B)/tests/unit/sim/plant_sm.o
	$(call say,LINK)mkdir -p $(@D) && $(CC) -r -nostdlib \
		$(foreach f,$(PLANT_SM),-Wl$(comma)--wrap=$f) -o $@.o $(filter %.o,$^) && \
		objcopy -w --keep-global-symbol='sm_*' $@.o $@ && rm $@.o
# plant.o makes them, in front of the room's own lm and sm, which the linker then does not take.
$(B)/tests/unit/sim/plant.o: $(B)/tests/unit/sim/planted_lm.o $(B)/tests/unit/sim/planted_sm.o
$(B)/tests/unit/sim/test_planted: $(B)/tests/unit/sim/plant.o
# Worlds weigh what their daemons allocate (sim/world/heap.h): there no allocation is made to fail.
sim.weighed := $(patsubst %,$(B)/tests/unit/sim/test_%,planted cluster)
$(sim.weighed): WITHOUT := $(B)/tests/alloc_sweep.o
$(sim.weighed): WRAP += -Wl,--wrap=free
$(sim.weighed): $(B)/sim/heap_wrap.o
PLANTED := ring_take store_write timebase_error chan_set_cap evwrite_dropped partial_fold \
		flow_take reads_take
$(B)/tests/unit/sim/test_planted: WRAP += $(foreach f,$(PLANTED),-Wl,--wrap=$f) \
	$(B)/tests/unit/sim/planted_lm.o $(B)/tests/unit/sim/planted_sm.o
