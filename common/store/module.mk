# SPDX-License-Identifier: Apache-2.0
# common/store: the disk behind one table of operations, and small state on it that outlives us.
MODULES           += common/store
common/store.src  := disk.c store.c
common/store.uses := common/base
