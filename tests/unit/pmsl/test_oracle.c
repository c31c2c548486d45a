/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random metrics over random logs: what the pieces of their graphs give, run by
 * an engine in each node and site and at the top, equals what a walk over the
 * text with the whole log at hand gives. The walk knows nothing of graphs, of
 * pieces or of partial aggregates.
 */
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/flow/flow.h"
#include "pmsl/pmsl.h"
#include "tests/suite.h"
#include "tests/unit/pmsl/walk.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define PROGRAMS 1000
#define SECOND INT64_C(1000000000)

static struct rng rng;

static unsigned roll(unsigned n)
{
	return (unsigned)rng_below(&rng, n);
}

/* --- the world: two sites of two nodes of two processes */

static struct world_object objects[2 + 4 + WALK_PROCS];
static char tokens[2 + 4 + WALK_PROCS][8];
static const struct world world = { objects, 2 + 4 + WALK_PROCS };
static uint32_t proc_at[WALK_PROCS]; /* rank -> object */

static uint32_t put_object(uint32_t i, enum pmsl_kind kind, char letter, int64_t rank,
			   uint32_t parent)
{
	snprintf(tokens[i], sizeof(tokens[i]), "%c_%u", letter, i);
	objects[i] = (struct world_object){ kind, tokens[i], NULL, rank, parent };
	return i;
}

static void make_world(void)
{
	uint32_t at = 0, site = 0, node = 0;
	unsigned p;

	for (p = 0; p < WALK_PROCS; p++) {
		if (p % 4 == 0)
			site = put_object(at, PMSL_T_SITE, 's', -1, WORLD_NONE), at++;
		if (p % 2 == 0)
			node = put_object(at, PMSL_T_NODE, 'n', -1, site), at++;
		proc_at[p] = put_object(at, PMSL_T_PROCESS, 'p', p, node);
		at++;
	}
}

/* --- a log */

static struct walk_log story;

static void make_log(void)
{
	unsigned p, vt, r;

	for (p = 0; p < WALK_PROCS; p++) {
		nsec_t t = 1 + roll(1000);
		double sent = 0;

		for (vt = 1; vt <= WALK_VTS; vt++) {
			t += SECOND + (nsec_t)roll(2000) * 1000000;
			sent += roll(100);
			story.event[p][vt] = (struct walk_event){ t, sent, (double)roll(50) - 10 };
		}
		for (r = 1; r <= WALK_READS; r++)
			story.sent_at_read[p][r] =
				story.sent_at_read[p][r - 1] * (r > 1) + roll(1000);
	}
}

/* --- random metrics: numbers only, so that units fit */

static void say(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

/* A value of process p at virtual time vt. */
static void say_event(struct buf *b, unsigned depth)
{
	static const char *const leaves[] = {
		"(r AT e(p, vt))",
		"(r AT e(p, vt-1))",
		"(1 AT e(p, vt))",
		"((Send_volume(p, [START,NOW]) AT e(p, vt) - Send_volume(p, [START,NOW]) AT e(p, "
		"vt-1)) / b)",
		"((r * 2 + p.rank) AT e(p, vt))",
		"((Time(NOW) AT e(p, vt) - Time(NOW) AT e(p, vt-2)) / s)",
	};
	static const char *const ops[] = { "+", "-", "*" };

	if (!depth || roll(3) == 0) {
		say(b, "%s", leaves[roll(6)]);
		return;
	}
	if (roll(4) == 0) {
		say(b, "IF(");
		say_event(b, depth - 1);
		say(b, " > %u, ", roll(10));
		say_event(b, depth - 1);
		say(b, ", ");
		say_event(b, depth - 1);
	} else {
		say(b, "(");
		say_event(b, depth - 1);
		say(b, " %s ", ops[roll(3)]);
		say_event(b, depth - 1);
	}
	say(b, ")");
}

static const char *any_fold(void)
{
	static const char *const folds[] = { "SUM", "MIN", "MAX", "MEAN", "COUNT" };

	return folds[roll(5)];
}

static const char *any_choice(void)
{
	static const char *const choices[] = { "", " AND p.rank > 1", " AND p.rank % 2 == 0",
					       " AND (p.rank < 3 OR p.rank == 7)" };

	return choices[roll(4)];
}

/*
 * True when the graph may count a process' value before those of the others have come: MAX of MAX
 * the other way round. Then only the end is the same.
 */
static bool say_metric(struct buf *b)
{
	const char *inner = any_fold(), *outer = any_fold();
	bool is_swapped = false;

	/* One byte and one second: what is divided by them has no unit. */
	say(b, "Byte(Value v) : Unit(\"B\") { RETURN v; }\nSecond(Value v) : Unit(\"s\") { RETURN "
	       "v; }\n");
	say(b, "M(Process[] ps, TimeInterval t) { PROBE e(Process, VirtualTime, Value r);\nProcess "
	       "p; VirtualTime vt;"
	       " Value[][] x; Value[] y; Value b = Byte(1), s = Second(1);\nx[p][vt] = ");
	say_event(b, 2);
	say(b, ";\n");
	switch (roll(4)) {
	case 0: /* over processes, then over virtual time */
		is_swapped = true;
		say(b,
		    "y[vt] = %s(x[p][vt] WHERE p IN ps%s);\nRETURN %s(y[vt] WHERE y[vt].time IN "
		    "t%s);",
		    inner, any_choice(), outer, roll(2) ? "" : " AND y[vt] > 3");
		break;
	case 1: /* over virtual time, then over processes */
		say(b,
		    "y[p] = %s(x[p][vt] WHERE x[p][vt].time IN t%s);\nRETURN %s(y[p] WHERE p IN "
		    "ps%s);",
		    inner, roll(2) ? "" : " AND x[p][vt] > 0", outer, any_choice());
		break;
	case 2: /* over both at once */
		say(b, "RETURN %s(x[p][vt] WHERE p IN ps%s AND x[p][vt].time IN t);", outer,
		    any_choice());
		break;
	default: /* of reads */
		say(b,
		    "y[p] = Send_volume(p, t) / b * %u + p.rank;\nRETURN %s(y[p] WHERE p IN ps%s "
		    "AND y[p] > %u) + 1;",
		    roll(5), outer, any_choice(), roll(900));
	}
	say(b, " }");
	return is_swapped;
}

/* --- the pieces, each in an engine of its own */

#define PIECES_MAX 8

struct tree {
	struct pmsl_plan *plan;
	struct flow *engine[PIECES_MAX];
	unsigned at; /* the piece that is read */
	double result;
	bool has_result;
};

static void on_result(void *arg, const struct flow_result *r)
{
	struct tree *t = arg;

	t->result = r->t.value;
	t->has_result = true;
}

static unsigned above(const struct tree *t, unsigned i)
{
	struct place at = t->plan->pieces.v[i].place;
	unsigned k;

	for (k = 0; at.kind == PLACE_NODE && k < t->plan->pieces.n; k++)
		if (t->plan->pieces.v[k].place.kind == PLACE_SITE &&
		    t->plan->pieces.v[k].place.object == world_site(&world, at.object))
			return k;
	return 0;
}

static void on_batch(void *arg, const struct flow_batch *b)
{
	struct tree *t = arg;
	struct err e = { 0 };

	ck_assert_msg(flow_take(t->engine[above(t, t->at)], b, &e) == 0, "%s", e.text);
}

static void start(struct tree *t)
{
	const struct flow_limits limits = { 4, 4096, 64 << 20 };
	const struct flow_out out = { on_result, on_batch, t };
	struct err e = { 0 };
	unsigned i;

	ck_assert_uint_le(t->plan->pieces.n, PIECES_MAX);
	for (i = 0; i < t->plan->pieces.n; i++) {
		t->engine[i] = flow_new(&limits, &out);
		ck_assert_msg(flow_load(t->engine[i], t->plan->pieces.v[i].graph, 0, &e) == 0, "%s",
			      e.text);
	}
}

static unsigned rank_of(const char *token)
{
	unsigned p;

	for (p = 0; p < WALK_PROCS; p++)
		if (str_eq(tokens[proc_at[p]], token))
			return p;
	ck_abort_msg("no process %s", token);
}

static double value_of(const struct flow_source *s, unsigned p, unsigned vt)
{
	if (s->kind == FLOW_SOURCE_EVENT)
		return 1;
	if (s->kind == FLOW_SOURCE_TIME)
		return (double)story.event[p][vt].time / 1e9;
	return s->kind == FLOW_SOURCE_PARAMETER ? story.event[p][vt].extra
						: story.event[p][vt].sent;
}

static void push_one(struct tree *t, unsigned i, uint32_t input, int64_t key, double value,
		     nsec_t time)
{
	struct flow_token token = flow_token_make(key, value, 0, time);

	flow_push(t->engine[i], input, &token);
}

/* What happens in the piece up to read r, input by input; virtual times come in any order. */
static void push_events(struct tree *t, unsigned i, uint32_t node, const struct flow_source *s,
			unsigned r)
{
	uint32_t input = flow_input(t->engine[i], 1, node);
	unsigned p = rank_of(s->process), vt, k, first = roll(WALK_VTS), step = roll(2) ? 1 : 5;

	for (k = 0; k < WALK_VTS; k++) {
		const struct walk_event *e;

		/* 1 and 5 have no factor with WALK_VTS: each comes. */
		vt = 1 + (first + k * step) % WALK_VTS;
		e = &story.event[p][vt];
		if (e->time > walk_read_time(r - 1) && e->time <= walk_read_time(r))
			push_one(t, i, input, vt, value_of(s, p, vt), e->time);
	}
}

static void push(struct tree *t, unsigned i, unsigned r)
{
	const struct flow_graph *g = t->plan->pieces.v[i].graph;
	uint32_t k;

	for (k = 0; k < g->nnode; k++) {
		const struct flow_source *s = &g->node[k].source;

		if (g->node[k].kind != FLOW_INPUT)
			continue;
		if (*s->probe) {
			push_events(t, i, k, s, r);
		} else {
			push_one(t, i, flow_input(t->engine[i], 1, k), r,
				 story.sent_at_read[rank_of(s->object)][r], walk_read_time(r));
		}
	}
}

/* From the nodes to the top: those below come later in the list. */
static void read_all(struct tree *t, unsigned r)
{
	struct err e = { 0 };
	unsigned i;

	t->has_result = false;
	for (i = 0; i < t->plan->pieces.n; i++)
		push(t, i, r);
	for (i = (unsigned)t->plan->pieces.n; i-- > 0;)
		if (t->plan->pieces.v[i].place.kind == PLACE_NODE) {
			t->at = i;
			ck_assert_msg(flow_read(t->engine[i], 1, r, walk_read_time(r), &e) == 0,
				      "%s", e.text);
		}
	for (i = (unsigned)t->plan->pieces.n; i-- > 0;)
		if (t->plan->pieces.v[i].place.kind != PLACE_NODE) {
			t->at = i;
			ck_assert_msg(flow_read(t->engine[i], 1, r, walk_read_time(r), &e) == 0,
				      "%s", e.text);
		}
}

static bool is_close(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b) + 1);
}

static void compare(const char *source, struct pmsl_plan *plan, const struct bind_wish *wish,
		    bool only_end)
{
	struct tree t = { .plan = plan };
	struct walk w = { .g = plan->dag, .log = &story, .since = wish->since, .rank = -1 };
	unsigned r, i;

	start(&t);
	for (r = 1; r <= WALK_READS; r++) {
		double wanted;

		read_all(&t, r);
		w.read = r;
		wanted = walk_metric(&w);
		if (only_end && r < WALK_READS)
			continue;
		ck_assert_msg(is_close(wanted, t.has_result ? t.result : NAN),
			      "%s\nread %u: %.17g, not %.17g (since %d, central %d)", source, r,
			      t.has_result ? t.result : NAN, wanted, wish->since, wish->is_central);
	}
	for (i = 0; i < plan->pieces.n; i++)
		flow_free(t.engine[i]);
}

static void try_one(struct buf *source)
{
	static const struct bind_arg args[PMSL_PARAMS_MAX];
	struct bind_wish wish = { .arg = args, .is_central = roll(3) == 0 };
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct pmsl *p = NULL;
	struct pmsl_plan plan;
	bool only_end;

	buf_clear(source);
	only_end = say_metric(source);
	wish.since = !only_end && roll(2) ? FLOW_SINCE_LAST : FLOW_SINCE_START;
	make_log();
	ck_assert_int_eq(pmsl_compile("t", buf_str(source), source->n, &d, &p), 0);
	ck_assert_msg(!d.nerror, "%s\n%s", buf_str(source), d.v[0].text);
	ck_assert_msg(pmsl_plan(p, pmsl_metric(p, "M", &d), &world, &wish, 1, &d, &plan) == 0,
		      "%s\n%s", buf_str(source), d.v[0].text);
	compare(buf_str(source), &plan, &wish, only_end);
	pmsl_plan_done(&plan);
	pmsl_free(p);
}

START_TEST(pieces_give_what_a_walk_over_the_text_gives)
{
	struct buf source = BUF_INIT(1 << 16);
	unsigned i;

	rng_init(&rng, suite_seed(20261122));
	make_world();
	for (i = 0; i < PROGRAMS; i++)
		try_one(&source);
	buf_done(&source);
}
END_TEST

SUITE("oracle", pieces_give_what_a_walk_over_the_text_gives)
