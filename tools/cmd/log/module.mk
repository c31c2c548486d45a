# SPDX-License-Identifier: Apache-2.0
# tools/cmd/log: commands of omig log with options of their own.
MODULES            += tools/cmd/log
tools/cmd/log.src  := cmd_receive.c
tools/cmd/log.uses := common/base common/cli tools/term tools/receive
