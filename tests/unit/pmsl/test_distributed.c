/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random metrics over random logs, evaluated by pieces in engines of nodes, sites and the top.
 * Events are lost, and whole ranks are late. Data on links are lost, late, doubled and out of
 * order. In the end the result is that of a walk over the text with the data that arrived. The
 * coverage of each read names the missing ranks. OMIG_PROGRAMS=N programs (300), OMIG_TEST_SEED the
 * seed of the first; each has the seed after that of the one before.
 */
#include "common/base/limits.h"
#include "common/flow/batch/batch.h"
#include "common/flow/engine/flow.h"
#include "pmsl/pmsl.h"
#include "tests/suite.h"
#include "tests/unit/pmsl/metrics.h"

#include <math.h>
#include <string.h>

#define PROGRAMS_DEFAULT 300
#define PIECES_MAX 8
#define BATCHES_MAX 64 /* of one piece and read */
#define LATE_MAX 2 /* reads */
/* a rank that is late in the last one reports in the next */
#define HURT_READS (WALK_READS + 1)
#define HEALED (HURT_READS + LATE_MAX + 1) /* by then all late data have arrived */
#define READS (HEALED + 3) /* then processes end, and sites and the top release them */
#define FAULT_PERCENT 12
#define KEYS (WALK_VTS + 4) /* and those that shifts make */

/* The data that a piece sent for one read. */
struct frame {
	struct buf batch[BATCHES_MAX];
	size_t n, tokens;
	unsigned from, due; /* piece; round in which it arrives, 0: never */
	unsigned times;
	bool has_come;
};

struct tree {
	const char *text;
	uint64_t seed;
	struct rng rng;
	struct pmsl_plan *plan;
	struct metrics_shape shape;
	enum flow_since since;
	bool is_central, has_vt_links, may_lose;
	struct flow *engine[PIECES_MAX];
	struct flow_batch_room room;
	struct walk_log story;
	bool is_late[WALK_PROCS][READS + 1]; /* the rank reports that read in the next one */
	bool is_gone[WALK_PROCS][KEYS]; /* a value that was lost on the way, by its key */
	struct frame frame[PIECES_MAX][READS + 1]; /* number r of piece i */
	struct frame *open; /* of the piece that is read */
	struct flow_token result[READS + 1];
	unsigned faults, lost_events, round;
};

static const struct world *world;

static unsigned roll(struct tree *t, unsigned n)
{
	return (unsigned)rng_below(&t->rng, n);
}

static bool is_hurt(struct tree *t)
{
	bool hurt = t->round <= HURT_READS && roll(t, 100) < FAULT_PERCENT;

	t->faults += hurt;
	return hurt;
}

/* --- places */

static struct place piece_at(const struct tree *t, unsigned i)
{
	return t->plan->pieces.v[i].place;
}

static unsigned above(const struct tree *t, unsigned i)
{
	for (unsigned k = 0; piece_at(t, i).kind == PLACE_NODE && k < t->plan->pieces.n; k++)
		if (piece_at(t, k).kind == PLACE_SITE &&
		    piece_at(t, k).object == world_site(world, piece_at(t, i).object))
			return k;
	return 0;
}

/* The piece of the rank's node; 0: it has none. */
static unsigned piece_of(const struct tree *t, unsigned rank)
{
	for (unsigned k = 1; k < t->plan->pieces.n; k++)
		if (piece_at(t, k).kind == PLACE_NODE &&
		    piece_at(t, k).object == metrics_node(rank))
			return k;
	return 0;
}

static bool is_below(const struct tree *t, unsigned rank, unsigned piece)
{
	unsigned own = piece_of(t, rank);

	return own && (own == piece || above(t, own) == piece);
}

/* --- results */

static void on_result(void *arg, const struct flow_result *r)
{
	struct tree *t = arg;

	ck_assert_int_eq(r->t.key, t->round);
	t->result[t->round] = r->t;
}

static void on_batch(void *arg, const struct flow_batch *b)
{
	struct tree *t = arg;
	struct frame *f = t->open;

	ck_assert_uint_lt(f->n, BATCHES_MAX);
	f->tokens += b->n;
	f->batch[f->n] = (struct buf)BUF_INIT(FRAME_MAX_BYTES);
	flow_batch_encode(&f->batch[f->n++], b);
}

/* --- on the way */

static void decode(struct tree *t, const struct buf *bytes, struct flow_batch *b)
{
	struct err e = { 0 };

	ck_assert_msg(flow_batch_decode(&t->room, bytes->p, bytes->n, b, &e) == 0, "%s", e.text);
}

/* The part of a set over processes for those below it, of these virtual times. */
static void forget_keys(struct tree *t, const struct frame *f)
{
	struct flow_batch b;

	for (size_t i = 0; i < f->n; i++) {
		decode(t, &f->batch[i], &b);
		for (size_t k = 0; k < b.n && b.domain == FLOW_VT; k++)
			for (unsigned p = 0; p < WALK_PROCS; p++)
				if (is_below(t, p, f->from) && b.t[k].key >= 1 && b.t[k].key < KEYS)
					t->is_gone[p][b.t[k].key] = true;
	}
}

static void send(struct tree *t, struct frame *f)
{
	f->due = t->round;
	f->times = 1;
	if (t->may_lose && is_hurt(t)) {
		f->due = 0;
		if (t->has_vt_links && !t->is_central)
			forget_keys(t, f);
	} else if (is_hurt(t)) {
		f->due += 1 + roll(t, LATE_MAX);
	}
	if (is_hurt(t))
		f->times = 2;
}

static void deliver(struct tree *t, struct frame *f)
{
	for (unsigned k = 0; k < f->times; k++)
		for (size_t i = f->n; i-- > 0;) {
			struct flow_batch b;
			struct err e = { 0 };

			decode(t, &f->batch[i], &b);
			ck_assert_msg(flow_take(t->engine[above(t, f->from)], &b, &e) == 0, "%s",
				      e.text);
		}
	f->has_come = true;
}

/* In any order: newest first, or oldest, from any piece on. */
static void deliver_due(struct tree *t, unsigned to)
{
	unsigned n = (unsigned)t->plan->pieces.n, first = roll(t, n);
	bool back = roll(t, 2);

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 1; k <= t->round; k++) {
			struct frame *f = &t->frame[(first + i) % n][back ? t->round + 1 - k : k];

			if (f->due && f->due <= t->round && !f->has_come && f->from &&
			    above(t, f->from) == to)
				deliver(t, f);
		}
}

static void read_piece(struct tree *t, unsigned i)
{
	struct frame *f = &t->frame[i][t->round];
	struct err e = { 0 };

	deliver_due(t, i);
	f->from = i;
	t->open = f;
	ck_assert_msg(flow_read(t->engine[i], 1, t->round, walk_read_time(t->round), &e) == 0, "%s",
		      e.text);
	if (i)
		send(t, f);
}

/* --- what happens in the ranks */

static void push_one(struct tree *t, unsigned i, uint32_t input, struct flow_token token)
{
	flow_push(t->engine[i], input, &token);
}

static void push_events(struct tree *t, unsigned i, uint32_t node, const struct flow_source *s)
{
	uint32_t input = flow_input(t->engine[i], 1, node);
	unsigned p = metrics_rank(s->process), first = roll(t, WALK_VTS), step = roll(t, 2) ? 1 : 5;

	for (unsigned k = 0; k < WALK_VTS; k++) {
		unsigned vt = 1 + (first + k * step) %
					  /* 1 and 5 have no factor with it: each occurs */
					  WALK_VTS;
		const struct walk_event *e = &t->story.event[p][vt];

		if (!e->is_lost && e->round == t->round)
			push_one(t, i, input,
				 flow_token_make(vt, metrics_value(&t->story, s, p, vt), 0,
						 e->time));
	}
}

static void push(struct tree *t, unsigned i)
{
	const struct flow_graph *g = t->plan->pieces.v[i].graph;
	unsigned read = t->round < WALK_READS ? t->round : WALK_READS;

	for (uint32_t k = 0; k < g->nnode; k++) {
		const struct flow_source *s = &g->node[k].source;

		if (g->node[k].kind != FLOW_INPUT)
			continue;
		if (*s->probe)
			push_events(t, i, k, s);
		else
			push_one(t, i, flow_input(t->engine[i], 1, k),
				 flow_token_make(
					 t->round,
					 t->story.sent_at_read[metrics_rank(s->object)][read], 0,
					 walk_read_time(t->round)));
	}
}

/* Time at which the host is notified, if ever. */
static void hurt_story(struct tree *t)
{
	for (unsigned p = 0; p < WALK_PROCS; p++) {
		for (unsigned r = 1; r <= WALK_READS; r++) {
			t->is_late[p][r] = roll(t, 100) < FAULT_PERCENT;
			t->faults += t->is_late[p][r];
		}
		for (unsigned vt = 1; vt <= WALK_VTS; vt++) {
			struct walk_event *e = &t->story.event[p][vt];

			e->is_lost = roll(t, 100) < 4;
			t->lost_events += e->is_lost;
			for (e->round = 1; e->time > walk_read_time(e->round);)
				e->round++;
			e->round += t->is_late[p][e->round];
		}
	}
}

/* --- the ends */

static void end_processes(struct tree *t)
{
	for (unsigned i = 0; i < t->plan->pieces.n; i++) {
		const struct flow_graph *g = t->plan->pieces.v[i].graph;

		for (uint32_t k = 0; k < g->nnode; k++)
			if (g->node[k].kind == FLOW_INPUT && *g->node[k].source.probe)
				flow_end(t->engine[i], flow_input(t->engine[i], 1, k));
	}
}

static void let_go(struct tree *t, enum place_kind where)
{
	for (unsigned i = 0; i < t->plan->pieces.n; i++) {
		const struct flow_graph *g = t->plan->pieces.v[i].graph;

		for (uint32_t k = 0; k < g->nnode && piece_at(t, i).kind == where; k++)
			if (g->node[k].kind == FLOW_LINK_IN && g->node[k].link.domain == FLOW_VT)
				ck_assert_int_eq(
					flow_link_close(t->engine[i], 1, g->node[k].link.name), 0);
	}
}

static void one_round(struct tree *t)
{
	static const enum place_kind up[] = { PLACE_NODE, PLACE_SITE, PLACE_TOP };

	if (t->round == HEALED + 1)
		end_processes(t);
	if (t->round == HEALED + 2)
		let_go(t, PLACE_SITE);
	if (t->round == HEALED + 3)
		let_go(t, PLACE_TOP);
	for (unsigned i = 0; i < t->plan->pieces.n; i++)
		push(t, i);
	for (size_t k = 0; k < 3; k++)
		for (unsigned i = (unsigned)t->plan->pieces.n; i-- > 0;)
			if (piece_at(t, i).kind == up[k])
				read_piece(t, i);
}

/* --- expected results */

/* The data of that piece for that read reached the top, in that read or a later one. */
static bool reaches(const struct tree *t, unsigned piece, unsigned read)
{
	while (piece && read) {
		const struct frame *f = &t->frame[piece][read];

		read = f->due;
		piece = above(t, piece);
	}
	return read != 0;
}

static bool is_gone(void *arg, unsigned rank, unsigned vt, unsigned round)
{
	const struct tree *t = arg;

	if (t->is_central)
		return false; /* as events */
	if (t->has_vt_links)
		return t->is_gone[rank][vt];
	return t->since == FLOW_SINCE_LAST && !reaches(t, piece_of(t, rank), round);
}

/* Evaluated at the top it is events that are lost on the way. */
static void lose_on_the_way(struct tree *t)
{
	for (unsigned p = 0; p < WALK_PROCS && t->is_central; p++)
		for (unsigned vt = 1; vt <= WALK_VTS; vt++) {
			struct walk_event *e = &t->story.event[p][vt];

			e->is_lost |= !reaches(t, piece_of(t, p), e->round);
		}
}

static bool is_close(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b) + 1);
}

#define demand(t, truth, ...)                                   \
	do {                                                    \
		bool holds_ = (truth);                          \
                                                                \
		if (!holds_)                                    \
			say_where(t);                           \
		ck_assert_msg(holds_, #truth ": " __VA_ARGS__); \
	} while (0)

static void say_where(const struct tree *t)
{
	fprintf(stderr,
		"OMIG_PROGRAMS=1 OMIG_TEST_SEED=%llu build/plain/tests/unit/pmsl/test_distributed\n"
		"since %d central %d vt links %d; %u faults, %u events lost\n%s\n",
		(unsigned long long)t->seed, t->since, t->is_central, t->has_vt_links, t->faults,
		t->lost_events, t->text);
	for (unsigned i = 0; i < t->plan->pieces.n; i++)
		for (unsigned r = 1; r <= READS; r++) {
			const struct frame *f = &t->frame[i][r];

			if (i && (f->due != r || f->times > 1))
				fprintf(stderr,
					"piece %u (above: %u), read %u: in round %u, %u times\n", i,
					above(t, i), r, f->due, f->times);
		}
}

/* Of a value since the start the last one, of one since the last read the sum of all. */
static double measured(const struct tree *t)
{
	double sum = 0;

	if (t->since == FLOW_SINCE_START)
		return t->result[t->has_vt_links ? READS : HEALED].value;
	for (unsigned r = 1; r <= READS; r++)
		sum += isnan(t->result[r].value) ? 0 : t->result[r].value;
	return sum;
}

static void check_value(struct tree *t)
{
	struct walk w = { .g = t->plan->dag,
			  .log = &t->story,
			  .since = FLOW_SINCE_START,
			  .rank = -1,
			  .read = WALK_READS,
			  .is_gone = is_gone,
			  .arg = t };
	double wanted, got = measured(t);

	lose_on_the_way(t);
	wanted = walk_metric(&w);
	if (t->since == FLOW_SINCE_LAST && isnan(wanted))
		wanted = 0;
	demand(t, is_close(wanted, got), "%.17g, not %.17g", got, wanted);
}

/* True if a host or site has not sent its frame of this read. */
static bool is_somebody_missing(const struct tree *t, unsigned read)
{
	for (unsigned i = 1; i < t->plan->pieces.n; i++)
		if (t->frame[i][read].due != read)
			return true;
	return false;
}

static void check_coverage(const struct tree *t)
{
	for (unsigned r = 1; r <= HEALED; r++) {
		const struct flow_token *v = &t->result[r];

		demand(t, v->k <= v->n && v->n, "read %u: %u of %u", r, v->k, v->n);
		demand(t, v->k == v->n || v->flags & (FLOW_PARTIAL | FLOW_MISSING),
		       "read %u: flags %x", r, v->flags);
		demand(t, !isnan(v->value) || v->flags, "read %u says nothing", r);
		if (t->has_vt_links)
			continue;
		if (is_somebody_missing(t, r))
			demand(t, v->k < v->n, "read %u: %u of %u, but somebody is missing", r,
			       v->k, v->n);
		else if (t->shape.kind == METRICS_OF_READS)
			demand(t, v->k == v->n || isnan(v->value),
			       "read %u: %u of %u, but all are there", r, v->k, v->n);
	}
}

/* Doubled and late data were counted. */
static void check_counts(const struct tree *t)
{
	uint64_t late = 0, doubles = 0, wanted_late = 0, wanted_doubles = 0;

	for (unsigned i = 0; i < t->plan->pieces.n; i++) {
		const struct flow_graph *g = t->plan->pieces.v[i].graph;

		for (uint32_t k = 0; k < g->nnode; k++) {
			struct flow_look look;

			ck_assert_int_eq(flow_look(t->engine[i], 1, k, &look), 0);
			if (g->node[k].kind != FLOW_LINK_IN)
				continue;
			late += look.count.late;
			doubles += look.count.doubles;
			demand(t, !look.count.overflow, "%u tokens had no room",
			       (unsigned)look.count.overflow);
		}
		for (unsigned r = 1; r <= READS; r++) {
			const struct frame *f = &t->frame[i][r];

			wanted_doubles += f->due && f->times > 1 ? f->tokens : 0;
			wanted_late += f->due > r ? f->tokens : 0;
		}
	}
	demand(t, doubles == wanted_doubles, "%u doubles, not %u", (unsigned)doubles,
	       (unsigned)wanted_doubles);
	demand(t, late == wanted_late, "%u late, not %u", (unsigned)late, (unsigned)wanted_late);
}

/* --- a program */

static void look_at_links(struct tree *t)
{
	for (unsigned i = 0; i < t->plan->pieces.n; i++)
		for (uint32_t k = 0; k < t->plan->pieces.v[i].graph->nnode; k++) {
			const struct flow_node *n = &t->plan->pieces.v[i].graph->node[k];

			t->has_vt_links |= n->kind == FLOW_LINK_IN && n->link.domain == FLOW_VT;
		}
	/*
	 * A set over processes of one virtual time is reported when it is whole. If it became a
	 * difference on its way, its read is unknown here.
	 */
	t->may_lose =
		t->is_central || t->since == FLOW_SINCE_START || t->shape.kind != METRICS_OF_VT;
}

static void open_engines(struct tree *t)
{
	const struct flow_limits limits = { 4, 4096, 64 << 20 };
	const struct flow_out out = { on_result, on_batch, t };

	ck_assert_uint_le(t->plan->pieces.n, PIECES_MAX);
	for (unsigned i = 0; i < t->plan->pieces.n; i++) {
		struct err e = { 0 };

		t->engine[i] = flow_new(&limits, &out);
		ck_assert_msg(flow_load(t->engine[i], t->plan->pieces.v[i].graph, 0, &e) == 0, "%s",
			      e.text);
	}
}

static void close_engines(struct tree *t)
{
	for (unsigned i = 0; i < t->plan->pieces.n; i++) {
		flow_free(t->engine[i]);
		for (unsigned r = 1; r <= READS; r++)
			while (t->frame[i][r].n)
				buf_done(&t->frame[i][r].batch[--t->frame[i][r].n]);
	}
	flow_batch_room_done(&t->room);
}

static void run(struct tree *t)
{
	look_at_links(t);
	hurt_story(t);
	open_engines(t);
	for (t->round = 1; t->round <= READS; t->round++)
		one_round(t);
	check_coverage(t);
	check_counts(t);
	check_value(t);
	close_engines(t);
}

static void try_one(struct tree *t, struct buf *text)
{
	static const struct bind_arg args[PMSL_PARAMS_MAX] = {
		[1] = { .is_given = true, .vt = walk_list, .nvt = WALK_RANGES }
	};
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct bind_options options = { .arg = args };
	struct pmsl_plan plan;
	struct pmsl *p = NULL;

	rng_init(&t->rng, t->seed);
	buf_clear(text);
	t->shape = metrics_say(&t->rng, text);
	t->text = buf_str(text);
	metrics_log(&t->rng, &t->story);
	t->is_central = options.is_central = roll(t, 3) == 0;
	t->since = options.since =
		metrics_adds_up(&t->shape) && roll(t, 2) ? FLOW_SINCE_LAST : FLOW_SINCE_START;
	ck_assert_int_eq(pmsl_compile("t", t->text, text->n, &d, &p), 0);
	demand(t,
	       pmsl_plan(&(struct pmsl_demand){ .text = p,
						.metric = pmsl_metric(p, "M", &d),
						.world = world,
						.options = &options,
						.measurement = 1 },
			 &d, &plan) == 0,
	       "%s", d.v[0].text);
	t->plan = &plan;
	run(t);
	pmsl_plan_done(&plan);
	pmsl_free(p);
}

TEST(result_covers_the_values_that_have_arrived)
{
	const char *options = getenv("OMIG_PROGRAMS");
	unsigned long n = options ? strtoul(options, NULL, 10) : PROGRAMS_DEFAULT;
	uint64_t seed = suite_seed(20261122);
	struct buf text = BUF_INIT(1 << 16);
	struct tree *t = malloc(sizeof(*t));
	unsigned long faults = 0, lost = 0;

	ck_assert_ptr_nonnull(t);
	world = metrics_world();
	for (unsigned long i = 0; i < n; i++) {
		memset(t, 0, sizeof(*t));
		t->seed = seed + i;
		try_one(t, &text);
		faults += t->faults;
		lost += t->lost_events;
	}
	printf("# programs %lu: faults %lu, events lost %lu\n", n, faults, lost);
	ck_assert_uint_ge(faults, n); /* else the test is void */
	free(t);
	buf_done(&text);
}

int main(void)
{
	setenv("CK_DEFAULT_TIMEOUT", "600", 0);
	return suite_run("distributed", NULL, NULL);
}
