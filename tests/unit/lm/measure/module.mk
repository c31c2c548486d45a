# SPDX-License-Identifier: Apache-2.0
lm/measure.test_uses := lm eventlog
lm/measure.test_objs = $(LM_WORLD) $(MEMDISK)
lm/measure.test_needs = $(LM_PROGRAMS)
