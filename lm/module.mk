# SPDX-License-Identifier: Apache-2.0
# lm: one per host and user. Takes in the segments of the ranks, executes services on local objects.
MODULES += lm
lm.src  := host.c host_linux.c host_linux_node.c host_linux_devices.c host_linux_proc.c host_linux_pidfd.c \
	   proctext.c
lm.uses := common/base common/loop
