# SPDX-License-Identifier: Apache-2.0
lm/record.test_uses := lm eventlog
lm/record.test_objs = $(LM_WORLD)
lm/record.test_needs = $(LM_PROGRAMS)
