/* SPDX-License-Identifier: Apache-2.0 */
/* The types of vertices, as definitions of event logs (docs/eventlog.md). */
#include "libapp/vertex/vertex.h"

#include <string.h>

enum { DEFINITION = 0xff00, LEVEL_INFO = 4, INT32 = 1, INT64 = 2 };

struct writer {
	uint8_t *p;
	unsigned n;
};

static void put_byte(struct writer *w, unsigned v)
{
	w->p[w->n++] = (uint8_t)v;
}

static void put_16(struct writer *w, unsigned v)
{
	uint16_t v16 = (uint16_t)v;

	memcpy(w->p + w->n, &v16, sizeof(v16));
	w->n += sizeof(v16);
}

static void put_name(struct writer *w, const char *name)
{
	size_t n = strlen(name);

	put_16(w, (unsigned)n);
	memcpy(w->p + w->n, name, n);
	w->n += (unsigned)n;
}

/* Names of the fields; task NULL: no fields. */
static const struct type {
	const char *name, *task, *partner, *last;
} type[VERTEX_KINDS] = {
	[VERTEX_SEND] = { "interaction.send", "new", "to", "uncertain" },
	[VERTEX_SENT] = { "interaction.sent", "message", "to", "uncertain" },
	[VERTEX_WAIT] = { .name = "interaction.wait" },
	[VERTEX_RECEIVE] = { "interaction.receive", "with", "from", "uncertain" },
	[VERTEX_MEET] = { "interaction.meet", "call", "ranks", "role" },
};

unsigned vertex_define(enum vertex v, uint8_t out[VERTEX_DEFINITION_BYTES])
{
	const struct type *t = &type[v];
	struct writer w = { out, 0 };
	uint16_t bytes;

	memset(out, 0, VERTEX_DEFINITION_BYTES);
	put_16(&w, DEFINITION);
	put_16(&w, 0);
	put_16(&w, v + 1);
	put_byte(&w, LEVEL_INFO);
	put_byte(&w, t->task ? 3 : 0);
	put_16(&w, 0);
	put_name(&w, t->name);
	if (t->task) {
		put_byte(&w, INT64);
		put_name(&w, t->task);
		put_byte(&w, INT32);
		put_name(&w, t->partner);
		put_byte(&w, INT32);
		put_name(&w, t->last);
	}
	w.n = (w.n + 3) & ~3u;
	bytes = (uint16_t)w.n;
	memcpy(out + 2, &bytes, sizeof(bytes));
	return w.n;
}
