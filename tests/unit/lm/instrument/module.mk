# SPDX-License-Identifier: Apache-2.0
lm/instrument.test_uses := lm eventlog
lm/instrument.test_objs = $(LM_WORLD)
lm/instrument.test_needs = $(LM_PROGRAMS)
