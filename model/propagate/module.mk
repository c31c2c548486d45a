# SPDX-License-Identifier: Apache-2.0
# model/propagate: intervals of results of layered models, from those of their demands.
MODULES              += model/propagate
model/propagate.src  := propagate.c
model/propagate.uses := common/base stats model/queue model/layered
model/propagate.libs := -lm
