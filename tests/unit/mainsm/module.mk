# SPDX-License-Identifier: Apache-2.0
# The oracle has whole daemons beside mainsm: an lm with the fake host of its own tests, and an sm.
mainsm.test_uses := lm sm
mainsm.test_src  := fake_lm.c
mainsm.test_objs  = $(MEMDISK)
FAKE_LM := $(patsubst %,$(B)/tests/unit/lm/%.o,fake_host fake_segment)

$(B)/tests/unit/mainsm/fake_lm.o: $(FAKE_LM)
	$(call say,LINK)mkdir -p $(@D) && $(CC) -r -nostdlib -o $@ $^
