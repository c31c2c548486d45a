# SPDX-License-Identifier: Apache-2.0
# The disk with faults is that of the spool's own tests.
mainsm/history.test_src := sim_disk.c history_samples.c
$(B)/tests/unit/mainsm/history/sim_disk.o: $(B)/tests/unit/eventlog/spool/simdisk.o
	$(call say,LINK)mkdir -p $(@D) && $(CC) -r -nostdlib -o $@ $^
