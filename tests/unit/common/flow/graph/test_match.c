/* SPDX-License-Identifier: Apache-2.0 */
/* Matching against a model that searches: random orders, losses, doubles, late and closed
 * inputs. */
#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/flow/graph/match.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

#define INPUTS_MAX 130
#define KEYS_MAX 200
#define TOKENS_MAX 4000 /* and firings */

/* The events of a key, in their order. */
struct firing {
	int64_t key;
	bool whole;
	bool has[INPUTS_MAX];
};

struct log {
	struct firing f[TOKENS_MAX];
	size_t n, late, doubles;
};

/* --- the model: all keys that are remembered, in no order */

struct model_key {
	int64_t key;
	bool fired, has[INPUTS_MAX];
};

struct model {
	struct model_key k[KEYS_MAX];
	size_t n, window, nin;
	bool closed[INPUTS_MAX];
	int64_t from[INPUTS_MAX]; /* waited for above it */
	int64_t floor;
};

static void note(struct log *l, const struct model_key *k, bool whole)
{
	struct firing *f = &l->f[l->n++];

	*f = (struct firing){ .key = k->key, .whole = whole };
	memcpy(f->has, k->has, sizeof(f->has));
}

static void model_fire_whole(struct model *m, struct model_key *k, struct log *l)
{
	for (size_t i = 0; i < m->nin; i++)
		if (!k->has[i] && !m->closed[i] && k->key > m->from[i])
			return;
	if (!k->fired)
		note(l, k, true);
	k->fired = true;
}

static size_t model_lowest(const struct model *m)
{
	size_t at = 0;

	for (size_t i = 1; i < m->n; i++)
		if (m->k[i].key < m->k[at].key)
			at = i;
	return at;
}

static struct model_key *model_key(struct model *m, int64_t key, struct log *l)
{
	size_t low = model_lowest(m);

	for (size_t i = 0; i < m->n; i++)
		if (m->k[i].key == key)
			return &m->k[i];
	if (m->n == m->window) {
		if (key < m->k[low].key)
			return NULL;
		m->floor = m->k[low].key;
		if (!m->k[low].fired)
			note(l, &m->k[low], false);
		m->k[low] = m->k[--m->n];
	}
	m->k[m->n] = (struct model_key){ .key = key };
	return &m->k[m->n++];
}

static void model_put(struct model *m, int64_t key, size_t input, struct log *l)
{
	struct model_key *k = key <= m->floor || m->closed[input] ? NULL : model_key(m, key, l);

	if (!k) {
		l->late++;
		return;
	}
	if (k->fired || k->has[input]) {
		l->doubles += !k->fired;
		l->late += k->fired;
		return;
	}
	k->has[input] = true;
	model_fire_whole(m, k, l);
}

/* By rising key, as the table does it. */
static void model_close(struct model *m, size_t input, struct log *l)
{
	int64_t done = INT64_MIN;

	m->closed[input] = true;
	for (;;) {
		struct model_key *next = NULL;

		for (size_t i = 0; i < m->n; i++)
			if (m->k[i].key > done && (!next || m->k[i].key < next->key))
				next = &m->k[i];
		if (!next)
			return;
		done = next->key;
		model_fire_whole(m, next, l);
	}
}

static void model_reopen(struct model *m, size_t input)
{
	m->closed[input] = false;
	for (size_t i = 0; i < m->n; i++)
		if (m->k[i].key > m->from[input])
			m->from[input] = m->k[i].key;
}

/* --- the table, driven as a node drives it */

static void fire(struct match *m, uint32_t slot, int64_t key, bool whole, struct log *l)
{
	struct firing *f = &l->f[l->n++];

	*f = (struct firing){ .key = key, .whole = whole };
	for (uint32_t i = 0; i < m->nin; i++)
		f->has[i] = match_has(m, slot, i);
}

static void put(struct match *m, int64_t key, uint32_t input, struct log *l)
{
	enum match_what what;
	uint32_t slot;

	while ((what = match_put(m, key, input, &slot)) == MATCH_FULL)
		if (match_evict(m, &slot))
			fire(m, slot, m->floor, false, l);
	l->late += what == MATCH_LATE;
	l->doubles += what == MATCH_DOUBLE;
	if ((what == MATCH_FIRST || what == MATCH_MORE) && match_is_complete(m, slot)) {
		match_fire(m, key);
		fire(m, slot, key, true, l);
	}
}

static void close_input(struct match *m, uint32_t input, struct log *l)
{
	if (!match_close(m, input))
		return;
	for (uint32_t i = 0; i < m->n; i++) {
		struct match_key k = *match_at(m, i);

		if (k.slot == MATCH_FIRED || !match_is_complete(m, k.slot))
			continue;
		match_fire(m, k.key);
		fire(m, k.slot, k.key, true, l);
	}
}

static void same(const struct log *a, const struct log *b)
{
	ck_assert_uint_eq(a->late, b->late);
	ck_assert_uint_eq(a->doubles, b->doubles);
	ck_assert_uint_eq(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		ck_assert_int_eq(a->f[i].key, b->f[i].key);
		ck_assert(a->f[i].whole == b->f[i].whole);
		ck_assert(!memcmp(a->f[i].has, b->f[i].has, sizeof(a->f[i].has)));
	}
}

struct event {
	int64_t key;
	uint32_t input;
};

/* Keys that rise by `step`, of inputs that drift apart by up to `drift` keys, with loss and
 * doubles. */
static size_t some_events(struct event *v, struct rng *r, uint32_t nin, int64_t step,
			  uint64_t drift)
{
	size_t n = 0;

	for (int64_t key = 1; n < TOKENS_MAX / 2 && key < 60; key++) {
		for (uint32_t i = 0; i < nin && n < TOKENS_MAX / 2; i++) {
			if (rng_below(r, 20) == 0)
				continue;
			v[n++] = (struct event){ key * step, i };
			if (rng_below(r, 30) == 0 && n < TOKENS_MAX / 2)
				v[n++] = (struct event){ key * step, i };
		}
	}
	for (size_t i = 0; i + 1 < n; i++) {
		size_t k = i + rng_below(r, drift * nin + 1);
		struct event e = v[i];

		if (k >= n)
			continue;
		v[i] = v[k];
		v[k] = e;
	}
	return n;
}

static struct log want, got;

static void one_world(struct rng *r)
{
	static struct event v[TOKENS_MAX];
	static struct model model;
	uint32_t window = 1u << rng_below(r, 6),
		 nin = 1 + (uint32_t)rng_below(r, rng_below(r, 9) ? 8 : 130);
	size_t n = some_events(v, r, nin, 1 + (int64_t)rng_below(r, 3) * 7, rng_below(r, 12));
	struct match m;

	want.n = want.late = want.doubles = 0;
	got.n = got.late = got.doubles = 0;
	memset(&model, 0, sizeof(model));
	model.window = window;
	model.nin = nin;
	model.floor = INT64_MIN;
	for (size_t i = 0; i < nin; i++)
		model.from[i] = INT64_MIN;
	ck_assert_int_eq(match_init(&m, window, nin), 0);
	for (size_t i = 0; i < n; i++) {
		uint32_t other = (uint32_t)rng_below(r, nin);

		if (rng_below(r, 100) == 0 && !model.closed[other]) {
			model_close(&model, other, &want);
			close_input(&m, other, &got);
		} else if (rng_below(r, 30) == 0 && model.closed[other]) {
			model_reopen(&model, other);
			ck_assert(match_reopen(&m, other));
		}
		model_put(&model, v[i].key, v[i].input, &want);
		put(&m, v[i].key, v[i].input, &got);
	}
	same(&want, &got);
	match_done(&m);
}

TEST(the_table_does_what_a_search_over_all_keys_does)
{
	struct rng r;

	rng_init(&r, suite_seed(11));
	for (int i = 0; i < 1500; i++)
		one_world(&r);
}

TEST(a_wide_window_matches_tokens_in_any_order)
{
	static struct event v[TOKENS_MAX];
	struct rng r;
	struct match m;
	size_t n;

	rng_init(&r, suite_seed(12));
	for (int round = 0; round < 300; round++) {
		size_t whole = 0;

		n = 0;
		for (int64_t key = -20; key < 44; key++)
			for (uint32_t i = 0; i < 5; i++)
				v[n++] = (struct event){ key, i };
		for (size_t i = n; i > 1; i--) {
			size_t k = rng_below(&r, i);
			struct event e = v[i - 1];

			v[i - 1] = v[k];
			v[k] = e;
		}
		memset(&got, 0, sizeof(got));
		ck_assert_int_eq(match_init(&m, 64, 5), 0);
		for (size_t i = 0; i < n; i++)
			put(&m, v[i].key, v[i].input, &got);
		for (size_t i = 0; i < got.n; i++)
			whole += got.f[i].whole;
		ck_assert_uint_eq(whole, 64);
		ck_assert_uint_eq(got.late + got.doubles, 0);
		match_done(&m);
	}
}

TEST(keys_at_the_ends_of_their_range_are_keys)
{
	static const int64_t keys[] = { INT64_MIN, INT64_MAX, 0, -1, INT64_MIN + 1, INT64_MAX - 1 };
	struct match m;

	memset(&got, 0, sizeof(got));
	ck_assert_int_eq(match_init(&m, 8, 2), 0);
	for (uint32_t input = 0; input < 2; input++)
		for (size_t i = 0; i < ARRAY_LEN(keys); i++)
			put(&m, keys[i], input, &got);
	ck_assert_uint_eq(got.n, ARRAY_LEN(keys));
	for (size_t i = 0; i < got.n; i++)
		ck_assert_int_eq(got.f[i].key, keys[i]);
	match_done(&m);
}

TEST(without_memory_there_is_no_table)
{
	ALLOC_SWEEP (k) {
		struct match m;
		int rc = match_init(&m, 16, 70);

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		match_done(&m);
	}
}

SUITE("match")
