/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a run as a picture: the distribution of each quantity, its values over time, and
 * the messages between processes. An SVG without a script, the same for the same results.
 */
#ifndef NEKO_CMD_NEKO_PLOT_H
#define NEKO_CMD_NEKO_PLOT_H

#include "common/base/buf.h"
#include "eventlog/lifeline/svgaxis.h"
#include "tools/results/results.h"

#define NEKO_PLOT_MAX_BYTES (64 * 1024 * 1024)

/*
 * path: a file of `run -o`; output: NULL for the standard output. Returns an exit status; reports
 * failures.
 */
int neko_plot(const char *path, const char *output);

/* ERR_INVALID: these are no results. ERR_NOMEM. */
int neko_plot_draw(struct json_object *results, struct buf *out, struct err *e);

/* --- for its parts */

#define PLOT_WIDE 1000

/* The height of the space-time diagram; 0: there is nothing to draw. */
double plot_space_height(struct json_object *trace);
void plot_space(struct buf *out, struct json_object *trace, double top);

#endif
