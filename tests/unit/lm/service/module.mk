# SPDX-License-Identifier: Apache-2.0
lm/service.test_uses := lm eventlog
lm/service.test_objs = $(LM_WORLD) $(MEMDISK)
lm/service.test_needs = $(LM_PROGRAMS)
