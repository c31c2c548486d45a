# SPDX-License-Identifier: Apache-2.0
# tools/chart: charts of characters for a terminal: curves, bars, heat maps, histograms.
MODULES          += tools/chart
tools/chart.src  := bars.c dots.c grid.c heat.c lines.c paint.c plot.c
tools/chart.uses := common/base common/axis tools/term
