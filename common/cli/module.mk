# SPDX-License-Identifier: Apache-2.0
# common/cli: command lines from one table, their help, the nearest name of a list, and ends by
# signals.
MODULES         += common/cli
common/cli.src  := endsignal.c nearest.c opt.c optdoc.c progress.c
common/cli.uses := common/base
common/cli.statics := endsignal.c:end_signal endsignal.c:first
