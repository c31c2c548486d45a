# SPDX-License-Identifier: Apache-2.0
mainsm/history.test_src := history_samples.c
mainsm/history.test_objs = $(MEMDISK)
