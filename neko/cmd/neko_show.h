/* SPDX-License-Identifier: Apache-2.0 */
/* Results of a run as text and as JSON. */
#ifndef NEKO_CMD_NEKO_SHOW_H
#define NEKO_CMD_NEKO_SHOW_H

#include "common/base/buf.h"
#include "neko/run/run.h"
#include "neko/cmd/neko_trace.h"

/* largest output: some quantities with histograms */
#define NEKO_SHOW_MAX_BYTES (16 * 1024 * 1024)

/* b->failed reports a failure. */
void neko_show_text(struct buf *b, const struct run *r, const struct run_counts *f);

/*
 * Writes one object. path: that of the configuration. trace: messages and events of the first run.
 */
void neko_show_json(struct buf *b, const char *path, const struct run *r,
		    const struct run_counts *f, const struct neko_trace *trace);

#endif
