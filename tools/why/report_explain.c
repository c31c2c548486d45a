/* SPDX-License-Identifier: Apache-2.0 */
/* The figures behind a finding: its culprits against the median rank, block by block. */
#include "common/base/array.h"
#include "tools/term/table.h"
#include "tools/why/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct line {
	double seconds;
	size_t ranks;
	double useful; /* share of the time of all ranks outside of MPI */
	double median; /* of the ranks, seconds a second outside of MPI */
	double late; /* of the culprits, likewise; NaN without culprits, as are the others */
	double compute, run_delay, block_delay; /* of the culprits, seconds a second */
};

static double in_mpi(const struct why_rank *r)
{
	double sum = 0;

	for (size_t i = 0; i < WHY_CLASSES; i++)
		sum += isnan(r->delay[i]) ? 0 : r->delay[i];
	return r->seconds > 0 ? fmin(sum / r->seconds, 1) : (double)NAN;
}

static bool is_culprit(const struct why_finding *f, const struct why_rank *r)
{
	for (size_t i = 0; i < f->nrank; i++)
		if (f->rank[i] == r->rank)
			return true;
	for (size_t i = 0; f->is_host && i < f->nhost; i++)
		if (f->host[i] == r->host)
			return true;
	return false;
}

struct culprits {
	double late, figure[WHY_FIGURES];
	size_t n;
};

static void add_culprit(struct culprits *c, const struct why_rank *r)
{
	c->late += 1 - in_mpi(r);
	for (size_t i = 0; i < WHY_FIGURES; i++)
		c->figure[i] += r->figure[i] / r->seconds;
	c->n++;
}

/* False: no memory. */
static bool line_of(const struct why_finding *f, const struct why_block *b, struct line *out)
{
	double *useful = calloc(b->nrank + 1, sizeof(*useful)), sum = 0, seconds = 0;
	struct culprits c = { 0 };
	size_t n = 0;

	if (!useful)
		return false;
	for (size_t i = 0; i < b->nrank; i++) {
		const struct why_rank *r = &b->rank[i];

		if (r->seconds <= 0)
			continue;
		useful[n++] = 1 - in_mpi(r);
		sum += useful[n - 1] * r->seconds;
		seconds += r->seconds;
		if (is_culprit(f, r))
			add_culprit(&c, r);
	}
	qsort(useful, n, sizeof(*useful), array_order_double);
	*out = (struct line){ .seconds = (double)(b->end - b->begin) * 1e-9,
			      .ranks = n,
			      .useful = n ? sum / seconds : (double)NAN,
			      .median = n ? useful[n / 2] : (double)NAN,
			      .late = c.late / (double)c.n,
			      .compute = c.figure[WHY_COMPUTE] / (double)c.n,
			      .run_delay = c.figure[WHY_RUN_DELAY] / (double)c.n,
			      .block_delay = c.figure[WHY_BLOCK_DELAY] / (double)c.n };
	free(useful);
	return true;
}

static void put_share(struct table *t, double v)
{
	char text[TABLE_NUMBER_BYTES];

	table_cell(t, "%s", table_percent(text, v * 100));
}

int report_explain(const struct report *r, const struct term *term, const struct why_finding *f,
		   struct buf *out)
{
	static const char *const heads[] = { "BLOCK",	 "SECONDS", "RANKS",  "USEFUL%", "MEDIAN%",
					     "CULPRIT%", "CPU%",    "READY%", "DISK%" };
	struct table *t = table_new(ARRAY_LEN(heads), heads, "rrrrrrrrr");
	bool ok = t != NULL;

	report_finding(r, term, f, out);
	buf_puts(out, "\n");
	for (size_t i = 0; ok && i < r->kept->n; i++) {
		struct line l;

		ok = line_of(f, &r->kept->block[i].block, &l);
		if (!ok)
			break;
		table_cell(t, "%zu", i + 1);
		table_cell(t, "%.2f", l.seconds);
		table_cell(t, "%zu", l.ranks);
		put_share(t, l.useful);
		put_share(t, l.median);
		put_share(t, l.late);
		put_share(t, l.compute);
		put_share(t, l.run_delay);
		put_share(t, l.block_delay);
	}
	if (!ok) {
		table_free(t);
		return -ERR_NOMEM;
	}
	if (table_end(t, 0, out))
		return -ERR_NOMEM;
	buf_puts(out,
		 "\nUSEFUL is the time of all ranks outside of MPI calls, MEDIAN that of the "
		 "median rank, CULPRIT that of\nthe ranks above; CPU, READY and DISK are their "
		 "processor time, their time without a processor and\ntheir time blocked on "
		 "disks.\n");
	return 0;
}

void report_explain_json(const struct report *r, const struct why_finding *f, struct json *j)
{
	json_key_array(j, "blocks");
	for (size_t i = 0; i < r->kept->n; i++) {
		struct line l;

		if (!line_of(f, &r->kept->block[i].block, &l))
			break;
		json_object(j);
		json_key_double(j, "seconds", l.seconds);
		json_key_u64(j, "ranks", l.ranks);
		json_key_double(j, "useful", l.useful);
		json_key_double(j, "median", l.median);
		json_key_double(j, "culprit", l.late);
		json_key_double(j, "cpu", l.compute);
		json_key_double(j, "run_delay", l.run_delay);
		json_key_double(j, "block_delay", l.block_delay);
		json_object_end(j);
	}
	json_array_end(j);
}
