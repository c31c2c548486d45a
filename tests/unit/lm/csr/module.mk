# SPDX-License-Identifier: Apache-2.0
lm/csr.test_uses := lm eventlog
lm/csr.test_objs = $(LM_WORLD)
lm/csr.test_needs = $(LM_PROGRAMS)
