/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/text/evtypes.h"

#include "common/base/rng.h"

#include <stdlib.h>
#include <string.h>

struct evtypes_one {
	unsigned number;
	size_t n;
	uint8_t description[]; /* encoded as in a stream, for comparison */
};

void evtypes_init(struct evtypes *t)
{
	*t = (struct evtypes){ .max = EV_TYPE_LAST, .scratch = BUF_INIT(2 * EV_RECORD_MAX_BYTES) };
	map_init(&t->known);
	rng_draw_key(&t->key);
}

void evtypes_done(struct evtypes *t)
{
	struct map_iter i = { 0 };

	while (map_next(&t->known, &i))
		free(i.value);
	map_done(&t->known);
	buf_done(&t->scratch);
}

static int add(struct evtypes *t, uint64_t hash, unsigned *out, struct err *e)
{
	struct evtypes_one *one;

	if (t->n >= t->max)
		return err_set(e, ERR_LIMIT, "more than %u kinds of events", t->max);
	one = malloc(sizeof(*one) + t->scratch.n);
	if (!one)
		return err_nomem(e);
	one->number = t->n + 1;
	one->n = t->scratch.n;
	memcpy(one->description, t->scratch.p, t->scratch.n);
	if (map_put(&t->known, hash, one, NULL)) {
		free(one);
		return err_nomem(e);
	}
	*out = ++t->n;
	return 0;
}

int evtypes_number(struct evtypes *t, const struct event *ev, unsigned *out, bool *is_new,
		   struct err *e)
{
	struct evtypes_one *one;
	uint64_t hash;
	int rc;

	buf_clear(&t->scratch);
	rc = evtype_encode(&t->scratch, 1, ev->type, false, e);
	if (!rc && ev->stream_type)
		rc = evtype_encode(&t->scratch, 0, ev->stream_type, false, e);
	if (rc)
		return rc;
	hash = hash_sip13(&t->key, t->scratch.p, t->scratch.n);
	/*
	 * Two descriptions with one hash cannot be made on purpose. If they occur, the next hash is
	 * used.
	 */
	while ((one = map_find(&t->known, hash))) {
		if (one->n == t->scratch.n && !memcmp(one->description, t->scratch.p, one->n)) {
			*out = one->number;
			*is_new = false;
			return 0;
		}
		hash++;
	}
	*is_new = true;
	return add(t, hash, out, e);
}

const struct evtype *evtypes_whole(struct evtypes_whole *w, const struct event *ev)
{
	const struct evtype *s = ev->stream_type, *t = ev->type;

	if (!s || !s->nconst)
		return t;
	if (s->nconst + t->nconst > EV_FIELDS_MAX)
		return NULL;
	memcpy(w->constant, s->constant, s->nconst * sizeof(*w->constant));
	if (t->nconst)
		memcpy(w->constant + s->nconst, t->constant, t->nconst * sizeof(*w->constant));
	w->type = *t;
	w->type.constant = w->constant;
	w->type.nconst = s->nconst + t->nconst;
	return &w->type;
}
