# SPDX-License-Identifier: Apache-2.0
lm/task.test_uses := lm eventlog
lm/task.test_objs = $(LM_WORLD)
lm/task.test_needs = $(LM_PROGRAMS)
