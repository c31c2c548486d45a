# SPDX-License-Identifier: Apache-2.0
# tools/cmd/summary: the commands of summaries, and their collector at the side of a program.
MODULES                += tools/cmd/summary
tools/cmd/summary.src  := cmd_show.c cmd_compare.c collect.c collect_parts.c run_summary.c
tools/cmd/summary.uses := common/base common/json common/ring stats tools/libomis tools/term \
			  tools/summary tools/session tools/launch tools/profile
