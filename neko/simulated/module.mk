# SPDX-License-Identifier: Apache-2.0
# neko/simulated: the simulated world: virtual time, networks, media, losses and partitions.
MODULES             += neko/simulated
neko/simulated.src  := coro.c delaytrace.c events.c medium.c medium_csma.c medium_fddi.c \
		       medium_queue.c sim.c simcut.c simflow.c simmedium.c simnet.c simown.c \
		       simreport.c simstack.c
neko/simulated.uses := common/base common/container common/cli neko/core
