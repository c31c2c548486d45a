# SPDX-License-Identifier: Apache-2.0
# The oracle has whole daemons beside mainsm: an lm with a fake host, and an sm. Each is one object
# with local names, since siblings may use the same ones.
mainsm.test_uses := common/omis common/ring common/tracer common/member \
		    eventlog eventlog/spool eventlog/keep
mainsm.test_src  := core_lm.c core_sm.c
CORE_LM := $(patsubst %,$(B)/tests/unit/lm/%.o,fake_host fake_segment)
core = $(CC) -r -nostdlib -o $@.o $(filter %.o,$^) && objcopy -w \
		$(foreach k,$(1),--keep-global-symbol='$k') $@.o $@ && rm $@.o

$(B)/tests/unit/mainsm/core_lm.o: $(call daemon_objs,lm) $(CORE_LM)
	$(call say,LINK)mkdir -p $(@D) && $(call core,lm_* fake_*)
$(B)/tests/unit/mainsm/core_sm.o: $(call daemon_objs,sm)
	$(call say,LINK)mkdir -p $(@D) && $(call core,sm_*)
