/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/wire.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_MAX_BYTES (FRAME_MAX_BYTES - 4096)

static const char too_large[] = "the value is larger than a message may be";

size_t wire_entries(const struct reply *r, size_t first, struct msg_entry *out, size_t max)
{
	size_t n = 0;

	while (n < max && first + n < r->nentry) {
		const struct reply_entry *x = &r->entry[first + n];

		out[n] = (struct msg_entry){ .action = x->action,
					     .objects = x->objects,
					     .status = x->status,
					     .value = { (const uint8_t *)x->value, x->nvalue } };
		if (strlen(x->objects) > ENTRY_MAX_BYTES)
			out[n].objects = "";
		if (x->nvalue + strlen(out[n].objects) > ENTRY_MAX_BYTES) {
			out[n].status = STATUS_UNSPECIFIED_ERROR;
			out[n].value =
				(struct bytes){ (const uint8_t *)too_large, sizeof(too_large) - 1 };
		}
		n++;
	}
	return n;
}

static void set_entries(struct msg *m, const struct msg_entry *entry, size_t n)
{
	if (m->type == MSG_ARM_ACK) {
		m->arm_ack.entry = entry;
		m->arm_ack.nentry = n;
	} else {
		m->flow_ack.entry = entry;
		m->flow_ack.nentry = n;
	}
}

void wire_send_ack(const struct wire_sink *to, struct msg *m, const struct reply *r, size_t max)
{
	struct msg_entry *entry = calloc(max, sizeof(*entry));

	set_entries(m, entry, entry ? wire_entries(r, 0, entry, max) : 0);
	if (to->send(to->arg, m) == -ERR_LIMIT) {
		set_entries(m, NULL, 0);
		to->send(to->arg, m);
	}
	free(entry);
}

/* Returns how many entries, from `first` on, fit into one frame: at least one if there are any. */
static size_t part_length(const struct reply *r, size_t first)
{
	size_t n = 0, bytes = 0;

	while (first + n < r->nentry && n < WIRE_PART_ENTRIES) {
		const struct reply_entry *x = &r->entry[first + n];

		bytes += x->nvalue + strlen(x->objects);
		if (n && bytes > WIRE_PART_BYTES)
			break;
		n++;
	}
	return n;
}

/* Cuts the names of missing objects to a size that always fits beside the entries. */
static int put_last(struct buf *b, struct msg_reply *m, const struct reply *r)
{
	const struct reply_coverage *c = &r->coverage;
	struct msg_missing *missing = calloc(c->nmissing + 1, sizeof(*missing));
	struct msg_coverage coverage = { .asked = c->asked,
					 .answered = c->answered,
					 .missing = missing,
					 .nmissing = c->nmissing,
					 .oldest_ns = c->oldest_ns,
					 .newest_ns = c->newest_ns };
	int rc;

	if (!missing)
		return -ERR_NOMEM;
	for (size_t i = 0; i < c->nmissing; i++)
		missing[i] = (struct msg_missing){ c->missing[i].object, c->missing[i].reason };
	m->coverage = &coverage;
	rc = msg_reply_put(b, m);
	if (rc == -ERR_LIMIT && m->nentry) {
		/*
		 * Entries and names do not fit into one frame: the names follow in a separate part.
		 */
		m->coverage = NULL;
		m->more = true;
		rc = msg_reply_put(b, m);
		m->coverage = &coverage;
		m->more = false;
		m->nentry = 0;
		if (!rc)
			rc = msg_reply_put(b, m);
	}
	free(missing);
	return rc;
}

static int put_parts(struct buf *b, const struct reply *r, struct msg_entry *entry)
{
	struct msg_reply m = { .id = r->id, .kind = r->kind, .entry = entry, .csr = r->csr };
	size_t at = 0;
	int rc = 0;

	do {
		m.nentry = wire_entries(r, at, entry, part_length(r, at));
		at += m.nentry;
		m.more = at < r->nentry;
		rc = m.more ? msg_reply_put(b, &m) : put_last(b, &m, r);
	} while (!rc && at < r->nentry);
	return rc;
}

int wire_put_reply(struct buf *b, const struct reply *r)
{
	size_t room = r->nentry < WIRE_PART_ENTRIES ? r->nentry : WIRE_PART_ENTRIES;
	struct msg_entry *entry = calloc(room + 1, sizeof(*entry));
	size_t before = b->n;
	int rc;

	if (!entry)
		return -ERR_NOMEM;
	rc = put_parts(b, r, entry);
	free(entry);
	if (rc)
		b->n = before;
	return rc;
}

int wire_add_entries(struct reply *into, const struct msg_entry *entry, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = reply_add_n(into, entry[i].action, entry[i].objects, entry[i].status,
				 entry[i].value);
	return rc;
}

static int add_coverage(struct reply *into, const struct msg_coverage *c)
{
	int rc = 0;

	into->coverage.asked += c->asked;
	into->coverage.answered += c->answered;
	reply_add_time(into, c->oldest_ns, c->newest_ns);
	for (size_t i = 0; i < c->nmissing && !rc; i++)
		rc = reply_add_missing(into, c->missing[i].object, c->missing[i].reason);
	return rc;
}

int wire_add_reply(struct reply *into, const struct msg_reply *m)
{
	int rc = wire_add_entries(into, m->entry, m->nentry);

	into->id = m->id;
	into->kind = m->kind;
	if (!rc && m->coverage)
		rc = add_coverage(into, m->coverage);
	if (!rc && m->csr[0])
		rc = reply_set_csr(into, m->csr);
	return rc;
}
