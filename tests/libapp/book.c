/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/libapp/book.h"

#include "bench/self.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vertex {
	uint64_t ticks, id;
	int uncertain;
};

struct book_rank book;
static struct segview *v;
static int number[2] = { -1, -1 }; /* of the types: sends, receives */
static struct vertex seen[2][MANY];
static int nseen[2], nlost[2], nmessages[2], nvertices[2];
static long long serials;
static FILE *out;
static enum ticks_source ticks;

void book_fail(const char *what)
{
	fprintf(stderr, "matched: rank %d: %s\n", book.rank, what);
	book.failed = 1;
}

struct message book_next(struct book *b)
{
	struct message m = {
		(long long)book.rank << 40 | __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED), 7
	};

	b->sent_at[b->nsent] = ticks_now(ticks);
	b->sent[b->nsent++] = m.serial;
	return m;
}

void book_got(struct book *b, const struct message *m)
{
	if (m->step != 7)
		book_fail("a message with other contents");
	b->received_at[b->nreceived] = ticks_now(ticks);
	b->received[b->nreceived++] = m->serial;
}

/* --- records */

static void on_event(void *arg, const struct segview_event *e)
{
	(void)arg;
	for (int k = 0; k < 2; k++) {
		struct vertex *x = &seen[k][nseen[k]];

		if ((int)e->number != number[k] || e->n != 16)
			continue;
		x->ticks = e->ticks;
		memcpy(&x->id, e->value, 8);
		memcpy(&x->uncertain, e->value + 12, 4);
		nseen[k]++;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct vertex *x = a, *y = b;

	return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

static void print(char what, long long serial, const struct vertex *x)
{
	fprintf(out, "%c %lld %llu %d\n", what, serial, (unsigned long long)x->id, x->uncertain);
}

/*
 * Vertices were lost, and counted: the times of the others say which message each belongs to. A
 * send begins after from[i], and before from[i + 1]; a receive has ended before from[i].
 */
static void print_some(char what, const long long *serial, const uint64_t *from, int n)
{
	int k = what == 'R', at = 0;

	for (int i = 0; i < n; i++) {
		uint64_t low = !k ? from[i] : i ? from[i - 1] : 0;
		uint64_t high = k ? from[i] : i + 1 < n ? from[i + 1] : UINT64_MAX;

		while (at < nseen[k] && seen[k][at].ticks <= low)
			at++;
		if (at < nseen[k] && seen[k][at].ticks < high)
			print(what, serial[i], &seen[k][at]);
	}
}

static void print_all(char what, const long long *serial, const uint64_t *from, int n)
{
	int k = what == 'R', lost = (int)segview_event_lost(v, (unsigned)number[k]) - nlost[k];

	nlost[k] += lost;
	if (nseen[k] + lost != n && !book.has_threads)
		book_fail("vertices are neither there nor counted as lost");
	if (nseen[k] != n) {
		print_some(what, serial, from, n);
		return;
	}
	for (int i = 0; i < n; i++)
		print(what, serial[i], &seen[k][i]);
}

/* The vertices of a thread, by time, are its messages in their order. */
void book_compare(struct book *b, unsigned block)
{
	nseen[0] = nseen[1] = 0;
	while (segview_take(v, block, 1000, &(struct segview_taker){ .on_event = on_event }) > 0)
		;
	qsort(seen[1], (size_t)nseen[1], sizeof(seen[1][0]), by_time);
	qsort(seen[0], (size_t)nseen[0], sizeof(seen[0][0]), by_time);
	print_all('S', b->sent, b->sent_at, b->nsent);
	print_all('R', b->received, b->received_at, b->nreceived);
	nmessages[0] += b->nsent;
	nmessages[1] += b->nreceived;
	nvertices[0] += nseen[0];
	nvertices[1] += nseen[1];
	b->nsent = b->nreceived = 0;
}

static void find_types(void)
{
	uint8_t text[256];

	for (unsigned i = 0; i < segview_event_count(v); i++) {
		size_t n = segview_event_definition(v, i, text, sizeof(text));

		for (size_t at = 0; at + 16 < n; at++) {
			if (!memcmp(text + at, "interaction.send", 16))
				number[0] = (int)i;
			if (at + 19 < n && !memcmp(text + at, "interaction.receive", 19))
				number[1] = (int)i;
		}
	}
	if (number[0] < 0 || number[1] < 0)
		book_fail("no types of vertices");
	for (int k = 0; k < 2 && number[k] >= 0; k++)
		segview_event_set(v, (unsigned)number[k], EVENT_RECORD);
}

int book_open(const char *file)
{
	struct seg_own own;
	char path[4096];

	v = self_open();
	snprintf(path, sizeof(path), "%s.%d", file, book.rank);
	out = fopen(path, "w");
	if (!v || !out) {
		book_fail("no segment, or no file");
		return 0;
	}
	segview_own(v, &own);
	ticks = (enum ticks_source)own.tick_source;
	find_types();
	return 1;
}

struct segview *book_segment(void)
{
	return v;
}

void book_close(void)
{
	for (int k = 0; k < 2; k++)
		if (nvertices[k] + (int)segview_event_lost(v, (unsigned)number[k]) !=
		    nmessages[k]) {
			fprintf(stderr, "%d vertices, %d lost, %d messages\n", nvertices[k],
				(int)segview_event_lost(v, (unsigned)number[k]), nmessages[k]);
			book_fail("vertices are neither there nor counted as lost");
		}
	if (!book.has_threads && nvertices[0] + nvertices[1] != nmessages[0] + nmessages[1])
		book_fail("vertices were lost");
	fclose(out);
}
