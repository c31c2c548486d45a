# SPDX-License-Identifier: Apache-2.0
# model/queue: queueing networks: exact and approximate mean value analysis, and bounds.
MODULES          += model/queue
model/queue.src  := approximate.c crowd.c exact.c network.c source.c
model/queue.uses := common/base
model/queue.libs := -lm
