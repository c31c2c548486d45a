/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/spool/segments.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 16

void segments_done(struct segments *s)
{
	free(s->v);
	*s = (struct segments){ 0 };
}

void segment_name(char out[SEGMENT_NAME_BYTES], uint64_t start, const char *kind)
{
	snprintf(out, SEGMENT_NAME_BYTES, "%0*" PRIx64 "%s", DIGITS, start, kind);
}

int segments_add(struct segments *s, uint64_t start)
{
	int rc = array_grow(&s->v, &s->cap, s->n + 1, sizeof(*s->v), SEGMENTS_MAX);

	if (rc)
		return rc;
	s->v[s->n++] = (struct segment){ .start = start, .end = start };
	return 0;
}

struct segment *segments_at(const struct segments *s, uint64_t place)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].end > place)
			return &s->v[i];
	return NULL;
}

struct segment *segments_last(const struct segments *s)
{
	return s->n ? &s->v[s->n - 1] : NULL;
}

void segments_pop_front(struct segments *s)
{
	s->n--;
	memmove(s->v, s->v + 1, s->n * sizeof(*s->v));
}

/* --- files of the directory */

struct listing {
	struct segments *s;
	int rc;
};

static void take_name(void *arg, const char *name)
{
	struct listing *l = arg;
	char digits[DIGITS + 1] = "";
	uint64_t start;

	if (strlen(name) != DIGITS + strlen(SEGMENT_GOOD))
		return;
	l->s->nbad += str_eq(name + DIGITS, SEGMENT_BAD);
	if (!str_eq(name + DIGITS, SEGMENT_GOOD))
		return;
	memcpy(digits, name, DIGITS);
	if (!str_to_hex64(digits, &start) && !l->rc)
		l->rc = segments_add(l->s, start);
}

static int by_start(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int64_t size_of(const struct disk *d, const char *name)
{
	int fd = d->open(d->arg, name);
	int64_t n = fd < 0 ? fd : d->size(d->arg, fd);

	if (fd >= 0)
		d->close(d->arg, fd);
	return n;
}

static int measure(struct segments *s, size_t i, const struct disk *d, struct err *e)
{
	struct segment *g = &s->v[i];
	char name[SEGMENT_NAME_BYTES];
	int64_t n;

	segment_name(name, g->start, SEGMENT_GOOD);
	n = size_of(d, name);
	if (n < 0) {
		errno = (int)-n;
		return err_sys(e, "%s", name);
	}
	g->end = (uint64_t)n > UINT64_MAX - g->start ? UINT64_MAX : g->start + (uint64_t)n;
	if (i + 1 < s->n && g->end > g[1].start)
		g->end = g[1].start;
	return 0;
}

int segments_load(struct segments *s, const struct disk *d, struct err *e)
{
	struct listing l = { .s = s };
	int rc = d->list(d->arg, ".", take_name, &l);

	if (rc) {
		errno = -rc;
		return err_sys(e, "the folder cannot be read");
	}
	if (l.rc)
		return err_set(e, (enum err_code)(-l.rc), "too many segments, or no memory");
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_start);
	for (size_t i = 0; i < s->n && !rc; i++)
		rc = measure(s, i, d, e);
	return rc;
}
