# SPDX-License-Identifier: Apache-2.0
# sim/disk: a disk with the writes that the kernel has not done yet, and the calls that reach it.
MODULES       += sim/disk
sim/disk.src  := diskcalls.c foldercalls.c mapcalls.c simdisk.c
sim/disk.uses := common/base common/container common/loop eventlog/spool sim/world
# Calls that write to a disk reach the simulated one.
sim/disk.wrapped := open mkostemp close read pread write pwrite ftruncate posix_fallocate fsync \
		fdatasync rename unlink openat renameat unlinkat mkdir rmdir mmap munmap
sim/disk.libs    := $(call sim.taken,$(sim/disk.wrapped))
# The disks of the one world that a process has.
sim/disk.statics := simdisk.c:disks diskcalls.c:of_fd diskcalls.c:fds \
		     mapcalls.c:all mapcalls.c:is_watching
