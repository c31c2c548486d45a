# SPDX-License-Identifier: Apache-2.0
# neko/real: the real world: processes of this host, UDP and TCP, clocks and logs.
MODULES        += neko/real
neko/real.src  := quickclock.c real.c reallog.c realnet.c realstream.c realtalk.c realwire.c
neko/real.uses := common/base common/time proto neko/core
