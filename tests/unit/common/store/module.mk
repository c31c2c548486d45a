# SPDX-License-Identifier: Apache-2.0
common/store.test_src := memdisk.c each_fault.c
# A disk in memory with faults, and a walk through all of them: for the rooms that keep something.
MEMDISK := $(common/store.test_src:%.c=$(B)/tests/unit/common/store/%.o)
