# SPDX-License-Identifier: Apache-2.0
lm/hold.test_uses := lm eventlog
lm/hold.test_objs = $(LM_WORLD) $(MEMDISK)
lm/hold.test_needs = $(LM_PROGRAMS)
