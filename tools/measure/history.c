/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/measure/history.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/container/map.h"

#include <math.h>
#include <stdlib.h>

struct known {
	double value, bound;
};

static const struct known unknown = { NAN, NAN };

struct row {
	char *name; /* owned */
	struct known value[]; /* of each slot */
};

struct history {
	struct row **row; /* owned, in order of arrival */
	size_t n, cap;
	struct smap by_name;
	int64_t *time; /* of each slot */
	size_t slots, first, reads;
	uint64_t left_out;
};

struct history *history_new(size_t reads)
{
	struct history *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	smap_init(&h->by_name);
	h->slots = reads < HISTORY_READS_MAX ? reads : HISTORY_READS_MAX;
	h->slots = h->slots ? h->slots : 1;
	h->time = calloc(h->slots, sizeof(*h->time));
	if (!h->time) {
		history_free(h);
		return NULL;
	}
	return h;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->n; i++) {
		free(h->row[i]->name);
		free(h->row[i]);
	}
	smap_done(&h->by_name);
	free(h->row);
	free(h->time);
	free(h);
}

static size_t slot(const struct history *h, size_t read)
{
	return (h->first + read) % h->slots;
}

void history_begin(struct history *h, int64_t wall_ns)
{
	size_t at;

	if (h->reads == h->slots)
		h->first = (h->first + 1) % h->slots;
	else
		h->reads++;
	at = slot(h, h->reads - 1);
	h->time[at] = wall_ns;
	for (size_t i = 0; i < h->n; i++)
		h->row[i]->value[at] = unknown;
}

static struct row *row_new(const char *name, size_t slots)
{
	struct row *r = malloc(sizeof(*r) + slots * sizeof(*r->value));

	if (!r)
		return NULL;
	r->name = str_dup(name);
	for (size_t i = 0; i < slots; i++)
		r->value[i] = unknown;
	if (r->name)
		return r;
	free(r);
	return NULL;
}

/* Adds an object. Returns NULL without memory. */
static struct row *add_row(struct history *h, const char *name)
{
	struct row *r;

	if (array_grow(&h->row, &h->cap, h->n + 1, sizeof(*h->row), HISTORY_VALUES_MAX))
		return NULL;
	r = row_new(name, h->slots);
	if (r && smap_put(&h->by_name, name, r, NULL)) {
		free(r->name);
		free(r);
		r = NULL;
	}
	if (r)
		h->row[h->n++] = r;
	return r;
}

int history_set(struct history *h, const char *name, double value, double bound)
{
	struct row *r = smap_find(&h->by_name, name);

	if (!h->reads)
		return 0;
	if (!r && (h->n + 1) * h->slots > HISTORY_VALUES_MAX) {
		h->left_out++;
		return -ERR_LIMIT;
	}
	if (!r && !(r = add_row(h, name)))
		return -ERR_NOMEM;
	r->value[slot(h, h->reads - 1)] = (struct known){ value, bound };
	return 0;
}

size_t history_reads(const struct history *h)
{
	return h->reads;
}

size_t history_objects(const struct history *h)
{
	return h->n;
}

uint64_t history_left_out(const struct history *h)
{
	return h->left_out;
}

int64_t history_time(const struct history *h, size_t read)
{
	return h->time[slot(h, read)];
}

const char *history_name(const struct history *h, size_t object)
{
	return h->row[object]->name;
}

double history_value(const struct history *h, size_t object, size_t read)
{
	return h->row[object]->value[slot(h, read)].value;
}

double history_bound(const struct history *h, size_t object, size_t read)
{
	return h->row[object]->value[slot(h, read)].bound;
}
