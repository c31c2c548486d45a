# SPDX-License-Identifier: Apache-2.0
lm/proc.test_uses := lm eventlog
lm/proc.test_objs = $(LM_WORLD)
lm/proc.test_needs = $(LM_PROGRAMS)
