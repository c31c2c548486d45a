# SPDX-License-Identifier: Apache-2.0
# tools/cmd/summary: the commands of summaries, and their collector at the side of a program.
MODULES                += tools/cmd/summary
tools/cmd/summary.src  := cmd_show.c
tools/cmd/summary.uses := common/base tools/summary tools/term
