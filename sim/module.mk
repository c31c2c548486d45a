# SPDX-License-Identifier: Apache-2.0
# sim: whole hierarchies of our own daemons in virtual time, from a seed (docs/sim.md).
MODULES      += sim
sim.src      :=
sim.uses     := common/base common/cli common/json why why/simulated sim/world sim/nodes sim/studies
sim.not_built := sim_main.c heap_wrap.c
sim.libexec  := omig-sim
# In the program alone: tests wrap these themselves.
sim.allocs   := malloc calloc realloc reallocarray strdup strndup free
sim.statics  := sim_main.c:crash_words
