/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/evbalance.h"

#include "eventlog/evgap.h"

#include <stdlib.h>

void evbalance_init(struct evbalance *b)
{
	*b = (struct evbalance){ 0 };
	map_init(&b->streams);
}

void evbalance_done(struct evbalance *b)
{
	struct map_iter i = { 0 };

	while (map_next(&b->streams, &i))
		free(i.value);
	map_done(&b->streams);
}

static int add_stream(struct evbalance *b, uint64_t id, struct evbalance_stream **out,
		      struct err *e)
{
	struct evbalance_stream *s;

	if (b->streams.n >= EVBALANCE_STREAMS_MAX)
		return err_set(e, ERR_LIMIT, "there are more than %u streams",
			       EVBALANCE_STREAMS_MAX);
	s = calloc(1, sizeof(*s));
	if (!s || map_put(&b->streams, id, s, NULL)) {
		free(s);
		return err_nomem(e);
	}
	s->id = id;
	*out = s;
	return 0;
}

static void note_change(struct evbalance *b, struct evbalance_stream *s)
{
	if (s->has_changed)
		return;
	s->has_changed = true;
	s->next = b->changed;
	b->changed = s;
}

/* Advances to these numbers. They may be forged, so that none may decrease. */
static void come_to(struct evbalance_stream *s, uint64_t seq, uint64_t first, const struct evgap *g)
{
	s->seq = seq;
	s->first = first > s->first ? first : s->first;
	s->dropped = g->dropped > s->dropped ? g->dropped : s->dropped;
	s->is_over |= g->is_last;
}

int evbalance_block(struct evbalance *b, const uint8_t *p, const struct evblock *head,
		    struct evbalance_stream **out, struct err *e)
{
	struct evbalance_stream *s = map_find(&b->streams, head->stream);
	struct evgap g;
	bool is_gap = evgap_of(p, head, &g);
	int rc = s ? 0 : add_stream(b, head->stream, &s, e);

	if (rc)
		return rc;
	if (is_gap ? g.end_seq <= s->seq : g.seq < s->seq)
		return 0;
	/*
	 * If there are fewer events than before, or more than numbers, the sender is faulty, and
	 * its numbers are ignored.
	 */
	if (!is_gap && (g.first < s->first || g.end_first < g.first))
		return 0;
	come_to(s, g.end_seq, g.end_first, &g);
	s->stored += is_gap ? 0 : head->events;
	note_change(b, s);
	*out = s;
	return 1;
}

void evbalance_left_out(struct evbalance_stream *s, uint64_t n)
{
	n = n < s->stored ? n : s->stored;
	s->stored -= n;
	s->left_out += n;
}

int evbalance_restore(struct evbalance *b, const struct evbalance_stream *like, struct err *e)
{
	struct evbalance_stream *s;
	int rc;

	if (like->stored > like->first || like->left_out > like->first - like->stored ||
	    map_find(&b->streams, like->id))
		return err_set(e, ERR_INVALID, "its state of a stream is invalid");
	rc = add_stream(b, like->id, &s, e);
	if (rc)
		return rc;
	*s = *like;
	s->has_changed = false;
	s->next = NULL;
	return 0;
}

void evbalance_saved(struct evbalance *b)
{
	for (struct evbalance_stream *s = b->changed; s; s = s->next)
		s->has_changed = false;
	b->changed = NULL;
}

void evbalance_totals(const struct evbalance *b, struct evbalance_totals *out)
{
	struct map_iter i = { 0 };

	*out = (struct evbalance_totals){ .streams = b->streams.n };
	while (map_next(&b->streams, &i)) {
		const struct evbalance_stream *s = i.value;

		out->generated += s->first + s->dropped;
		out->stored += s->stored;
		out->left_out += s->left_out;
		out->dropped += s->dropped;
		out->lost += s->first - s->stored - s->left_out;
		out->open += !s->is_over;
	}
}
