# SPDX-License-Identifier: Apache-2.0
# sim/disk: a disk with the writes that the kernel has not done yet; mappings of killed daemons.
MODULES       += sim/disk
sim/disk.src  := mapcalls.c simdisk.c simdisk_ops.c
sim/disk.uses := common/base common/container common/store common/loop eventlog/spool sim/world
# What a daemon has mapped stays as it was when the daemon was killed.
sim/disk.wrapped := mmap munmap
sim/disk.libs    := $(call sim.taken,$(sim/disk.wrapped))
sim/disk.statics := mapcalls.c:all mapcalls.c:is_watching
