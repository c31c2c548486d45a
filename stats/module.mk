# SPDX-License-Identifier: Apache-2.0
# stats: quantities of measured and simulated values (docs/stats.md). Pure but for a file of
# values.
MODULES    += stats
stats.src  := moments.c pairs.c student.c interval.c batches.c stop.c stop_text.c sketch.c \
		quantity.c results.c series.c histogram.c report.c welch.c
stats.uses := common/base common/json
stats.headers := stats.h
stats.libs := -lm
