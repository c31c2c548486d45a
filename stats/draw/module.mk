# SPDX-License-Identifier: Apache-2.0
# stats/draw: random numbers of distributions, and the names of distributions.
MODULES         += stats/draw
stats/draw.src  := law.c normal.c
stats/draw.uses := common/base
stats/draw.libs := -lm
