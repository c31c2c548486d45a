/* SPDX-License-Identifier: Apache-2.0 */
#include "common/flow/batch/rest.h"

#include <math.h>

static uint64_t hash_of(const char *link)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (; *link; link++)
		h = (h ^ (uint8_t)*link) * UINT64_C(1099511628211);
	return h;
}

void flow_rest_clear(struct flow_rest *r)
{
	r->n = 0;
	r->sum = 0;
}

/* True if the batch contains only the value 0, with full coverage. */
static bool says_zero(const struct flow_batch *b)
{
	const struct flow_token *t = b->t;

	return b->domain == FLOW_READ && !b->partial && b->n == 1 && !b->lost && t->value == 0 &&
	       !signbit(t->value) && t->error == 0 && !t->flags && t->key == b->read && t->k == 1 &&
	       t->n == 1;
}

static void note_times(struct flow_rest *r, const struct flow_token *t)
{
	if (!r->n) {
		r->first = r->last = t->time;
		r->oldest = t->oldest;
		r->newest = t->newest;
		return;
	}
	r->first = t->time < r->first ? t->time : r->first;
	r->last = t->time > r->last ? t->time : r->last;
	r->oldest = t->oldest < r->oldest ? t->oldest : r->oldest;
	r->newest = t->newest > r->newest ? t->newest : r->newest;
}

bool flow_rest_take(struct flow_rest *r, const struct flow_batch *b)
{
	if (!says_zero(b) || (r->n && (r->measurement != b->measurement || r->read != b->read)))
		return false;
	note_times(r, b->t);
	r->measurement = b->measurement;
	r->read = b->read;
	if (r->n < FLOW_REST_MIN)
		r->few[r->n] = (struct flow_rest_one){ b->link, *b->t };
	r->n++;
	r->sum += hash_of(b->link);
	return true;
}

void flow_rest_give(struct flow_rest *r, void (*put)(void *arg, const struct flow_batch *b),
		    void *arg)
{
	struct flow_batch b = {
		.measurement = r->measurement, .read = r->read, .domain = FLOW_READ, .n = 1
	};
	struct flow_token t = flow_token_make(r->read, 0, 0, r->first + (r->last - r->first) / 2);

	for (uint32_t i = 0; i < r->n && r->n < FLOW_REST_MIN; i++) {
		b.link = r->few[i].link;
		b.t = &r->few[i].t;
		put(arg, &b);
	}
	if (r->n >= FLOW_REST_MIN) {
		t.oldest = r->oldest;
		t.newest = r->newest;
		b.link = r->few[0].link;
		b.t = &t;
		b.rest = r->n;
		b.rest_sum = r->sum;
		put(arg, &b);
	}
	flow_rest_clear(r);
}

int flow_rest_apart(const struct flow_batch *rest, const struct flow_rest_links *links)
{
	struct flow_batch one = *rest;
	uint64_t sum = 0;
	uint32_t n = 0;

	for (size_t i = 0; (one.link = links->at(links->arg, i)); i++)
		if (!links->has_reported(links->arg, one.link, rest->read)) {
			sum += hash_of(one.link);
			n++;
		}
	if (n != rest->rest || sum != rest->rest_sum)
		return -ERR_INVALID;
	one.rest = 0;
	one.rest_sum = 0;
	for (size_t i = 0; (one.link = links->at(links->arg, i)); i++)
		if (!links->has_reported(links->arg, one.link, rest->read))
			links->take(links->arg, &one);
	return 0;
}
