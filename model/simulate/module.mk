# SPDX-License-Identifier: Apache-2.0
# model/simulate: layered models simulated, with intervals: the judge of their solutions.
MODULES             += model/simulate
model/simulate.src  := job.c processor.c shape.c simulate.c world.c
model/simulate.uses := common/base stats stats/draw model/queue model/layered neko/simulated
model/simulate.libs := -lm
