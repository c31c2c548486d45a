# SPDX-License-Identifier: Apache-2.0
# sim/judge: the invariants of a world, checked while it runs and at its end.
MODULES        += sim/judge
sim/judge.src  := clocks.c exam.c judge.c series.c
sim/judge.uses := common/base sim/world sim/nodes sim/rogues sim/tools
