# SPDX-License-Identifier: Apache-2.0
# common/inproc: locks, writes, threads and programs of libraries that live in foreign processes.
MODULES         += common/inproc
common/inproc.src  := apart.c inproc.c
common/inproc.uses := common/base
# How many of our threads run.
common/inproc.statics := inproc.c:ours
