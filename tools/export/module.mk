# SPDX-License-Identifier: Apache-2.0
# tools/export: counters for a scraper.
MODULES           += tools/export
tools/export.src  := export_node.c export_sample.c export_totals.c export_write.c metrics.c
tools/export.uses := common/base common/container tools/libomis tools/term tools/session tools/view
