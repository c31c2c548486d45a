# SPDX-License-Identifier: Apache-2.0
# lm/host: host and process data of Linux, behind one table of operations.
MODULES += lm/host
lm/host.src := filelist.c host.c host_linux.c host_linux_chosen.c host_linux_devices.c \
		host_linux_file.c host_linux_launcher.c \
		host_linux_memory.c host_linux_modules.c host_linux_mounts.c \
		host_linux_node.c \
		host_linux_pidfd.c host_linux_proc.c host_linux_tcp.c host_linux_text.c \
		host_linux_thread.c perf.c proctext.c rates.c sampler.c
lm/host.uses := common/base common/container common/ring common/loop
