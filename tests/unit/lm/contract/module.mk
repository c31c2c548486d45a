# SPDX-License-Identifier: Apache-2.0
lm/contract.test_uses := lm eventlog interaction/online
lm/contract.test_objs = $(LM_WORLD)
lm/contract.test_needs = $(LM_PROGRAMS)
