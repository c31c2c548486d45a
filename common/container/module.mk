# SPDX-License-Identifier: Apache-2.0
# common/container: hash tables and lists.
MODULES         += common/container
common/container.src  := map.c
common/container.uses := common/base
