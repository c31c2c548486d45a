# SPDX-License-Identifier: Apache-2.0
lm/attach.test_uses := lm eventlog
lm/attach.test_objs = $(LM_WORLD)
lm/attach.test_needs = $(LM_PROGRAMS)
