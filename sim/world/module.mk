# SPDX-License-Identifier: Apache-2.0
# sim/world: one world: a loop in virtual time, a network in memory, dice, a folder for all disks.
MODULES        += sim/world
sim/world.src  := clock.c disk.c heap.c hostclock.c ledger.c trace.c values.c world.c
sim/world.uses := common/base common/container common/time common/omis/text common/omis/reply \
		common/loop common/net common/flow/graph
# Calls for the time and for random numbers get the simulated world's. By name: a room that is
# linked later may be the first that asks for one.
sim.taken         = $(foreach f,$(1),-Wl$(comma)--wrap=$f -Wl$(comma)-u$(comma)__wrap_$f)
sim/world.wrapped := clock_gettime rng_fill_random rng_draw_key ticks_calibrate chan_feed
sim/world.libs    := -lm $(call sim.taken,$(sim/world.wrapped))
# The one world at a time that a process has.
sim/world.statics := clock.c:now_of clock.c:keys trace.c:current heap.c:watched heap.c:sessions
