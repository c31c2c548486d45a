# SPDX-License-Identifier: Apache-2.0
# neko/stat: quantities of the events that an algorithm logs.
MODULES        += neko/stat
neko/stat.src  := measure.c statset.c
neko/stat.uses := common/base stats neko/core
