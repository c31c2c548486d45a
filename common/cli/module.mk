# SPDX-License-Identifier: Apache-2.0
# common/cli: command lines from one table, their help, and the nearest name of a list.
MODULES         += common/cli
common/cli.src  := nearest.c opt.c optdoc.c progress.c
common/cli.uses := common/base
