# SPDX-License-Identifier: Apache-2.0
# sim/faults: faults and their times, from dice.
MODULES         += sim/faults
sim/faults.src  := diskdice.c faults.c pausedice.c
sim/faults.uses := common/base sim/world sim/nodes sim/judge
