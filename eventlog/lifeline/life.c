/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/lifeline/life.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/container/map.h"
#include "eventlog/lifeline/internal.h"
#include "eventlog/text/evout.h"
#include "eventlog/text/evwords.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct life {
	struct life_options options;
	struct life_model m;
	struct life_work work;
	size_t stage_cap, point_cap, key_cap, series_cap, wanted_cap;
	bool *is_wanted; /* by key: an event fulfils `where` */
	size_t nsample; /* samples of all series */
	struct smap stages, keys, series; /* name -> number + 1 */
	struct buf text; /* scratch */
	char *host; /* host of the first series */
	bool has_hosts; /* the series have several hosts */
};

static void *as_pointer(size_t i)
{
	return (void *)(uintptr_t)(i + 1);
}

/* Returns SIZE_MAX if the name is missing. */
static size_t find(const struct smap *m, const char *name)
{
	return (size_t)(uintptr_t)smap_find(m, name) - 1;
}

static int add_stage(struct life *l, const char *name, size_t *out);

struct life *life_new(const struct life_options *w)
{
	struct life *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->options = *w;
	l->work.m = &l->m;
	smap_init(&l->stages);
	smap_init(&l->keys);
	smap_init(&l->series);
	buf_init(&l->text, EVOUT_MAX_BYTES);
	for (unsigned i = 0; i < w->nstage; i++) {
		size_t at;

		if (add_stage(l, w->stage[i], &at)) {
			life_free(l);
			return NULL;
		}
	}
	return l;
}

static void free_model(struct life_model *m)
{
	for (unsigned i = 0; i < m->nstage; i++)
		free((char *)(uintptr_t)m->stage[i].name);
	for (size_t i = 0; i < m->nkey; i++)
		free(m->key[i]);
	for (size_t i = 0; i < m->nstep; i++)
		free(m->step[i].name);
	for (size_t i = 0; i < m->nseries; i++) {
		free(m->series[i].name);
		free(m->series[i].sample);
	}
	free(m->stage);
	free(m->point);
	free(m->line);
	free(m->key);
	free(m->step);
	free(m->series);
}

void life_free(struct life *l)
{
	if (!l)
		return;
	free_model(&l->m);
	free(l->work.first);
	free(l->host);
	free(l->is_wanted);
	smap_done(&l->stages);
	smap_done(&l->keys);
	smap_done(&l->series);
	buf_done(&l->text);
	free(l);
}

/* --- names and numbers: printable text, for any contents of the log */

static void put_shown(struct buf *b, const struct evvalue *v)
{
	if (v->kind == EV_STRING)
		evwords_put_escaped(b, v->s, v->n);
	else
		evwords_put_number(b, v);
}

static const char *shown_name(struct life *l, const char *s)
{
	buf_clear(&l->text);
	evwords_put_escaped(&l->text, s, strlen(s));
	return buf_str(&l->text);
}

/*
 * Finds the number of a name, or assigns a new one if there is room. *out is SIZE_MAX without room.
 * Returns whether the number is new. Fails with ERR_NOMEM.
 */
static int number_of(struct smap *m, const char *name, size_t n, size_t max, size_t *out)
{
	*out = find(m, name);
	if (*out != SIZE_MAX || n >= max)
		return 0;
	*out = n;
	return smap_put(m, name, as_pointer(n), NULL) ? -ERR_NOMEM : 1;
}

/* --- points of lines */

static int add_stage(struct life *l, const char *name, size_t *out)
{
	struct life_model *m = &l->m;
	char *copy;
	int got = number_of(&l->stages, name, m->nstage, LIFE_STAGES_MAX, out);

	if (got <= 0)
		return got;
	copy = str_dup(shown_name(l, name));
	if (l->text.failed || !copy ||
	    array_grow(&m->stage, &l->stage_cap, m->nstage + 1, sizeof(*m->stage),
		       LIFE_STAGES_MAX)) {
		free(copy);
		return -ERR_NOMEM;
	}
	m->stage[m->nstage++].name = copy;
	return 0;
}

static int add_key(struct life *l, size_t *out)
{
	struct life_model *m = &l->m;
	char text[LIFE_KEY_MAX_BYTES + 1];
	int got;

	if (l->text.failed)
		return -ERR_NOMEM;
	str_copy(text, sizeof(text), buf_str(&l->text));
	got = number_of(&l->keys, text, m->nkey, LIFE_EVENTS_MAX, out);
	if (got <= 0)
		return got;
	if (array_grow(&m->key, &l->key_cap, m->nkey + 1, sizeof(*m->key), LIFE_EVENTS_MAX) ||
	    array_grow(&l->is_wanted, &l->wanted_cap, m->nkey + 1, sizeof(*l->is_wanted),
		       LIFE_EVENTS_MAX))
		return -ERR_NOMEM;
	m->key[m->nkey] = str_dup(text);
	return m->key[m->nkey] ? (m->nkey++, 0) : -ERR_NOMEM;
}

/* Writes the key to the scratch text. Returns false if the event belongs to no line. */
static bool find_key(struct life *l, const struct event *ev)
{
	const struct evvalue *v = l->options.nkey ? NULL : evattr_find_id(ev);

	buf_clear(&l->text);
	if (v)
		put_shown(&l->text, v);
	for (unsigned i = 0; i < l->options.nkey; i++) {
		v = evattr_find(ev, l->options.key[i]);
		if (!v)
			return false;
		if (i)
			buf_putc(&l->text, '/');
		put_shown(&l->text, v);
	}
	return v;
}

static int add_point(struct life *l, const struct event *ev)
{
	struct life_model *m = &l->m;
	size_t key, stage = find(&l->stages, ev->type->name);
	int rc;

	if (stage == SIZE_MAX && (l->options.nstage || m->nstage == LIFE_STAGES_MAX)) {
		*(l->options.nstage ? &m->outside : &m->unshown) += 1;
		return 0;
	}
	rc = add_key(l, &key);
	if (!rc && (!l->options.where || l->options.where(l->options.where_arg, ev)))
		l->is_wanted[key] = true;
	if (!rc && stage == SIZE_MAX)
		rc = add_stage(l, ev->type->name, &stage);
	if (!rc)
		rc = array_grow(&m->point, &l->point_cap, m->npoint + 1, sizeof(*m->point),
				LIFE_EVENTS_MAX);
	if (!rc)
		m->point[m->npoint++] =
			(struct life_point){ ev->wall_ns, (uint32_t)key, (uint32_t)stage };
	return rc;
}

/* --- loads and marks */

/* Names a series: by the event, the field, and the host if there is more than one. */
static int name_series(struct life *l, const struct event *ev, const char *field)
{
	const struct evvalue *host = evattr_find(ev, "HOST");

	buf_clear(&l->text);
	evwords_put_escaped(&l->text, ev->type->name, strlen(ev->type->name));
	if (field) {
		buf_putc(&l->text, '.');
		evwords_put_escaped(&l->text, field, strlen(field));
	}
	buf_puts(&l->text, "\n");
	if (host)
		put_shown(&l->text, host);
	return l->text.failed ? -ERR_NOMEM : 0;
}

static int add_series(struct life *l, bool is_marks, size_t *out)
{
	struct life_model *m = &l->m;
	const char *name = buf_str(&l->text), *host = strchr(name, '\n') + 1;
	struct life_series *s;
	int got = number_of(&l->series, name, m->nseries, LIFE_SERIES_MAX, out);

	if (got <= 0)
		return got;
	l->has_hosts |= l->host && !str_eq(l->host, host);
	if ((!l->host && !(l->host = str_dup(host))) ||
	    array_grow(&m->series, &l->series_cap, m->nseries + 1, sizeof(*m->series),
		       LIFE_SERIES_MAX))
		return -ERR_NOMEM;
	s = &m->series[m->nseries];
	s->is_marks = is_marks;
	s->name = str_dup(name);
	return s->name ? (m->nseries++, 0) : -ERR_NOMEM;
}

static int add_sample(struct life *l, const struct event *ev, const char *field, double value)
{
	struct life_model *m = &l->m;
	size_t i;
	int rc = name_series(l, ev, field);

	if (!rc)
		rc = add_series(l, !field, &i);
	if (rc || i == SIZE_MAX) {
		m->unshown += !rc && i == SIZE_MAX;
		return rc;
	}
	if (l->nsample == LIFE_EVENTS_MAX)
		return -ERR_LIMIT;
	rc = array_grow(&m->series[i].sample, &m->series[i].cap, m->series[i].n + 1,
			sizeof(struct life_sample), LIFE_EVENTS_MAX);
	if (rc)
		return rc;
	l->nsample++;
	m->series[i].sample[m->series[i].n++] = (struct life_sample){ ev->wall_ns, value };
	return 0;
}

/*
 * Returns a value as a number. Texts that are numbers count, because in a text log 40.10 is not a
 * name. NaN: not a number.
 */
static double number(const struct evvalue *v)
{
	char text[STR_DOUBLE_BYTES];
	double d;

	switch (v->kind) {
	case EV_INT32:
		return v->i32;
	case EV_INT64:
		return (double)v->i64;
	case EV_FLOAT:
		return (double)v->f32;
	case EV_DOUBLE:
		return v->f64;
	case EV_STRING:
		break;
	}
	if (v->n >= sizeof(text) || memchr(v->s, 0, v->n))
		return NAN;
	memcpy(text, v->s, v->n);
	text[v->n] = '\0';
	return str_to_double(text, -DBL_MAX, DBL_MAX, &d) ? NAN : d;
}

/* Adds a load, or a mark. Errors and warnings are marks, even with numbers. */
static int add_load(struct life *l, const struct event *ev)
{
	const struct evtype *t = ev->type;
	bool is_warning = t->level && t->level <= EV_WARN, has_number = false;

	for (unsigned i = 0; i < t->nfield && !is_warning; i++) {
		double value = number(&ev->value[i]);
		int rc = isfinite(value) ? add_sample(l, ev, t->field[i].name, value) : 0;

		if (rc)
			return rc;
		has_number |= isfinite(value) || ev->value[i].kind != EV_STRING;
	}
	return has_number ? 0 : add_sample(l, ev, NULL, 0);
}

int life_event(struct life *l, const struct event *ev, struct err *e)
{
	const struct life_options *w = &l->options;
	int rc = 0;

	l->m.events++;
	if ((!w->is_from_relative && ev->wall_ns < w->from) ||
	    (!w->is_to_relative && ev->wall_ns > w->to) || ev->wall_ns > LIFE_WALL_MAX_NS ||
	    ev->wall_ns < -LIFE_WALL_MAX_NS)
		l->m.outside++;
	else
		rc = find_key(l, ev) ? add_point(l, ev) : add_load(l, ev);
	if (rc == -ERR_LIMIT)
		return err_set(e, ERR_LIMIT,
			       "more than %u events: select a part of them (--from, --to, --where)",
			       LIFE_EVENTS_MAX);
	return rc ? err_set(e, ERR_NOMEM, "out of memory after %llu events",
			    (unsigned long long)l->m.events)
		  : 0;
}

/* --- selection of the time, which then begins at 0 */

static void find_span(const struct life_model *m, nsec_t *first, nsec_t *last)
{
	*first = INT64_MAX;
	*last = INT64_MIN;
	for (size_t i = 0; i < m->npoint; i++) {
		*first = m->point[i].at < *first ? m->point[i].at : *first;
		*last = m->point[i].at > *last ? m->point[i].at : *last;
	}
	for (size_t k = 0; k < m->nseries; k++)
		for (size_t i = 0; i < m->series[k].n; i++) {
			nsec_t at = m->series[k].sample[i].at;

			*first = at < *first ? at : *first;
			*last = at > *last ? at : *last;
		}
	if (*first > *last)
		*first = *last = 0;
}

static bool is_inside(nsec_t at, nsec_t from, nsec_t to)
{
	return at >= from && at <= to;
}

static void keep_inside(struct life *l, nsec_t from, nsec_t to)
{
	struct life_model *m = &l->m;
	size_t n = 0;

	for (size_t i = 0; i < m->npoint; i++)
		if (is_inside(m->point[i].at, from, to) && l->is_wanted[m->point[i].key])
			m->point[n++] = m->point[i];
	m->outside += m->npoint - n;
	m->npoint = n;
	for (size_t k = 0; k < m->nseries; k++) {
		struct life_series *s = &m->series[k];

		n = 0;
		for (size_t i = 0; i < s->n; i++)
			if (is_inside(s->sample[i].at, from, to))
				s->sample[n++] = s->sample[i];
		s->n = n;
	}
}

static nsec_t absolute(nsec_t t, bool is_relative, nsec_t first)
{
	return !is_relative ? t : t > LIFE_WALL_MAX_NS ? INT64_MAX : first + t;
}

static void begin_at_zero(struct life_model *m)
{
	find_span(m, &m->start, &m->end);
	for (size_t i = 0; i < m->npoint; i++)
		m->point[i].at -= m->start;
	for (size_t k = 0; k < m->nseries; k++)
		for (size_t i = 0; i < m->series[k].n; i++)
			m->series[k].sample[i].at -= m->start;
}

static int by_time(const void *a, const void *b)
{
	const struct life_sample *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static int by_name(const void *a, const void *b)
{
	const struct life_series *x = a, *y = b;

	return x->is_marks != y->is_marks ? (int)x->is_marks - (int)y->is_marks
					  : strcmp(x->name, y->name);
}

static void finish_series(struct life *l, struct life_series *s)
{
	char *host = strchr(s->name, '\n');

	if (l->has_hosts && host[1])
		*host = ' ';
	else
		*host = '\0';
	for (size_t i = 1; i < s->n; i++)
		if (s->sample[i].at < s->sample[i - 1].at) {
			qsort(s->sample, s->n, sizeof(*s->sample), by_time);
			break;
		}
	for (size_t i = 0; i < s->n; i++) {
		s->min = !i || s->sample[i].value < s->min ? s->sample[i].value : s->min;
		s->max = !i || s->sample[i].value > s->max ? s->sample[i].value : s->max;
	}
}

int life_finish(struct life *l, const struct life_model **out, struct err *e)
{
	struct life_model *m = &l->m;
	nsec_t first, last;
	int rc;

	find_span(m, &first, &last);
	keep_inside(l, absolute(l->options.from, l->options.is_from_relative, first),
		    absolute(l->options.to, l->options.is_to_relative, first));
	begin_at_zero(m);
	for (size_t i = 0; i < m->nseries; i++)
		finish_series(l, &m->series[i]);
	if (m->nseries)
		qsort(m->series, m->nseries, sizeof(*m->series), by_name);
	rc = life_group(&l->work);
	if (!rc) {
		life_order(&l->work, l->options.nstage);
		rc = life_cut(&l->work);
	}
	if (!rc)
		rc = life_measure(&l->work);
	if (rc)
		return err_set(e, ERR_NOMEM, "out of memory");
	*out = m;
	return 0;
}
