# SPDX-License-Identifier: Apache-2.0
# Faults are planted by wrapping functions of an lm when it is linked for that test, and the taking from rings
# and the writing of files for good.
PLANT_LM := host_proc_signal stops_tool_gone csrs_disarm csrs_tool_gone loop_timer_arm
$(B)/tests/unit/sim/planted_lm.o: $(lm.objs) $(B)/tests/unit/sim/plant_lm.o
	$(call say,LINK)mkdir -p $(@D) && $(CC) -r -nostdlib $(foreach f,$(PLANT_LM),-Wl$(comma)--wrap=$f) -o $@.o $(filter %.o,$^) && \
		objcopy -w --keep-global-symbol='lm_*' --keep-global-symbol=host_figures_clear $@.o $@ && rm $@.o
# In front of the room's own lm, which is then not taken: not by the list of what is linked, but made anew by way of plant.o.
$(B)/tests/unit/sim/plant.o: $(B)/tests/unit/sim/planted_lm.o
$(B)/tests/unit/sim/test_planted: $(B)/tests/unit/sim/plant.o
$(B)/tests/unit/sim/test_planted: WRAP += -Wl,--wrap=ring_take -Wl,--wrap=file_write_atomic -Wl,--wrap=timebase_error $(B)/tests/unit/sim/planted_lm.o
