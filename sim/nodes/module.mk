# SPDX-License-Identifier: Apache-2.0
# sim/nodes: daemons, hosts and ranks of a world, and their cluster.
MODULES        += sim/nodes
sim/nodes.src  := cluster.c simhost.c simnode.c simrank.c simsite.c simtop.c
sim/nodes.uses := common/base common/time common/ring common/loop common/net eventlog lm/host \
		lm sm/hosts sm/node sm mainsm sim/world sim/disk
