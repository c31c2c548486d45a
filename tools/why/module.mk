# SPDX-License-Identifier: Apache-2.0
# tools/why: blocks for the search of room why, gathered from the monitor, and its findings as text.
MODULES        += tools/why
tools/why.src  := blocks.c class.c commands.c culprits.c figures.c gather.c report.c \
		  report_explain.c report_json.c
tools/why.uses := common/base common/cli common/json common/ring pmsl/check why tools/libomis \
		  tools/term tools/session tools/view tools/waits
