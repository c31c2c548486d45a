# SPDX-License-Identifier: Apache-2.0
# neko/algorithms: failure detectors, broadcasts and leader election.
MODULES              += neko/algorithms
neko/algorithms.src  := abcast.c abcast_ct.c abcast_measure.c abcast_seq.c broadcast.c \
		  broadcast_measure.c chen.c consensus.c fd.c fd_deadline.c qosfd.c raft.c \
		  raft_measure.c stat_fd.c stubborn.c
neko/algorithms.uses := common/base common/container common/cli stats neko/core neko/stat
