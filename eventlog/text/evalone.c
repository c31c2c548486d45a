/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/text/evalone.h"

#include <string.h>

/* Bytes for a description of the stream, and padding. */
#define SPARE_BYTES 4096

static int begin_block(const struct evalone *a)
{
	memset(a->said, 0, sizeof(*a->said));
	return a->describe ? a->describe(a->arg) : 0;
}

static bool is_said(const struct evalone *a, unsigned number)
{
	return a->said->bit[number / 8] >> number % 8 & 1;
}

/* Bytes of an event, and of its description; 0: it cannot be written. */
struct need {
	size_t event, description;
};

static struct need need_of(const struct evalone *a, const struct event *ev)
{
	return (struct need){ evtype_record_bytes(ev->type, ev->value, ev->type->nfield),
			      a->types->scratch.n };
}

/* Makes room: closes the block if it would become too long. */
static int make_room(const struct evalone *a, unsigned number, struct need need, struct err *e)
{
	size_t bytes = need.event + (is_said(a, number) ? 0 : need.description);
	int rc;

	if (need.event + need.description > EVWRITE_BLOCK_BYTES - SPARE_BYTES)
		return err_set(e, ERR_LIMIT, "an event and its description have 124 KB or more");
	if (!a->w->head.events || a->w->body.n + bytes <= a->block_bytes)
		return 0;
	rc = evwrite_cut(a->w, false, e);
	return rc ? rc : begin_block(a);
}

static int define(const struct evalone *a, unsigned number, const struct evtype *type,
		  struct err *e)
{
	int rc = is_said(a, number) ? 0 : evwrite_define(a->w, number, type, e);

	if (!rc)
		a->said->bit[number / 8] |= (uint8_t)(1 << number % 8);
	return rc;
}

int evalone_event(const struct evalone *a, const struct event *ev, struct err *e)
{
	unsigned number;
	bool is_new;
	int rc = a->w->body.n ? 0 : begin_block(a);

	rc = rc ? rc : evtypes_number(a->types, ev, &number, &is_new, e);
	rc = rc ? rc : make_room(a, number, need_of(a, ev), e);
	rc = rc ? rc : define(a, number, ev->type, e);
	rc = rc ? rc : evwrite_event(a->w, number, ev, e);
	if (!rc && a->w->body.n >= a->block_bytes)
		rc = evwrite_cut(a->w, false, e);
	return rc;
}
