/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/archive/ardesc.h"

#include "common/base/array.h"
#include "common/base/hash.h"
#include "eventlog/archive/arvalue.h"

#include <stdlib.h>
#include <string.h>

#define KNOWN_BYTES (32u << 20) /* bytes of descriptions in memory; others are looked up again */

void ardescs_init(struct ardescs *ds, struct arcat *cat, const struct arsql *sql)
{
	*ds = (struct ardescs){ .cat = cat, .sql = sql };
	evtypes_init(&ds->known);
}

void ardescs_clear(struct ardescs *ds)
{
	for (size_t i = 0; i < ds->known.n && i < ds->n; i++)
		if (ds->desc[i]) {
			free(ds->desc[i]->like);
			free(ds->desc[i]);
		}
	free(ds->desc);
	ds->desc = NULL;
	ds->n = ds->bytes = 0;
	memset(ds->cache, 0, sizeof(ds->cache));
	evtypes_done(&ds->known);
	evtypes_init(&ds->known);
}

int ardescs_load(struct ardescs *ds, struct err *e)
{
	return arsql_count(ds->sql, "SELECT max(d) FROM description", AR_COUNTS_MAX, &ds->last, e);
}

static const struct hash_key of_bytes; /* the same for all loaders */

struct sought {
	const struct buf *b;
	int64_t d;
};

static int take_description(void *arg, const struct arvalue *v, const char *const *names,
			    unsigned n, struct err *e)
{
	struct sought *s = arg;

	if (v[0].class == AR_INT && v[1].class == AR_BYTES && v[1].n == s->b->n &&
	    !memcmp(v[1].s, s->b->p, s->b->n))
		s->d = v[0].i;
	return 0;
}

static int number_description(struct ardescs *ds, struct ardesc *x, const struct buf *b,
			      struct err *e)
{
	int64_t hash = (int64_t)hash_sip13(&of_bytes, b->p, b->n);
	struct arvalue v[] = { AR_I(hash), AR_I(x->t->number), AR_I(x->like->level),
			       AR_B(b->p, b->n), AR_I(0) };
	struct sought s = { b, 0 };
	int rc = ds->sql->ops->run(
		ds->sql->db,
		&(struct arsql_statement){
			.text = "SELECT d, bytes FROM description WHERE hash = $1",
			.v = v,
			.n = 1 },
		take_description, &s, e);

	if (rc || s.d) {
		x->d = s.d;
		return rc;
	}
	x->d = ++ds->last;
	v[4] = AR_I(x->d);
	rc = arsql_run(
		ds->sql,
		"INSERT INTO description (hash, type, level, bytes, d) VALUES ($1, $2, $3, $4, $5)",
		v, 5, e);
	return rc ? rc
		  : arvalue_constants(
			    ds->sql,
			    "INSERT INTO constant (d, place, name, value) VALUES ($1, $2, $3, $4)",
			    x->d, x->like, e);
}

static int fill_description(struct ardescs *ds, struct ardesc *x, const struct buf *b,
			    struct err *e)
{
	int rc = arcat_type(ds->cat, ds->sql, x->like->name, &x->t, e);

	if (rc == -ERR_LIMIT) {
		x->t = NULL;
		return 0;
	}
	rc = rc ? rc : number_description(ds, x, b, e);
	for (unsigned i = 0; !rc && i < x->like->nfield; i++) {
		struct arfield like =
			arvalue_field(x->like, i, arvalue_class(x->like->field[i].kind));

		rc = arcat_field(ds->cat, x->t, &like, &x->field[i], e);
	}
	return rc;
}

static int add_description(struct ardescs *ds, unsigned number, const struct evtype *t,
			   struct ardesc **out, struct err *e)
{
	struct buf b = BUF_INIT(EV_RECORD_MAX_BYTES);
	struct ardesc *x = calloc(1, sizeof(*x) + t->nfield * sizeof(x->field[0]));
	unsigned same;
	int rc = x ? evtype_encode(&b, 1, t, false, e) : err_nomem(e);

	rc = rc ? rc : evtype_decode(buf_bytes(&b), false, &same, &x->like, e);
	rc = rc ? rc : fill_description(ds, x, &b, e);
	if (!rc && array_grow(&ds->desc, &ds->n, number, sizeof(struct ardesc *), EV_TYPE_LAST))
		rc = err_nomem(e);
	ds->bytes += 4 * b.n + 4096;
	buf_done(&b);
	if (rc) {
		if (x)
			free(x->like);
		free(x);
		return rc;
	}
	ds->desc[number - 1] = *out = x;
	return 0;
}

int ardescs_find(struct ardescs *ds, const struct evtype *t, struct ardesc **out, struct err *e)
{
	struct ardesc **cached = &ds->cache[((uintptr_t)t >> 5) % ARDESCS_CACHE];
	unsigned number;
	bool is_new;
	int rc;

	if (*cached && evtype_equal((*cached)->like, t)) {
		*out = *cached;
		return 0;
	}
	if (ds->bytes > KNOWN_BYTES || ds->known.n >= EV_TYPE_LAST)
		ardescs_clear(ds);
	rc = evtypes_number(&ds->known, &(struct event){ .type = t }, &number, &is_new, e);
	if (rc)
		return rc;
	if (is_new)
		rc = add_description(ds, number, t, out, e);
	else
		*out = ds->desc[number - 1];
	*cached = rc ? NULL : *out;
	return rc;
}
