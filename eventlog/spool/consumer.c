/* SPDX-License-Identifier: Apache-2.0 */
/* Consumers of the spool's blocks. */
#include "eventlog/spool/spool_internal.h"

#include <errno.h>
#include <string.h>

struct consumer *spool_find(struct spool *s, const char *name)
{
	return ledger_find(&s->ledger, name);
}

int spool_add(struct spool *s, const char *name, bool from_oldest, struct consumer **out)
{
	const struct segment *first = s->segments.n ? &s->segments.v[0] : NULL;
	int rc = ledger_add(&s->ledger, name, from_oldest && first ? first->start : s->stored, out);

	if (!rc)
		spool_ledger_due(s, 0);
	return rc;
}

void spool_remove(struct spool *s, struct consumer *c)
{
	ledger_forget(&s->ledger, c);
	spool_ledger_due(s, 0);
}

void spool_rewind(struct spool *s, struct consumer *c)
{
	c->next = c->given = c->cursor;
	list_each (i, &c->gaps.all)
		list_entry(i, struct gap, at)->is_reported = false;
	c->gaps.unreported = c->gaps.n;
}

bool spool_can_read(const struct spool *s, const struct consumer *c)
{
	return c->gaps.unreported || c->next < s->stored;
}

uint64_t spool_backlog(const struct spool *s, const struct consumer *c)
{
	return s->stored - c->cursor;
}

/* Reports gaps of the consumer that precede its next blocks in the log. */
static int report_gaps(struct consumer *c, struct buf *out)
{
	uint8_t block[EVGAP_BLOCK_BYTES];

	if (!c->gaps.unreported)
		return 0;
	list_each (i, &c->gaps.all) {
		struct gap *gap = list_entry(i, struct gap, at);

		if (gap->is_reported)
			continue;
		if (out->n + EVGAP_BLOCK_BYTES > SPOOL_READ_BYTES)
			break;
		evgap_encode(&gap->what, block);
		if (buf_put(out, block, EVGAP_BLOCK_BYTES))
			return -ERR_NOMEM;
		gaps_report(&c->gaps, gap);
	}
	return 0;
}

static int give(void *arg, const uint8_t *p, const struct evblock *b, uint64_t place)
{
	struct buf *out = arg;

	return out->n + b->bytes > SPOOL_READ_BYTES || buf_put(out, p, b->bytes);
}

/* Reads at most one window of the segment. */
static int read_some(struct spool *s, struct consumer *c, struct segment *g, struct buf *out)
{
	struct walk w = {
		.disk = s->conf.disk, .segment = g, .end = s->stored, .on_block = give, .arg = out
	};
	int rc;

	w.place = c->next > g->start ? c->next : g->start;
	rc = spool_walk(s, &w, g);
	c->next = w.place;
	return rc == -ERR_SYS ? rc : 0; /* blocks without room follow with the next read */
}

int spool_read(struct spool *s, struct consumer *c, struct buf *out, uint64_t *place)
{
	size_t windows = 0;
	int rc;

	buf_clear(out);
	if (buf_reserve(out, SPOOL_READ_BYTES))
		return -ERR_NOMEM;
	rc = report_gaps(c, out);
	while (!rc && !out->n && c->next < s->stored && windows++ < SEGMENTS_MAX) {
		struct segment *g = segments_at(&s->segments, c->next);

		if (g)
			rc = read_some(s, c, g, out);
		else
			c->next = s->stored; /* no blocks follow: the rest of the log is damaged */
	}
	c->given = c->next;
	*place = c->given;
	return rc;
}

/* True if room is short and a segment can be removed, so that the disk thread has work. */
static bool makes_room(const struct spool *s)
{
	return s->segments.n && ledger_least(&s->ledger) >= s->segments.v[0].end &&
	       spool_disk_bytes(s) > s->conf.max_bytes / 2;
}

int spool_ack(struct spool *s, struct consumer *c, uint64_t place, nsec_t now)
{
	if (place > c->given)
		return -ERR_INVALID;
	list_each_safe (i, &c->gaps.all) {
		struct gap *gap = list_entry(i, struct gap, at);

		if (!gap->is_reported || gap->place > place)
			continue;
		gaps_remove(&c->gaps, gap);
		spool_ledger_due(s, now + SPOOL_LEDGER_NS);
	}
	if (place <= c->cursor)
		return 0;
	c->cursor = place;
	spool_ledger_due(s, makes_room(s) ? now : now + SPOOL_LEDGER_NS);
	return 0;
}
