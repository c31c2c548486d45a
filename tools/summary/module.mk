# SPDX-License-Identifier: Apache-2.0
# tools/summary: what a program did while it was watched: its file, efficiencies, text and page.
MODULES            += tools/summary
tools/summary.src  := summary.c summary_json.c summary_read.c summary_tables.c summary_text.c \
		      summary_words.c summary_html.c efficiency.c compare.c compare_show.c \
		      compare_parts.c
tools/summary.uses := common/base common/json stats eventlog/lifeline tools/results tools/term
tools/summary.libs := -lm
