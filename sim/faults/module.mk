# SPDX-License-Identifier: Apache-2.0
# sim/faults: faults and their times, from dice.
MODULES         += sim/faults
sim/faults.src  := disk_faults.c faults.c pauses.c
sim/faults.uses := common/base sim/world sim/nodes sim/judge
