# SPDX-License-Identifier: Apache-2.0
# common/inproc: locks, writes and threads of libraries that live in foreign processes.
MODULES         += common/inproc
common/inproc.src  := inproc.c
common/inproc.uses := common/base
# How many of our threads run.
common/inproc.statics := inproc.c:ours
