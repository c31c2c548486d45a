/* SPDX-License-Identifier: Apache-2.0 */
#include "common/omis/reply/reply.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/omis/text/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_TEXT_BYTES 512

struct reply *reply_new(void)
{
	struct arena *a = arena_new(sizeof(struct reply) + REPLY_MAX_BYTES);
	struct reply *r = a ? arena_alloc(a, sizeof(*r)) : NULL;

	if (!r)
		return NULL;
	r->arena = a;
	r->csr = "";
	return r;
}

void reply_free(struct reply *r)
{
	if (!r)
		return;
	free(r->entry);
	free(r->coverage.missing);
	arena_free(r->arena); /* the reply is a part of it */
}

static const char *copy(struct reply *r, const char *s)
{
	return s && *s ? arena_copy(r->arena, s, strlen(s)) : "";
}

int reply_add_n(struct reply *r, uint32_t action, const char *objects, unsigned status,
		struct bytes value)
{
	struct reply_entry *e;
	int rc =
		array_grow(&r->entry, &r->cap, r->nentry + 1, sizeof(*r->entry), REPLY_ENTRIES_MAX);

	if (rc)
		return rc;
	e = &r->entry[r->nentry];
	*e = (struct reply_entry){ .action = action, .status = status, .nvalue = value.n };
	e->objects = copy(r, objects);
	e->value = value.n ? arena_copy(r->arena, value.p, value.n) : "";
	if (!e->objects || !e->value)
		return -ERR_NOMEM;
	r->nentry++;
	return 0;
}

int reply_add(struct reply *r, uint32_t action, const char *objects, unsigned status,
	      const char *value)
{
	return reply_add_n(r, action, objects, status, bytes_at(value, value ? strlen(value) : 0));
}

int reply_add_error(struct reply *r, uint32_t action, const char *objects, unsigned status,
		    const char *fmt, ...)
{
	char text[ERROR_TEXT_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return reply_add(r, action, objects, status, text);
}

int reply_set_csr(struct reply *r, const char *csr)
{
	const char *s = copy(r, csr);

	if (!s)
		return -ERR_NOMEM;
	r->csr = s;
	return 0;
}

int reply_add_missing(struct reply *r, const char *object, const char *reason)
{
	struct reply_coverage *c = &r->coverage;
	struct reply_missing m;
	int rc;

	if (c->nmissing == REPLY_MISSING_MAX) {
		if (c->more_missing < UINT32_MAX)
			c->more_missing++;
		return 0;
	}
	for (size_t i = 0; i < c->nmissing; i++)
		if (str_eq(c->missing[i].object, object) && str_eq(c->missing[i].reason, reason))
			return 0;
	rc = array_grow(&c->missing, &c->cap, c->nmissing + 1, sizeof(*c->missing),
			REPLY_MISSING_MAX);
	if (rc)
		return rc;
	m = (struct reply_missing){ copy(r, object), copy(r, reason) };
	if (!m.object || !m.reason)
		return -ERR_NOMEM;
	c->missing[c->nmissing++] = m;
	return 0;
}

void reply_add_time(struct reply *r, int64_t oldest_ns, int64_t newest_ns)
{
	struct reply_coverage *c = &r->coverage;

	if (oldest_ns > 0 && (!c->oldest_ns || oldest_ns < c->oldest_ns))
		c->oldest_ns = oldest_ns;
	if (newest_ns > 0 && newest_ns > c->newest_ns)
		c->newest_ns = newest_ns;
}

static uint32_t add_sat(uint32_t a, uint32_t b)
{
	return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

static int append_coverage(struct reply *r, const struct reply_coverage *from)
{
	struct reply_coverage *c = &r->coverage;
	int rc = 0;

	for (size_t i = 0; !rc && i < from->nmissing; i++)
		rc = reply_add_missing(r, from->missing[i].object, from->missing[i].reason);
	if (rc)
		return rc;
	c->asked = add_sat(c->asked, from->asked);
	c->answered = add_sat(c->answered, from->answered);
	c->more_missing = add_sat(c->more_missing, from->more_missing);
	reply_add_time(r, from->oldest_ns, from->newest_ns);
	return 0;
}

int reply_append(struct reply *r, const struct reply *from)
{
	size_t entries = r->nentry, missing = r->coverage.nmissing;
	uint32_t more = r->coverage.more_missing;
	int rc = 0;

	for (size_t i = 0; !rc && i < from->nentry; i++) {
		const struct reply_entry *e = &from->entry[i];

		rc = reply_add_n(r, e->action, e->objects, e->status,
				 bytes_at(e->value, e->nvalue));
	}
	if (!rc)
		rc = append_coverage(r, &from->coverage);
	if (rc) {
		r->nentry = entries;
		r->coverage.nmissing = missing;
		r->coverage.more_missing = more;
	}
	return rc;
}

int reply_from_diag(struct reply *r, unsigned status, const struct err *why)
{
	return reply_add(r, 0, "", status, why ? why->text : "");
}

unsigned reply_status(const struct reply *r)
{
	const struct reply_entry *first = NULL;

	for (size_t i = 0; i < r->nentry; i++)
		if (status_is_error(r->entry[i].status) &&
		    (!first || r->entry[i].action < first->action))
			first = &r->entry[i];
	return first ? first->status : STATUS_OK;
}

bool reply_is_partial(const struct reply *r)
{
	return r->coverage.answered < r->coverage.asked || r->coverage.nmissing ||
	       r->coverage.more_missing;
}
