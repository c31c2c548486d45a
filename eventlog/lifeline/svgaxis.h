/* SPDX-License-Identifier: Apache-2.0 */
/* Axes of pictures as SVG: ticks with grid lines and labels. */
#ifndef EVENTLOG_LIFELINE_SVGAXIS_H
#define EVENTLOG_LIFELINE_SVGAXIS_H

#include "common/axis/axis.h"
#include "common/base/buf.h"

/*
 * Draw ticks with their grid lines. The ticks of x have lines from top to bottom, and labels below.
 * Those of y have lines from left to right, and labels at the left.
 */
void svg_ticks_x(struct buf *out, const struct axis *a, double top, double bottom);
void svg_ticks_y(struct buf *out, const struct axis *a, double left, double right);
void svg_text(struct buf *out, double x, double y, const char *attributes, const char *text);

#endif
