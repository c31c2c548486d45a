# SPDX-License-Identifier: Apache-2.0
eventlog/keep.test_src := world.c
eventlog/keep.test_objs = $(MEMDISK)
