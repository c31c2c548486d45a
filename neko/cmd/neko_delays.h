/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a real run's delays, which a simulation replays. */
#ifndef NEKO_CMD_NEKO_DELAYS_H
#define NEKO_CMD_NEKO_DELAYS_H

#include "neko/run/run.h"
#include "tools/term/outfile.h"

struct neko_delays {
	struct outfile file;
	struct buf text; /* owned */
	const struct run *run; /* borrowed; NULL: not open */
	int status;
};

/* These functions return an exit status and report failures. path NULL: no file is written. */
int neko_delays_open(struct neko_delays *d, const char *path, const struct run *r);

/* Writes a line: network, from, to, time of sending and delay in seconds, or `lost`. */
void neko_delays_add(struct neko_delays *d, const struct neko_delay *v);

/* Completes the file. */
int neko_delays_finish(struct neko_delays *d);

/* Removes an incomplete file. An all-zero *d is accepted. */
void neko_delays_done(struct neko_delays *d);

#endif
