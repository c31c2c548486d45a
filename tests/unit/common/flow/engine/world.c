/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/flow/engine/world.h"

#include "tests/suite.h"

static void on_result(void *arg, const struct flow_result *r)
{
	struct world *w = arg;

	ck_assert_uint_lt(w->n, WORLD_RESULTS_MAX);
	if (isnan(r->t.value)) /* has the reason */
		ck_assert(r->t.flags & (FLOW_NONE_YET | FLOW_DIV0 | FLOW_NAN | FLOW_MISSING));
	w->r[w->n] = *r;
	w->r[w->n++].a = NULL;
}

static void on_batch(void *arg, const struct flow_batch *b)
{
	(void)arg;
	ck_abort_msg("a batch for '%s'", b->link);
}

void world_init(struct world *w)
{
	struct flow_limits limits = { 16, 4096, 64 << 20 };
	struct flow_out out = { on_result, on_batch, w };

	w->n = 0;
	w->f = flow_new(&limits, &out);
	ck_assert_ptr_nonnull(w->f);
}

void world_done(struct world *w)
{
	flow_free(w->f);
}

void world_load(struct world *w, struct flow_graph *g)
{
	struct err e = { 0 };
	int rc = flow_load(w->f, g, START, &e);

	ck_assert_msg(!rc, "%s", e.text);
	ck_assert_uint_le(flow_size(w->f).state_bytes, 64 << 20);
	flow_graph_free(g);
}

void world_push(struct world *w, uint32_t m, uint32_t number, struct world_value v)
{
	struct flow_token t = flow_token_make(v.key, v.v, 0, v.time);

	flow_push(w->f, flow_input(w->f, m, number), &t);
}

/* Read r is r seconds after the start. */
void world_read(struct world *w, uint32_t m, int64_t read)
{
	struct err e = { 0 };
	int rc = flow_read(w->f, m, read, START + read * SECOND, &e);

	ck_assert_msg(!rc, "%s", e.text);
}

const struct flow_token *world_last(const struct world *w, uint32_t m, uint32_t output)
{
	for (size_t i = w->n; i-- > 0;)
		if (w->r[i].measurement == m && w->r[i].output == output)
			return &w->r[i].t;
	ck_abort_msg("no result of output %u", (unsigned)output);
}

void token_is(const struct flow_token *t, double value, uint32_t k, uint32_t n, uint32_t flags)
{
	char text[FLOW_FLAGS_TEXT_BYTES];

	ck_assert_msg(isnan(value) ? isnan(t->value)
				   : fabs(t->value - value) <= 1e-12 * fabs(value),
		      "%.17g, not %.17g", t->value, value);
	ck_assert_uint_eq(t->k, k);
	ck_assert_uint_eq(t->n, n);
	ck_assert_msg(t->flags == flags, "flags: %s", flow_flags_print(text, t->flags));
}

struct flow_counts world_counts(const struct world *w, uint32_t m, uint32_t number)
{
	struct flow_look look;

	ck_assert_int_eq(flow_look(w->f, m, number, &look), 0);
	return look.count;
}
