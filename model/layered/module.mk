# SPDX-License-Identifier: Apache-2.0
# model/layered: layered queueing models: tasks, entries, processors, read from text and solved.
MODULES            += model/layered
model/layered.src  := layered.c lqn_read.c solve.c
model/layered.uses := common/base common/cli model/queue
model/layered.libs := -lm
