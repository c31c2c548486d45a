# SPDX-License-Identifier: Apache-2.0
# stats: quantities: what values that were measured, or simulated, tell (docs/stats.md). Pure but for a file of values.
MODULES    += stats
stats.src  := moments.c pairs.c student.c interval.c batches.c stop.c stop_text.c sketch.c quantity.c series.c histogram.c report.c
stats.uses := common/base
stats.libs := -lm
