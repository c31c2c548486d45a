/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/lifeline/lifepack.h"

#include "common/json/json.h"
#include "eventlog/lifeline/lifetile.h"

#include <stdlib.h>
#include <string.h>

/* no limit in practice: the input is in memory already, and larger */
#define PACKED_MAX_BYTES (SIZE_MAX / 4)

/* --- base64 */

static int put_base64(struct json *j, const struct buf *b)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = malloc((b->n + 2) / 3 * 4 + 1);
	size_t at = 0;

	if (b->failed || !text) {
		free(text);
		return -ERR_NOMEM;
	}
	for (size_t i = 0; i < b->n; i += 3) {
		size_t left = b->n - i;
		uint32_t v = (uint32_t)b->p[i] << 16 | (left > 1 ? (uint32_t)b->p[i + 1] << 8 : 0) |
			     (left > 2 ? b->p[i + 2] : 0);

		text[at++] = digit[v >> 18];
		text[at++] = digit[v >> 12 & 63];
		text[at++] = left > 1 ? digit[v >> 6 & 63] : '=';
		text[at++] = left > 2 ? digit[v & 63] : '=';
	}
	json_str_n(j, text, at);
	free(text);
	return 0;
}

/* Writes a member with the contents of `b`, and empties `b`. */
static int put_packed(struct json *j, const char *name, struct buf *b)
{
	int rc;

	json_key(j, name);
	rc = put_base64(j, b);
	buf_done(b);
	return rc;
}

/* --- lines */

unsigned lifepack_sampling(const struct life_model *m)
{
	return (unsigned)(m->npoint / LIFEPACK_POINTS_MAX) + 1;
}

static nsec_t duration(const struct life_model *m, const struct life_line *l)
{
	return m->point[l->first + l->n - 1].at - l->at;
}

/* Compares durations; the longest is first. */
static int by_length(const void *a, const void *b)
{
	const nsec_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/*
 * Finds the least duration of the slowest 5 % of all lines, and of the slowest thousand. Fails with
 * ERR_NOMEM.
 */
static int find_slow(const struct life_model *m, nsec_t *twentieth, nsec_t *thousand)
{
	nsec_t *took = malloc((m->nline + 1) * sizeof(*took));

	*twentieth = *thousand = 0;
	if (!took)
		return -ERR_NOMEM;
	for (size_t i = 0; i < m->nline; i++)
		took[i] = duration(m, &m->line[i]);
	if (m->nline) {
		qsort(took, m->nline, sizeof(*took), by_length);
		*twentieth = took[(m->nline - 1) / 20];
		*thousand = took[m->nline < LIFEPACK_SLOWEST ? m->nline - 1 : LIFEPACK_SLOWEST - 1];
	}
	free(took);
	return 0;
}

/*
 * Packs a line: its start minus that of the previous line, its key (0: the next new one), and its
 * events: stage and time since the previous one.
 */
static void pack_line(struct buf *b, const struct life_model *m, const struct life_line *l,
		      nsec_t *before, uint32_t key)
{
	nsec_t t = l->at;

	buf_put_varint(b, (uint64_t)(t - *before));
	buf_put_varint(b, key);
	buf_put_varint(b, l->n);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct life_point *p = &m->point[l->first + i];

		buf_putc(b, (uint8_t)p->stage);
		if (i)
			buf_put_varint(b, (uint64_t)(p->at - t));
		t = p->at;
	}
	*before = l->at;
}

struct packing {
	struct json *j;
	const struct life_model *m;
	unsigned each; /* each n-th line; 1 = all */
	nsec_t least; /* further lines: those with at least this duration */
	/* by key: its number, in the order of the first lines, from 1; 0 = none yet */
	uint32_t *number;
	uint32_t nkey;
	size_t lines, points;
};

static bool is_kept(const struct packing *p, size_t i)
{
	return i % p->each == 0 || duration(p->m, &p->m->line[i]) >= p->least;
}

/*
 * Packs the lines. Keys are numbered in the order of their first lines, so that most lines need not
 * name them.
 */
static int pack_lines(struct packing *p)
{
	const struct life_model *m = p->m;
	struct buf b = BUF_INIT(PACKED_MAX_BYTES);
	nsec_t before = 0;

	json_key_array(p->j, "keys");
	for (size_t i = 0; i < m->nline; i++) {
		const struct life_line *l = &m->line[i];

		if (!is_kept(p, i))
			continue;
		pack_line(&b, m, l, &before, p->number[l->key]);
		if (!p->number[l->key]) {
			p->number[l->key] = ++p->nkey;
			json_str(p->j, m->key[l->key]);
		}
		p->lines++;
		p->points += l->n;
	}
	json_array_end(p->j);
	json_key_u64(p->j, "shown", p->lines);
	json_key_u64(p->j, "points", p->points);
	return put_packed(p->j, "lines", &b);
}

static int put_lines(struct json *j, const struct life_model *m)
{
	struct packing p = { .j = j, .m = m, .each = lifepack_sampling(m) };
	nsec_t twentieth;
	int rc = find_slow(m, &twentieth, &p.least);

	p.number = calloc(m->nkey + 1, sizeof(*p.number));
	if (!rc && p.number) {
		json_key_u64(j, "slow", (uint64_t)twentieth);
		rc = pack_lines(&p);
	}
	rc = p.number ? rc : -ERR_NOMEM;
	free(p.number);
	return rc;
}

/* --- density: levels, until so few lines are on a screen that they can be drawn */

static int put_level(struct json *j, const struct life_model *m, unsigned level)
{
	struct buf b = BUF_INIT(PACKED_MAX_BYTES);
	struct lifetile t;
	int rc = lifetile_draw(&t, m, level);

	if (rc)
		return rc;
	lifetile_pack(&b, &t);
	json_object(j);
	json_key_u64(j, "columns", t.columns);
	json_key_u64(j, "rows", t.rows);
	json_key_double(j, "most", (double)t.max);
	rc = put_packed(j, "cells", &b);
	json_object_end(j);
	lifetile_done(&t);
	return rc;
}

static int put_levels(struct json *j, const struct life_model *m)
{
	size_t steps = m->npoint - m->nline;
	int rc = 0;

	json_key_array(j, "levels");
	for (unsigned i = 0; !rc && i < LIFETILE_LEVELS_MAX && steps >> i > LIFEPACK_STEPS_EXACT;
	     i++)
		rc = put_level(j, m, i);
	json_array_end(j);
	return rc;
}

/* --- loads and marks */

struct samples {
	struct buf t, v;
	size_t n;
	nsec_t before;
};

static void pack_sample(struct samples *s, nsec_t at, double value)
{
	buf_put_varint(&s->t, (uint64_t)(at - s->before));
	buf_put_doublele(&s->v, value);
	s->before = at;
	s->n++;
}

static int pack_ranges(struct samples *out, const struct life_model *m, const struct life_series *s)
{
	size_t n = LIFEPACK_SAMPLES_MAX / 2;
	struct liferange *r = malloc(n * sizeof(*r));
	double part = (double)(m->end - m->start) / (double)n;

	if (!r)
		return -ERR_NOMEM;
	lifetile_range(m, s, r, n);
	for (size_t i = 0; i < n; i++)
		if (r[i].min <= r[i].max) {
			pack_sample(out, (nsec_t)((double)i * part), r[i].min);
			pack_sample(out, (nsec_t)(((double)i + 0.5) * part), r[i].max);
		}
	free(r);
	return 0;
}

static int pack_series(struct samples *out, const struct life_model *m, const struct life_series *s)
{
	if (!s->is_marks && s->n > LIFEPACK_SAMPLES_MAX)
		return pack_ranges(out, m, s);
	for (size_t i = 0; i < s->n; i++)
		pack_sample(out, s->sample[i].at, s->sample[i].value);
	return 0;
}

static int put_one_series(struct json *j, const struct life_model *m, const struct life_series *s)
{
	struct samples p = { .t = BUF_INIT(PACKED_MAX_BYTES), .v = BUF_INIT(PACKED_MAX_BYTES) };
	int rc = pack_series(&p, m, s);

	json_object(j);
	json_key_str(j, "name", s->name);
	json_key_bool(j, "marks", s->is_marks);
	json_key_double(j, "min", s->min);
	json_key_double(j, "max", s->max);
	json_key_u64(j, "n", p.n);
	rc = rc ? rc : put_packed(j, "t", &p.t);
	if (!rc && !s->is_marks)
		rc = put_packed(j, "v", &p.v);
	buf_done(&p.t);
	buf_done(&p.v);
	json_object_end(j);
	return rc;
}

static int put_series(struct json *j, const struct life_model *m)
{
	int rc = 0;

	json_key_array(j, "series");
	for (size_t i = 0; i < m->nseries && !rc; i++)
		if (m->series[i].n)
			rc = put_one_series(j, m, &m->series[i]);
	json_array_end(j);
	return rc;
}

/* --- the whole object */

static void put_stages(struct json *j, const struct life_model *m)
{
	json_key_array(j, "stages");
	for (unsigned i = 0; i < m->nstage; i++) {
		const struct life_stage *s = &m->stage[i];

		json_object(j);
		json_key_str(j, "name", s->name);
		json_key_u64(j, "missing", s->missing);
		json_key_bool(j, "expected", s->is_expected);
		json_key_u64(j, "kind", s->kind);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_steps(struct json *j, const struct life_model *m)
{
	json_key_array(j, "steps");
	for (size_t i = 0; i < m->nstep; i++) {
		const struct life_step *s = &m->step[i];

		json_object(j);
		json_key_str(j, "name", s->name);
		json_key_u64(j, "a", s->a);
		json_key_u64(j, "b", s->b);
		json_key_u64(j, "median", (uint64_t)s->median);
		json_object_end(j);
	}
	json_array_end(j);
}

int lifepack_json(struct buf *out, const struct life_model *m, const char *title, const char *key,
		  struct err *e)
{
	char start[CLOCK_TEXT_BYTES];
	struct json j;
	int rc;

	json_init(&j, out);
	json_object(&j);
	json_key_str(&j, "title", title);
	json_key_str(&j, "keyName", key);
	json_key_str(&j, "start", clock_format_rfc3339(start, m->start, 6));
	json_key_double(&j, "span", (double)(m->end - m->start));
	put_stages(&j, m);
	put_steps(&j, m);
	rc = put_lines(&j, m);
	rc = rc ? rc : put_levels(&j, m);
	rc = rc ? rc : put_series(&j, m);
	json_object_end(&j);
	if (rc || json_end(&j))
		return err_set(e, ERR_NOMEM, "out of memory");
	return 0;
}
