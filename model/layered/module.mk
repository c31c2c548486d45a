# SPDX-License-Identifier: Apache-2.0
# model/layered: layered queueing models: tasks, entries, processors, read from text and solved.
MODULES            += model/layered
model/layered.src  := flow.c forward.c layered.c lqn_read.c lqn_write.c lqnx_read.c \
			lqnx_write.c named.c pass.c profile.c solve.c xml.c
model/layered.uses := common/base common/cli model/queue
model/layered.libs := -lm
