/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/text/evalone.h"

/* Room for a description of the stream, and padding. */
#define SPARE_BYTES 4096

static int begin_block(const struct evalone *a)
{
	evtypes_done(a->types);
	evtypes_init(a->types);
	return a->describe ? a->describe(a->arg) : 0;
}

/* Returns the bytes that the event needs, its description included if that is new. 0: it is none.
 */
static size_t needs(const struct evalone *a, const struct event *ev, bool is_new)
{
	size_t bytes = evtype_record_bytes(ev->type, ev->value, ev->type->nfield);

	return bytes && is_new ? bytes + a->types->scratch.n : bytes;
}

static int number_of(const struct evalone *a, const struct event *ev, unsigned *number,
		     bool *is_new, struct err *e)
{
	size_t bytes;
	int rc = a->w->body.n ? 0 : begin_block(a);

	rc = rc ? rc : evtypes_number(a->types, ev, number, is_new, e);
	bytes = rc ? 0 : needs(a, ev, *is_new);
	if (rc || !a->w->head.events || a->w->body.n + bytes <= a->block_bytes)
		return rc;
	rc = evwrite_cut(a->w, false, e);
	rc = rc ? rc : begin_block(a);
	return rc ? rc : evtypes_number(a->types, ev, number, is_new, e);
}

int evalone_event(const struct evalone *a, const struct event *ev, struct err *e)
{
	unsigned number;
	bool is_new;
	int rc = number_of(a, ev, &number, &is_new, e);

	if (rc)
		return rc;
	if (needs(a, ev, true) > EVWRITE_BLOCK_BYTES - SPARE_BYTES)
		return err_set(e, ERR_LIMIT, "an event and its description of 124 KB and more");
	rc = is_new ? evwrite_define(a->w, number, ev->type, e) : 0;
	rc = rc ? rc : evwrite_event(a->w, number, ev, e);
	if (!rc && a->w->body.n >= a->block_bytes)
		rc = evwrite_cut(a->w, false, e);
	return rc;
}
