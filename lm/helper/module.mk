# SPDX-License-Identifier: Apache-2.0
# lm/helper: child processes for what may hang or needs ptrace.
MODULES += lm/helper
lm/helper.src := helper.c helper_line.c helper_process.c look_do.c
lm/helper.uses := common/base common/container common/loop common/tracer lm/host
lm/helper.programs := lm-look
lm/helper.inner := lm-look
lm/helper.main.lm-look := lm_look_main.c
