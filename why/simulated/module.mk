# SPDX-License-Identifier: Apache-2.0
# why/simulated: blocks of a simulated MPI program with a planted loss. For tests and for
# `omig sim why`.
MODULES            += why/simulated
why/simulated.src  := simulated.c plant.c
why/simulated.uses := common/base stats/draw why
why/simulated.libs := -lm
