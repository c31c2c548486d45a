# SPDX-License-Identifier: Apache-2.0
# tools/cmd/summary: the commands of summaries, and their collector at the side of a program.
MODULES                += tools/cmd/summary
tools/cmd/summary.src  := cmd_show.c collect.c run_summary.c
tools/cmd/summary.uses := common/base tools/libomis tools/term tools/summary tools/session \
			  tools/launch
