# SPDX-License-Identifier: Apache-2.0
# neko/algorithms: failure detectors, reliable broadcast and leader election.
MODULES              += neko/algorithms
neko/algorithms.src  := broadcast.c broadcast_measure.c chen.c fd.c fd_deadline.c raft.c \
		  raft_measure.c stat_fd.c stubborn.c
neko/algorithms.uses := common/base common/container common/cli stats neko/core neko/stat
