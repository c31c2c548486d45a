/* SPDX-License-Identifier: Apache-2.0 */
/* A block for the search, made of two moments of the monitor. */
#ifndef TOOLS_WHY_BLOCKS_H
#define TOOLS_WHY_BLOCKS_H

#include "tools/view/top.h"
#include "tools/waits/exchange.h"
#include "tools/why/figures.h"
#include "why/block.h"

/* Totals of the ranks and figures of the system at one moment. */
struct moment {
	nsec_t at; /* of the search: monotonic, as an offset from a wall time */
	struct exchange calls;
	struct figures_read figures;
};

void moment_done(struct moment *m);

struct hosts_host {
	char token[TOP_TOKEN_BYTES], name[TOP_NAME_BYTES];
	double processors; /* NaN: not known */
};

/* Hosts keep their index in all blocks. */
struct hosts {
	struct hosts_host *host; /* owned */
	size_t n, cap;
};

void hosts_done(struct hosts *h);
/* Returns the index of a host, which is added with its name in the sample. -1: no memory. */
int64_t hosts_index(struct hosts *h, const struct top_sample *s, const char *token);

/* The arrays of a block. */
struct blocks_block {
	struct why_rank *rank; /* owned, as are the others */
	struct why_host *host;
	struct why_pair *pair;
	struct why_block block; /* points to them */
	/* of each class, the call in which a rank was longest; -1: none. And its seconds */
	int call[WHY_CLASSES];
	double most[WHY_CLASSES];
};

/*
 * Makes the block between two moments: ranks that are in both, with their own seconds. False: no
 * memory; *out is empty. Pointers are borrowed for the call.
 */
bool blocks_make(struct blocks_block *out, const struct moment *before, const struct moment *now,
		 const struct top_sample *ranks, struct hosts *hosts);
void blocks_done(struct blocks_block *b);

#define KEPT_BLOCKS 32
#define KEPT_MAX_BYTES (64 * 1024 * 1024) /* of them; one block is kept whatever its size */

/* The last blocks of a search, the oldest first. */
struct kept {
	struct blocks_block block[KEPT_BLOCKS];
	size_t n;
};

/* Consumes *take; older blocks are dropped. */
void kept_add(struct kept *k, struct blocks_block *take);
void kept_done(struct kept *k);

#endif
