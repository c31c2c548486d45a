/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole tree of engines: 2 sites of 8 hosts of 3 processes. Batches are encoded, some are late by
 * one or two reads, some are lost; one host dies and one joins later.
 */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/rng.h"
#include "common/flow/batch/batch.h"
#include "common/flow/graph/graph_limits.h"
#include "tests/suite.h"
#include "tests/unit/common/flow/engine/world.h"
#include "tests/unit/common/flow/graph/made.h"

#include <string.h>

#define SITES 2
#define HOSTS 8 /* of a site */
#define PROCS 3 /* of a host */
#define ALL_HOSTS (SITES * HOSTS)
#define ALL (ALL_HOSTS * PROCS)
#define READS 30
#define LOOPS 5 /* iterations of a process in an interval */
#define MAIL_MAX 4096
#define M 1

enum output { OUT_COUNT, OUT_SUM, OUT_MEAN_OF_MAX, OUT_MEDIAN };

struct letter {
	uint8_t *p;
	size_t n;
	int64_t read, due; /* the round in which it arrives */
	int to; /* site, or SITES: the top */
	int from; /* host or site */
};

struct tree {
	struct rng rng;
	struct flow *host[ALL_HOSTS], *site[SITES], *top;
	struct flow_batch_room room;
	struct letter mail[MAIL_MAX];
	size_t nmail;
	unsigned late_percent, lost_percent;

	/* the current sender */
	int from, to;
	int64_t round, delay;
	bool lose;

	/* expected results */
	double sum, max[READS * LOOPS + 1];
	uint64_t events;
	bool in_time[READS + 4][ALL_HOSTS], site_in_time[READS + 4][SITES];

	struct flow_result got[READS + 4][4];
	size_t bytes, batches;
};

/* --- graphs */

static struct flow_graph *host_graph(void)
{
	struct flow_graph *g = flow_graph_new(M);
	uint32_t event[PROCS], count[PROCS], sum[PROCS], median[PROCS];

	for (unsigned p = 0; p < PROCS; p++)
		event[p] = made_event(g, p, "loop");
	for (unsigned p = 0; p < PROCS; p++) {
		count[p] = made_vt_agg(g, AGG_COUNT, true, FLOW_SINCE_START, event[p]);
		sum[p] = made_vt_agg(g, AGG_SUM, true, FLOW_SINCE_LAST, event[p]);
		median[p] = made_vt_agg(g, AGG_QUANTILE, true, FLOW_SINCE_LAST, event[p]);
	}
	made_link_out(g, "count", made_set(g, AGG_COUNT, true, count, PROCS));
	made_link_out(g, "sum", made_set(g, AGG_SUM, true, sum, PROCS));
	made_link_out(g, "median", made_set(g, AGG_QUANTILE, true, median, PROCS));
	made_link_out(g, "max", made_set(g, AGG_MAX, true, event, PROCS));
	return g;
}

/* The sets over n children of `behind` processes each. */
static void sets(struct flow_graph *g, unsigned n, uint32_t behind, uint32_t out[4])
{
	static const struct {
		const char *name;
		enum flow_domain domain;
		enum agg_kind agg;
		enum flow_since since;
	} link[] = {
		{ "count", FLOW_READ, AGG_COUNT, FLOW_SINCE_START },
		{ "sum", FLOW_READ, AGG_SUM, FLOW_SINCE_LAST },
		{ "max", FLOW_VT, AGG_MAX, FLOW_SINCE_LAST },
		{ "median", FLOW_READ, AGG_QUANTILE, FLOW_SINCE_LAST },
	};

	for (size_t l = 0; l < ARRAY_LEN(link); l++) {
		uint32_t in[HOSTS];
		char name[32];

		for (unsigned i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "%s %u", link[l].name, i);
			in[i] = made_link_in(g,
					     (struct flow_link){ .name = name,
								 .domain = link[l].domain,
								 .partial = true,
								 .fold = { .agg = link[l].agg,
									   .since = link[l].since },
								 .behind = behind });
		}
		out[l] = made_set(g, link[l].agg, behind == PROCS, in, n);
	}
}

static struct flow_graph *site_graph(void)
{
	struct flow_graph *g = flow_graph_new(M);
	uint32_t out[4];

	sets(g, HOSTS, PROCS, out);
	made_link_out(g, "count", out[0]);
	made_link_out(g, "sum", out[1]);
	made_link_out(g, "max", out[2]);
	made_link_out(g, "median", out[3]);
	return g;
}

static struct flow_graph *top_graph(void)
{
	struct flow_graph *g = flow_graph_new(M);
	uint32_t out[4];

	sets(g, SITES, PROCS * HOSTS, out);
	made_result(g, OUT_COUNT, out[0]);
	made_result(g, OUT_SUM, out[1]);
	made_result(g, OUT_MEAN_OF_MAX, made_vt_agg(g, AGG_MEAN, false, FLOW_SINCE_START, out[2]));
	made_result(g, OUT_MEDIAN, out[3]);
	return g;
}

/* --- batches in transit */

static void on_result(void *arg, const struct flow_result *r)
{
	struct tree *t = arg;

	ck_assert_int_lt(r->t.key, READS + 4);
	t->got[r->t.key][r->output] = *r;
}

/* A link is named by its child above: "sum" of host 3 is "sum 3". */
static void on_batch(void *arg, const struct flow_batch *b)
{
	struct tree *t = arg;
	struct flow_batch renamed = *b;
	struct buf bytes = BUF_INIT(FRAME_MAX_BYTES);
	char name[64];
	struct letter *l = &t->mail[t->nmail];

	if (t->lose)
		return;
	snprintf(name, sizeof(name), "%s %d", b->link, t->from % HOSTS);
	renamed.link = name;
	flow_batch_encode(&bytes, &renamed);
	ck_assert_uint_lt(t->nmail++, MAIL_MAX);
	*l = (struct letter){
		.read = b->read, .due = t->round + t->delay, .to = t->to, .from = t->from
	};
	l->p = buf_take(&bytes, &l->n);
	t->bytes += l->n;
	t->batches++;
}

static void deliver(struct tree *t, struct letter *l)
{
	struct flow_batch b;
	struct err e = { 0 };

	ck_assert_msg(!flow_batch_decode(&t->room, l->p, l->n, &b, &e), "%s", e.text);
	ck_assert_msg(!flow_take(l->to == SITES ? t->top : t->site[l->to], &b, &e), "%s", e.text);
	if (rng_below(&t->rng, 10) == 0) /* again */
		ck_assert(!flow_take(l->to == SITES ? t->top : t->site[l->to], &b, &e));
	if (l->read == t->round && l->to == SITES)
		t->site_in_time[l->read][l->from] = true;
	else if (l->read == t->round)
		t->in_time[l->read][l->from] = true;
	free(l->p);
}

/* The messages due at `to`, in any order. */
static void deliver_due(struct tree *t, int to)
{
	size_t kept = 0;

	for (size_t i = t->nmail; i > 1; i--) {
		size_t k = rng_below(&t->rng, i);
		struct letter l = t->mail[i - 1];

		t->mail[i - 1] = t->mail[k];
		t->mail[k] = l;
	}
	for (size_t i = 0; i < t->nmail; i++) {
		if (t->mail[i].to == to && t->mail[i].due <= t->round)
			deliver(t, &t->mail[i]);
		else
			t->mail[kept++] = t->mail[i];
	}
	t->nmail = kept;
}

/* --- a round: every process loops, every engine is read */

static void send_from(struct tree *t, struct flow *f, int from, int to)
{
	struct err e = { 0 };

	t->from = from;
	t->to = to;
	t->delay =
		rng_below(&t->rng, 100) < t->late_percent ? 1 + (int64_t)rng_below(&t->rng, 2) : 0;
	t->lose = rng_below(&t->rng, 100) < t->lost_percent;
	if (flow_read(f, M, t->round, START + t->round * SECOND, &e))
		ck_abort_msg("%s", e.text);
}

static void loop_of(struct tree *t, int host, unsigned p, int64_t vt, nsec_t time)
{
	double v = floor(rng_double(&t->rng) * 1000);
	struct flow_token token = flow_token_make(vt, v, 0, time);

	flow_push(t->host[host], flow_input(t->host[host], M, p), &token);
	t->events++;
	t->sum += v;
	t->max[vt] = fmax(t->max[vt], v);
}

/* Processes one after the other, as their rings are read. */
static void run_host(struct tree *t, int host, int to)
{
	nsec_t from = START + (t->round - 1) * SECOND;

	flow_announce(t->host[host], M, from + SECOND);
	for (unsigned p = 0; p < PROCS; p++)
		for (int i = 0; i < LOOPS; i++)
			loop_of(t, host, p, (t->round - 1) * LOOPS + i + 1, from + 1 + i * 1000);
	send_from(t, t->host[host], host, to);
}

static void all_links(struct tree *t, int host, int (*what)(struct flow *, uint32_t, const char *))
{
	static const char *const name[] = { "count", "sum", "max", "median" };
	char link[32];

	for (size_t i = 0; i < ARRAY_LEN(name); i++) {
		snprintf(link, sizeof(link), "%s %d", name[i], host % HOSTS);
		ck_assert_int_eq(what(t->site[host / HOSTS], M, link), 0);
	}
}

struct fate {
	int dies, comes; /* hosts; -1: none */
	int64_t dies_after, comes_at; /* rounds */
};

static bool lives(const struct fate *fate, int host, int64_t round)
{
	return !(host == fate->dies && round > fate->dies_after) &&
	       !(host == fate->comes && round < fate->comes_at);
}

static void report_sites(struct tree *t, const struct fate *fate)
{
	if (fate->comes >= 0 && t->round == 1)
		all_links(t, fate->comes, flow_link_close);
	if (fate->comes >= 0 && t->round == fate->comes_at)
		all_links(t, fate->comes, flow_link_open);
	if (fate->dies >= 0 && t->round == fate->dies_after + 3)
		all_links(t, fate->dies, flow_link_close);
}

static void one_round(struct tree *t, const struct fate *fate, bool loops)
{
	report_sites(t, fate);
	for (int h = 0; loops && h < ALL_HOSTS; h++)
		if (lives(fate, h, t->round))
			run_host(t, h, h / HOSTS);
	for (int s = 0; s < SITES; s++) {
		deliver_due(t, s);
		send_from(t, t->site[s], s, SITES);
	}
	deliver_due(t, SITES);
	send_from(t, t->top, 0, 0);
}

/* --- checks */

static uint32_t expected_k(const struct tree *t, int64_t read)
{
	uint32_t k = 0;

	for (int h = 0; h < ALL_HOSTS; h++)
		if (t->site_in_time[read][h / HOSTS] && t->in_time[read][h])
			k += PROCS;
	return k;
}

static void check_coverage(const struct tree *t)
{
	for (int64_t r = 1; r <= READS; r++) {
		const struct flow_token *sum = &t->got[r][OUT_SUM].t;

		ck_assert_uint_eq(sum->n, ALL);
		ck_assert_msg(sum->k == expected_k(t, r), "read %d: %u of %u, not %u", (int)r,
			      sum->k, sum->n, expected_k(t, r));
		ck_assert_uint_eq(t->got[r][OUT_COUNT].t.k, sum->k);
		ck_assert((sum->k < ALL) == ((sum->flags & FLOW_PARTIAL) != 0));
	}
}

/* Returns the value, or 0 if no contributor has reported. */
static double known(const struct flow_token *v)
{
	ck_assert(!isnan(v->value) || (v->k == 0 && v->flags & FLOW_MISSING));
	return isnan(v->value) ? 0 : v->value;
}

/* Late ones arrived in a later read; none arrived twice. */
static void check_totals(const struct tree *t)
{
	double sum = 0;

	for (int64_t r = 1; r < READS + 4; r++)
		sum += known(&t->got[r][OUT_SUM].t);
	ck_assert_msg(sum == t->sum, "%.17g, not %.17g", sum, t->sum);
}

static double mean_of_max(const struct tree *t, int64_t loops)
{
	double sum = 0;

	for (int64_t vt = 1; vt <= loops; vt++)
		sum += t->max[vt];
	return sum / (double)loops;
}

static struct flow *engine(struct tree *t, struct flow_graph *g)
{
	struct flow_limits limits = { 1, 1024, 64 << 20 };
	struct flow_out out = { on_result, on_batch, t };
	struct flow *f = flow_new(&limits, &out);
	struct err e = { 0 };

	ck_assert_msg(!flow_load(f, g, START, &e), "%s", e.text);
	flow_graph_free(g);
	return f;
}

static struct tree *tree_new(uint64_t seed, unsigned late_percent, unsigned lost_percent)
{
	struct tree *t = calloc(1, sizeof(*t));

	rng_init(&t->rng, seed);
	t->late_percent = late_percent;
	t->lost_percent = lost_percent;
	for (int h = 0; h < ALL_HOSTS; h++)
		t->host[h] = engine(t, host_graph());
	for (int s = 0; s < SITES; s++)
		t->site[s] = engine(t, site_graph());
	t->top = engine(t, top_graph());
	return t;
}

static void tree_free(struct tree *t)
{
	for (int h = 0; h < ALL_HOSTS; h++)
		flow_free(t->host[h]);
	for (int s = 0; s < SITES; s++)
		flow_free(t->site[s]);
	flow_free(t->top);
	for (size_t i = 0; i < t->nmail; i++)
		free(t->mail[i].p);
	flow_batch_room_done(&t->room);
	free(t);
}

/* Three more rounds without events and delays deliver the data in transit. */
static void run(struct tree *t, const struct fate *fate)
{
	for (t->round = 1; t->round <= READS; t->round++)
		one_round(t, fate, true);
	t->late_percent = t->lost_percent = 0;
	for (; t->round < READS + 4; t->round++)
		one_round(t, fate, false);
}

static const struct fate nobody = { -1, -1, 0, 0 };

TEST(in_a_quiet_tree_every_read_is_whole_and_right)
{
	struct tree *t = tree_new(suite_seed(21), 0, 0);

	run(t, &nobody);
	check_coverage(t);
	check_totals(t);
	for (int64_t r = 1; r <= READS; r++) {
		ck_assert_uint_eq(t->got[r][OUT_SUM].t.k, ALL);
		ck_assert_uint_eq(t->got[r][OUT_SUM].t.flags, 0);
		ck_assert(t->got[r][OUT_COUNT].t.value == (double)(r * LOOPS * ALL));
		ck_assert_double_eq_tol(t->got[r][OUT_MEAN_OF_MAX].t.value,
					mean_of_max(t, r * LOOPS), 1e-9);
		ck_assert_double_eq_tol(t->got[r][OUT_MEDIAN].t.value, 500, 150);
	}
	ck_assert_uint_eq(t->batches, (ALL_HOSTS + SITES) * 4 * READS + SITES * 4 * 3);
	tree_free(t);
}

TEST(late_values_are_reported_once_in_a_later_read)
{
	uint64_t seed = suite_seed(22);

	for (uint64_t i = 0; i < 10; i++) {
		struct tree *t = tree_new(seed + i, 10, 0);

		run(t, &nobody);
		check_coverage(t);
		check_totals(t);
		ck_assert(t->got[READS + 3][OUT_MEAN_OF_MAX].t.value ==
			  t->got[READS + 2][OUT_MEAN_OF_MAX].t.value);
		ck_assert_double_eq_tol(t->got[READS + 3][OUT_MEAN_OF_MAX].t.value,
					mean_of_max(t, READS * LOOPS), 1e-9);
		tree_free(t);
	}
}

TEST(the_coverage_shows_a_lost_host_and_a_new_one)
{
	uint64_t seed = suite_seed(23);

	for (uint64_t i = 0; i < 10; i++) {
		struct fate fate = { 3, HOSTS + 5, 8 + (int64_t)i, 4 + (int64_t)i };
		struct tree *t = tree_new(seed + i, i % 2 ? 8 : 0, 0);

		run(t, &fate);
		check_coverage(t);
		check_totals(t);
		ck_assert_double_eq_tol(t->got[READS + 3][OUT_MEAN_OF_MAX].t.value,
					mean_of_max(t, READS * LOOPS), 1e-9);
		if (i % 2 == 0)
			for (int64_t r = 1; r <= READS; r++)
				ck_assert_uint_eq(t->got[r][OUT_SUM].t.k,
						  ALL - (r > fate.dies_after) * PROCS -
							  (r < fate.comes_at) * PROCS);
		tree_free(t);
	}
}

/* Lost data are missing, and the coverage shows that; a count since the start recovers. */
TEST(only_lost_blocks_are_missing)
{
	uint64_t seed = suite_seed(24);

	for (uint64_t i = 0; i < 10; i++) {
		struct tree *t = tree_new(seed + i, 5, 5);

		run(t, &nobody);
		check_coverage(t);
		for (int64_t r = 1; r < READS + 4; r++)
			ck_assert_double_le(known(&t->got[r][OUT_COUNT].t), (double)t->events);
		tree_free(t);
	}
}

/* Checks the size of one batch, which does not depend on the number of events. */
TEST(a_batch_is_small)
{
	struct tree *t = tree_new(suite_seed(25), 0, 0);
	struct flow_token v = flow_token_make(1, 0.5, 0, START + 1);

	t->round = 1;
	t->to = SITES;
	for (int64_t vt = 1; vt <= 100000; vt++) {
		v.key = vt;
		v.time = START + vt;
		flow_push(t->host[0], flow_input(t->host[0], M, 0), &v);
	}
	send_from(t, t->host[0], 0, 0);
	for (size_t i = 0; i < t->nmail; i++) {
		struct flow_batch b;

		ck_assert_int_eq(flow_batch_decode(&t->room, t->mail[i].p, t->mail[i].n, &b, NULL),
				 0);
		if (b.domain == FLOW_READ)
			ck_assert_uint_le(t->mail[i].n, 64);
	}
	tree_free(t);
}

/* --- a site without anything to compute */

struct sent {
	struct buf bytes[2]; /* VT, READ */
};

static void keep_bytes(void *arg, const struct flow_batch *b)
{
	struct sent *s = arg;

	flow_batch_encode(&s->bytes[b->domain == FLOW_READ], b);
}

static struct flow *sender(struct sent *s, struct flow_graph *g)
{
	struct flow_limits limits = { 1, 64, 64 << 20 };
	struct flow_out out = { NULL, keep_bytes, s };
	struct flow *f = flow_new(&limits, &out);

	*s = (struct sent){ { BUF_INIT(FRAME_MAX_BYTES), BUF_INIT(FRAME_MAX_BYTES) } };
	ck_assert_int_eq(flow_load(f, g, START, NULL), 0);
	flow_graph_free(g);
	return f;
}

static void done(struct flow *f, struct sent *s)
{
	buf_done(&s->bytes[0]);
	buf_done(&s->bytes[1]);
	flow_free(f);
}

TEST(a_site_that_only_sends_on_changes_nothing)
{
	struct flow_graph *below = flow_graph_new(M), *through = flow_graph_new(M);
	uint32_t a = made_event(below, 0, "loop");
	struct flow_batch_room room = { 0 };
	struct sent from, onward;
	struct flow *host, *site;
	struct flow_batch b;

	made_link_out(below, "v", a);
	made_link_out(below, "r", made_vt_agg(below, AGG_QUANTILE, true, FLOW_SINCE_LAST, a));
	made_link_out(through, "v",
		      made_link_in(through, (struct flow_link){ .name = "v",
								.domain = FLOW_VT,
								.fold = { .agg = AGG_COUNT },
								.behind = 1 }));
	made_link_out(
		through, "r",
		made_link_in(through, (struct flow_link){ .name = "r",
							  .domain = FLOW_READ,
							  .partial = true,
							  .fold = { .agg = AGG_QUANTILE,
								    .since = FLOW_SINCE_LAST },
							  .behind = 1 }));
	host = sender(&from, below);
	site = sender(&onward, through);
	for (int64_t vt = 1; vt <= 300; vt++) {
		struct flow_token t = flow_token_make(vt, (double)vt / 7, 0.5, START + vt);

		flow_push(host, flow_input(host, M, 0), &t);
	}
	ck_assert_int_eq(flow_read(host, M, 1, START + SECOND, NULL), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(
			flow_batch_decode(&room, from.bytes[i].p, from.bytes[i].n, &b, NULL), 0);
		ck_assert_int_eq(flow_take(site, &b, NULL), 0);
	}
	ck_assert_int_eq(flow_read(site, M, 1, START + SECOND, NULL), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(from.bytes[i].n, onward.bytes[i].n);
		ck_assert(!memcmp(from.bytes[i].p, onward.bytes[i].p, from.bytes[i].n));
	}
	flow_batch_room_done(&room);
	done(host, &from);
	done(site, &onward);
}

SUITE("tree")
