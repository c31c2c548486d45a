# SPDX-License-Identifier: Apache-2.0
lm/service.test_uses := lm eventlog
lm/service.test_objs = $(LM_WORLD)
lm/service.test_needs = $(LM_PROGRAMS)
# A disk that fails.
$(B)/tests/unit/lm/service/test_done_log: WRAP += -Wl,--wrap=pread -Wl,--wrap=pwrite
