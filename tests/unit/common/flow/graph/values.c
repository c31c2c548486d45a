/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/flow/graph/values.h"

#include "common/flow/batch/batch.h"
#include "tests/suite.h"

#include <math.h>

#define PARTS_MAX 7

static double some_value(struct rng *r, unsigned family)
{
	double u = rng_double(r);

	switch (family) {
	case 0:
		return u * 100;
	case 1:
		return ldexp(u - 0.5, (int)rng_below(r, 200) - 100);
	case 2:
		return rng_below(r, 3) ? floor(u * 10) - 5 : 0;
	case 3:
		return 1e9 + u;
	default:
		return rng_below(r, 20) ? u : rng_below(r, 2) ? INFINITY : -INFINITY;
	}
}

void some_values(struct values *w, struct rng *r, unsigned family)
{
	w->n = rng_below(r, 10) ? rng_below(r, 300) : rng_below(r, VALUES_MAX);
	for (size_t i = 0; i < w->n; i++) {
		w->v[i] = some_value(r, family);
		w->error[i] = rng_below(r, 2) ? 0 : rng_double(r);
	}
}

void bag_init(struct bag *b, enum agg_kind kind)
{
	agg_init(&b->a, kind, &b->sketch);
}

void values_fold(struct bag *out, const struct values *w, enum agg_kind kind, struct rng *r)
{
	static struct bag part[PARTS_MAX];
	size_t parts = 1 + rng_below(r, PARTS_MAX);

	for (size_t k = 0; k < parts; k++)
		bag_init(&part[k], kind);
	for (size_t i = 0; i < w->n; i++)
		agg_add(&part[rng_below(r, parts)].a, w->v[i], w->error[i]);
	while (parts > 1) {
		size_t from = rng_below(r, parts), into = rng_below(r, parts - 1);

		into += into >= from;
		ck_assert(agg_is_sane(&part[from].a));
		agg_merge(&part[into].a, &part[from].a);
		if (from != parts - 1) {
			bag_init(&part[from], kind);
			agg_copy(&part[from].a, &part[parts - 1].a);
		}
		parts--;
	}
	bag_init(out, kind);
	agg_copy(&out->a, &part[0].a);
}

double values_size(const struct values *w)
{
	double s = 0;

	for (size_t i = 0; i < w->n; i++)
		s += fabs(w->v[i]);
	return s;
}

void near(double got, double want, double bound)
{
	if (isnan(want) || isinf(want)) {
		ck_assert_msg(isnan(want) ? isnan(got) : got == want, "%g, not %g", got, want);
		return;
	}
	ck_assert_msg(fabs(got - want) <= bound, "%.17g is not within %g of %.17g", got, bound,
		      want);
}

void values_send(struct agg *a)
{
	struct flow_token t = { .key = 1, .k = 1, .n = 1 };
	struct flow_batch b = { .measurement = 1,
				.link = "l",
				.read = 1,
				.domain = FLOW_READ,
				.partial = true,
				.agg = a->kind,
				.n = 1,
				.t = &t,
				.a = a },
			  got;
	struct flow_batch_room room = { 0 };
	struct buf bytes = BUF_INIT(4096);

	flow_batch_encode(&bytes, &b);
	ck_assert_int_eq(flow_batch_decode(&room, bytes.p, bytes.n, &got, NULL), 0);
	*a = got.a[0];
	flow_batch_room_done(&room);
	buf_done(&bytes);
}
