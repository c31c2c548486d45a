# SPDX-License-Identifier: Apache-2.0
lm.test_src := fake_host.c fake_segment.c world.c hung_file.c real.c
lm.test_uses := eventlog
LM_PROGRAMS := $(B)/bin/lm-guard $(B)/bin/lm-look $(B)/bin/mainsm
lm.test_needs := $(LM_PROGRAMS)
# Tests of the rooms below that need a whole lm, or its fake host.
LM_WORLD := $(lm.test_src:%.c=$(B)/tests/unit/lm/%.o)
