/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals of one process's library calls up to one moment: a copy from the segment that outlives it.
 */
#ifndef LM_PROC_TOTALS_H
#define LM_PROC_TOTALS_H

#include "common/ring/segview.h"

#include <stddef.h>
#include <stdint.h>

#define TOTALS_PARTNERS_MAX 65536 /* (function, partner) pairs of all threads of one process */

struct total_call {
	uint16_t func;
	struct segview_call v;
};

/* Calls of a function with one partner, as struct segview_partner. */
struct total_partner {
	unsigned func;
	int32_t rank;
	uint64_t count, bytes_out, bytes_in;
	uint64_t delay, shared, possible; /* ticks, of calls that have ended */
	uint64_t open; /* ticks so far of open calls, not contained in other sums */
	uint32_t kinds;
	int32_t tag;
};

/* Returns ticks: the certain time plus the partner's part of divided time. */
static inline uint64_t total_partner_time(const struct total_partner *p)
{
	return p->delay + p->shared;
}

/* A position in the code, by the addresses of its file. */
struct total_frame {
	int module; /* index in the totals' modules; -1: unknown */
	uint64_t address;
};

struct total_site {
	struct segview_site v;
	struct total_frame frame[SEG_SITE_DEPTH]; /* v.depth of them */
};

/* Calls of a function whose bytes are in one class, as struct segview_size. */
struct total_size {
	unsigned func, class;
	uint64_t count, bytes, delay;
};

struct total_module {
	uint32_t build_id_bytes;
	uint8_t build_id[SEG_BUILD_ID_BYTES];
	char path[SEG_MODULE_PATH_BYTES];
};

/* Long tables, copied only on request. */
enum totals_with { TOTALS_PARTNERS = 1, TOTALS_SITES = 2, TOTALS_SIZES = 4, TOTALS_ALL = 7 };

struct totals {
	uint64_t ticks; /* the moment, on the process's clock */
	uint64_t timed; /* ticks for which the time of all calls was measured */
	uint32_t word; /* hook word of the first function */
	struct total_call *call; /* functions that were used, ascending */
	size_t ncall;
	struct total_partner *partner; /* each (function, rank) once, ascending */
	size_t npartner, partner_cap;
	uint64_t partner_lost; /* calls whose partner did not fit in the tables */
	struct total_site *site; /* each (function, frames) once, ascending */
	size_t nsite, site_cap;
	uint64_t site_lost; /* calls whose site did not fit in the tables */
	struct total_size *size; /* each (function, class) once, ascending */
	size_t nsize, size_cap;
	uint64_t size_lost; /* calls whose size did not fit in the tables */
	struct total_module *module; /* owned; modules of the sites' frames */
	size_t nmodule, module_cap;
};

/* with: enum totals_with. -ERR_NOMEM, -ERR_LIMIT. */
int totals_take(const struct segview *v, uint64_t ticks, unsigned with, struct totals **out);

/* The row of the same function, partner, site or size; NULL: there is none. O(log n). */
const struct total_call *totals_call(const struct totals *t, unsigned func);
const struct total_partner *totals_partner(const struct totals *t, const struct total_partner *p);
const struct total_site *totals_site(const struct totals *t, const struct total_site *s);
const struct total_size *totals_size(const struct totals *t, const struct total_size *s);

int totals_copy(const struct totals *t, struct totals **out);

/* NULL is fine. */
void totals_free(struct totals *t);

/* Calls and threads that did not fit in a segment, and are missing in all its values. */
struct losses {
	uint64_t threads, calls; /* threads without a block, and their calls */
	uint64_t partner_calls; /* calls whose partner did not fit in the tables */
	uint64_t actions; /* actions skipped because their table was changing */
	uint64_t requests; /* persistent requests whose bytes are not counted */
	uint64_t records; /* records of events, lost in a full ring */
};

/* Adds the losses of a segment to *to. */
void losses_add(struct losses *to, const struct segview *v);

#endif
