/* SPDX-License-Identifier: Apache-2.0 */
/* The replies of hosts have totals; a sample has the increase of the totals. */
#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/omis/text/value.h"
#include "mainsm/history/live_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values of omig_job_sample(). */
enum {
	GOT_TIME,
	GOT_JOB,
	GOT_PROGRAM,
	GOT_LOWEST,
	GOT_WORLD,
	GOT_PROCESSES,
	GOT_ALIVE,
	GOT_RANKS,
	GOT_COUNTED,
	GOT_VOLUMES,
	GOT_ANSWERED,
	GOT_IN_MPI,
	GOT_AGE,
	GOT_CPU,
	GOT_RSS,
	GOT_RSS_MAX,
	GOT_CALLS,
	GOT_EACH_RANK,
	GOT_VALUES
};
enum { CALL_NAME, CALL_CLASS, CALL_NUMBERS, CALL_VALUES = CALL_NUMBERS + 4 };
enum {
	EACH_RANK,
	EACH_PID,
	EACH_STATE,
	EACH_COUNTS,
	EACH_CPU,
	EACH_RSS,
	EACH_COUNT,
	EACH_OUT,
	EACH_IN,
	EACH_DELAYS,
	EACH_VALUES = EACH_DELAYS + CALL_CLASSES
};

static int64_t int_at(const struct omis_value *v, size_t i)
{
	int64_t n = 0;

	omis_value_i64(&v[i], &n);
	return n;
}

static double double_at(const struct omis_value *v, size_t i)
{
	double f = 0;

	omis_value_double(&v[i], &f);
	return isfinite(f) ? f : 0;
}

static const char *text_at(const struct omis_value *v, size_t i)
{
	const char *s = omis_value_text(&v[i], NULL);

	return s ? s : "";
}

static struct live_part *find_part(struct live_job *j, const char *node)
{
	struct live_part *p;

	list_each (i, &j->parts) {
		p = list_entry(i, struct live_part, in_parts);
		if (str_eq(p->node, node))
			return p;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	str_copy(p->node, sizeof(p->node), node);
	list_push_back(&j->parts, &p->in_parts);
	return p;
}

/* --- calls */

static struct live_call *find_total(struct live_part *p, const char *name)
{
	for (size_t i = 0; i < p->ncall; i++)
		if (str_eq(p->call[i].name, name))
			return &p->call[i];
	if (array_grow(&p->call, &p->cap, p->ncall + 1, sizeof(*p->call), HISTORY_CALLS_MAX))
		return NULL;
	p->call[p->ncall] = (struct live_call){ .name = str_dup(name) };
	return p->call[p->ncall].name ? &p->call[p->ncall++] : NULL;
}

static struct history_call *find_added(struct live_job *j, const char *name, const char *class)
{
	struct history_call *c;

	for (size_t i = 0; i < j->ncall; i++)
		if (str_eq(j->call[i].name, name))
			return &j->call[i];
	if (array_grow(&j->call, &j->cap, j->ncall + 1, sizeof(*j->call), HISTORY_CALLS_MAX))
		return NULL;
	c = &j->call[j->ncall];
	*c = (struct history_call){ .name = str_dup(name), .class = str_dup(class) };
	if (c->name && c->class) {
		j->ncall++;
		return c;
	}
	free((char *)c->name);
	free((char *)c->class);
	return NULL;
}

/*
 * The increase of a total. A total that decreased adds nothing: an earlier sample contains its old
 * value.
 */
static int64_t added(struct live_job *j, int64_t now, int64_t *before)
{
	int64_t more = now - *before;

	*before = now;
	if (more < 0)
		j->sum.flags |= HISTORY_FELL;
	return more < 0 ? 0 : more;
}

static bool add_call(struct live_job *j, struct live_part *p, const struct omis_value *v)
{
	struct live_call *total = find_total(p, text_at(v, CALL_NAME));
	struct history_call *c = find_added(j, text_at(v, CALL_NAME), text_at(v, CALL_CLASS));
	int64_t more[4];

	if (!total || !c)
		return false;
	for (unsigned i = 0; i < 4; i++)
		more[i] = added(j, int_at(v, CALL_NUMBERS + i), &total->v[i]);
	if (!p->has_base)
		return true;
	c->count += more[0];
	c->delay_ns += more[1];
	c->bytes_out += more[2];
	c->bytes_in += more[3];
	return true;
}

/* --- ranks */

static double since(double now, double before, double span_s)
{
	return span_s > 0 && now >= before ? (now - before) / span_s : (double)NAN;
}

static void rank_values(float *out, const struct omis_value *v, const struct live_total *was,
			double span_s)
{
	const struct live_total none = { 0 };
	/* in its last interval, an ended rank counts as in the interval before */
	int64_t counts = was && int_at(v, EACH_STATE) == MSG_STATE_ENDED ? was->counts
									 : int_at(v, EACH_COUNTS);
	const double *b = was ? was->v : none.v;

	out[HISTORY_STATE] = (float)int_at(v, EACH_STATE);
	out[HISTORY_COUNTS] = (float)counts;
	out[HISTORY_RSS] = (float)double_at(v, EACH_RSS);
	out[HISTORY_CPU] = (float)since(double_at(v, EACH_CPU), b[RANK_CPU], span_s);
	if (!(counts & 1))
		span_s = 0; /* the totals do not cover this interval */
	out[HISTORY_CALLS_S] = (float)since((double)int_at(v, EACH_COUNT), b[RANK_CALLS], span_s);
	for (unsigned k = 0; k < CALL_CLASSES; k++)
		out[HISTORY_SHARES + k] = (float)since((double)int_at(v, EACH_DELAYS + k) / 1e9,
						       b[RANK_DELAYS + k], span_s);
	if (!(counts & 2))
		span_s = 0;
	out[HISTORY_OUT_S] = (float)since((double)int_at(v, EACH_OUT), b[RANK_OUT], span_s);
	out[HISTORY_IN_S] = (float)since((double)int_at(v, EACH_IN), b[RANK_IN], span_s);
}

static struct live_total *find_rank(struct live_part *p, int64_t rank, int64_t pid)
{
	for (size_t i = 0; i < p->nrank; i++)
		if (p->rank[i].rank == rank && p->rank[i].pid == pid)
			return &p->rank[i];
	return NULL;
}

static void keep_totals(struct live_total *t, const struct omis_value *v)
{
	t->rank = int_at(v, EACH_RANK);
	t->pid = int_at(v, EACH_PID);
	if (int_at(v, EACH_STATE) != MSG_STATE_ENDED)
		t->counts = int_at(v, EACH_COUNTS);
	t->v[RANK_CPU] = double_at(v, EACH_CPU);
	t->v[RANK_CALLS] = (double)int_at(v, EACH_COUNT);
	t->v[RANK_OUT] = (double)int_at(v, EACH_OUT);
	t->v[RANK_IN] = (double)int_at(v, EACH_IN);
	for (unsigned k = 0; k < CALL_CLASSES; k++)
		t->v[RANK_DELAYS + k] = (double)int_at(v, EACH_DELAYS + k) / 1e9;
}

/* span_s: since the totals of the last sample of ranks, or the job's beginning. */
static bool add_rank(struct live_job *j, struct live_part *p, const struct omis_value *v,
		     double span_s)
{
	struct live_total *was = find_rank(p, int_at(v, EACH_RANK), int_at(v, EACH_PID));
	struct live_rank *r;

	if (array_grow(&j->rank, &j->rank_cap, j->nrank + 1, sizeof(*j->rank), HISTORY_RANKS_MAX))
		return false;
	r = &j->rank[j->nrank++];
	r->rank = int_at(v, EACH_RANK);
	r->part = p;
	rank_values(r->value, v, was, was || !p->ranks_at ? span_s : 0);
	if (!was &&
	    array_grow(&p->rank, &p->rank_cap, p->nrank + 1, sizeof(*p->rank), HISTORY_RANKS_MAX))
		return false;
	keep_totals(was ? was : &p->rank[p->nrank++], v);
	return true;
}

static bool add_ranks(struct live_job *j, struct live_part *p, const struct omis_value *list,
		      nsec_t wall)
{
	bool is_from_start = !p->ranks_at && j->began >= j->live->started;
	nsec_t from = is_from_start ? j->began : p->ranks_at;
	double span_s = from && wall > from ? (double)(wall - from) / 1e9 : 0;

	for (size_t i = 0; i < list->list.n; i++) {
		const struct omis_value *v = &list->list.v[i];

		if (v->kind != OMIS_LIST || v->list.n < EACH_VALUES ||
		    int_at(v->list.v, EACH_RANK) < 0)
			return false;
		if (!add_rank(j, p, v->list.v, span_s))
			return false;
	}
	if (list->list.n)
		p->ranks_at = wall;
	return true;
}

/* --- a host's part of a job */

static void add_sums(struct live_job *j, struct live_part *p, const struct omis_value *v)
{
	double cpu = double_at(v, GOT_CPU), rss_max = double_at(v, GOT_RSS_MAX);

	if (p->has_base && cpu > p->cpu_s)
		j->sum.cpu_ms += (int64_t)((cpu - p->cpu_s) * 1e3);
	p->cpu_s = cpu;
	j->sum.counted += int_at(v, GOT_COUNTED);
	j->sum.volumes += int_at(v, GOT_VOLUMES);
	j->sum.answered += int_at(v, GOT_ANSWERED);
	j->sum.in_mpi += int_at(v, GOT_IN_MPI);
	j->sum.rss += (int64_t)double_at(v, GOT_RSS);
	j->sum.rss_max = (int64_t)rss_max > j->sum.rss_max ? (int64_t)rss_max : j->sum.rss_max;
	if (int_at(v, GOT_LOWEST) == 0)
		str_copy(j->program, sizeof(j->program), text_at(v, GOT_PROGRAM));
}

/* A job that began after the history counts from its beginning, else from its first sample. */
static void begin_part(struct live_job *j, struct live_part *p, double age_s, nsec_t wall)
{
	nsec_t began = wall - (nsec_t)(age_s * 1e9);

	if (age_s >= 0 && (!j->began || began < j->began))
		j->began = began;
	if (age_s > j->age_s)
		j->age_s = age_s;
	p->has_base = age_s >= 0 && began >= j->live->started;
}

static bool add_values(struct live *l, const char *node, const struct omis_values *v, nsec_t wall)
{
	struct live_job *j = v->n < GOT_VALUES ? NULL : smap_find(&l->jobs, text_at(v->v, GOT_JOB));
	struct live_part *p = j ? find_part(j, node) : NULL;

	if (v->n < GOT_VALUES || v->v[GOT_CALLS].kind != OMIS_LIST ||
	    v->v[GOT_EACH_RANK].kind != OMIS_LIST)
		return false;
	if (!p)
		return true; /* the job has ended, or is not known yet */
	if (!p->is_known)
		begin_part(j, p, double_at(v->v, GOT_AGE), wall);
	j->answered_nodes++;
	add_sums(j, p, v->v);
	for (size_t i = 0; i < v->v[GOT_CALLS].list.n; i++) {
		const struct omis_value *c = &v->v[GOT_CALLS].list.v[i];

		if (c->kind != OMIS_LIST || c->list.n < CALL_VALUES || !add_call(j, p, c->list.v))
			return false;
	}
	p->is_known = p->has_base = true;
	return add_ranks(j, p, &v->v[GOT_EACH_RANK], wall);
}

void live_add(struct live *l, const struct reply *r, nsec_t wall)
{
	for (size_t i = 0; i < r->nentry; i++) {
		struct omis_values *v = NULL;

		if (r->entry[i].status != STATUS_OK)
			continue;
		if (omis_parse_values(r->entry[i].value, r->entry[i].nvalue, &v, NULL) ||
		    !add_values(l, r->entry[i].objects, v, wall))
			l->strange++;
		omis_values_free(v);
	}
}

/* --- the ranks of a sample */

static int by_rank(const void *a, const void *b)
{
	const struct live_rank *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static const char *host_of(const struct directory *d, const struct live_part *p)
{
	const struct object *node = directory_find(d, p->node);

	return node && node->name[0] ? node->name : p->node;
}

/* "n1:0-3 n2:4-5 n1:6" */
static void write_nodes(struct buf *b, const struct live_rank *r, size_t n,
			const struct directory *d)
{
	for (size_t k = 0, run; k < n; k += run) {
		for (run = 1; k + run < n && r[k + run].part == r[k].part &&
			      r[k + run].rank == r[k].rank + (int64_t)run;)
			run++;
		buf_printf(b, "%s%s:%lld", k ? " " : "", host_of(d, r[k].part),
			   (long long)r[k].rank);
		if (run > 1)
			buf_printf(b, "-%lld", (long long)r[k + run - 1].rank);
	}
}

/* Sorts by rank. If two processes have one rank, as after a restart, the later one is kept. */
size_t live_order_ranks(struct live_job *j)
{
	size_t n = 0;

	if (j->nrank > 1)
		qsort(j->rank, j->nrank, sizeof(*j->rank), by_rank);
	for (size_t i = 0; i < j->nrank; i++) {
		if (n && j->rank[n - 1].rank == j->rank[i].rank)
			n--;
		j->rank[n++] = j->rank[i];
	}
	j->nrank = n;
	return n;
}

int live_ranks(const struct live_job *j, const struct directory *d, size_t first,
	       struct history_ranks *out)
{
	struct buf nodes = BUF_INIT(EV_RECORD_MAX_BYTES);
	size_t n = j->nrank - first;
	struct history_rank *rank;

	n = n < HISTORY_RANKS_EACH_MAX ? n : HISTORY_RANKS_EACH_MAX;
	rank = calloc(n, sizeof(*rank));
	write_nodes(&nodes, &j->rank[first], n, d);
	if (!rank || nodes.failed) {
		free(rank);
		buf_done(&nodes);
		return -ERR_NOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		rank[i].rank = j->rank[first + i].rank;
		memcpy(rank[i].value, j->rank[first + i].value, sizeof(rank[i].value));
	}
	*out = (struct history_ranks){ .job = j->name, .rank = rank, .n = n };
	out->nodes = (const char *)buf_take(&nodes, NULL);
	return 0;
}
