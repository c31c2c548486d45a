# SPDX-License-Identifier: Apache-2.0
lm.test_src := fake_host.c fake_segment.c world.c hung_file.c real.c
lm.test_uses := eventlog
lm.test_needs := $(B)/bin/lm-guard $(B)/bin/lm-look $(B)/bin/mainsm
# A disk that fails.
$(B)/tests/unit/lm/test_ops: WRAP += -Wl,--wrap=pread -Wl,--wrap=pwrite
