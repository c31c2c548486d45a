# SPDX-License-Identifier: Apache-2.0
eventlog/spool.test_src := flow.c
eventlog/spool.test_objs = $(MEMDISK)
