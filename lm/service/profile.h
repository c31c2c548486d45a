/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of omig_calls_profile: sums over the ranks of this host. */
#ifndef LM_SERVICE_PROFILE_H
#define LM_SERVICE_PROFILE_H

#include "common/base/buf.h"
#include "common/container/map.h"
#include "lm/proc/totals.h"
#include "lm/service/families.h"

enum window { WINDOW_ALL, WINDOW_ALL_AND_MARK, WINDOW_SINCE_MARK };
enum by { BY_CALL, BY_RANK, BY_PARTNER, BY_SITE, BY_SIZE, BY_KINDS };

/* One function in one rank, or in all ranks. */
struct sum {
	uint64_t count, bytes_out, bytes_in;
	int64_t delay_ns;
	unsigned in_call;
	unsigned ranks;
	int64_t most_rank, most_ns;
	/* extremes of measured calls that have ended; 0: there was none, PROFILE_UNKNOWN */
	int64_t shortest_ns, longest_ns;
};
#define PROFILE_UNKNOWN (-1)

/* Returns the difference of v and `before`. */
struct sum sum_of(const struct segview_call *v, const struct segview_call *before,
		  const struct ticks_scale *s);
void sum_add(struct sum *to, const struct sum *v);

struct pair {
	int32_t rank, partner;
	uint64_t count, bytes_out, bytes_in;
	int64_t delay_ns;
};

/* A function with one class of size in all ranks: a place for each in a table. */
#define PROFILE_SIZES (SEG_HOOKS * SEG_SIZE_CLASSES)
struct size {
	uint64_t count, bytes;
	int64_t delay_ns;
};

/* A call site in all ranks. */
struct site {
	unsigned func, depth;
	struct token process; /* a process that contains it */
	struct sum sum;
	int64_t longest_ns;
	char path[SEG_SITE_DEPTH][SEG_MODULE_PATH_BYTES]; /* "": not known */
	uint64_t address[SEG_SITE_DEPTH];
};

struct profile {
	const struct service_call *c;
	struct calls *calls;
	enum by by;
	enum window window;
	unsigned ranks, ended, untimed, unread, marked;
	int64_t timed_ns, longest_ns;
	uint32_t word;
	uint64_t left_out, lost;
	struct sum func[SEG_HOOKS];
	struct pair *pair; /* owned */
	size_t npair, pair_cap;
	struct site *site; /* owned */
	size_t nsite, site_cap;
	struct map site_by_hash; /* hash of function and frames -> number of the site, plus 1 */
	struct size *size; /* owned; PROFILE_SIZES, or NULL: none was added */
	struct buf objects, rows; /* tokens by commas; values by commas */
	struct omis_writer w; /* of rows */
};

static inline uint64_t profile_gained(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Adds the sites of a rank. */
int profile_add_sites(struct profile *f, const struct proc *p, const struct totals *t,
		      const struct totals *mark);
/* Writes the sites with most time as rows, and the sum of the others. */
void profile_write_sites(struct profile *f);
void profile_sites_done(struct profile *f);

#endif
