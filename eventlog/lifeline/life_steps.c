/* SPDX-License-Identifier: Apache-2.0 */
/* Durations of steps: exact medians and percentiles, because all durations are in memory. */
#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "eventlog/lifeline/internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PAIRS (LIFE_STAGES_MAX * LIFE_STAGES_MAX)
#define NAME_MAX_BYTES_TWICE 4096

struct pairs {
	size_t n[PAIRS], end[PAIRS]; /* durations of a pair are at end - n .. end - 1 */
	nsec_t *took;
};

static unsigned pair_of(const struct life_point *p)
{
	return p[0].stage * LIFE_STAGES_MAX + p[1].stage;
}

static void count_pairs(const struct life_model *m, struct pairs *q)
{
	size_t sum = 0;

	for (size_t i = 0; i < m->nline; i++)
		for (uint32_t k = 1; k < m->line[i].n; k++)
			q->n[pair_of(m->point + m->line[i].first + k - 1)]++;
	for (size_t i = 0; i < PAIRS; i++) {
		q->end[i] = sum; /* it is the start of the range until the range is filled */
		sum += q->n[i];
	}
}

static void fill_pairs(const struct life_model *m, struct pairs *q)
{
	for (size_t i = 0; i < m->nline; i++)
		for (uint32_t k = 1; k < m->line[i].n; k++) {
			const struct life_point *p = m->point + m->line[i].first + k - 1;

			q->took[q->end[pair_of(p)]++] = p[1].at - p[0].at;
		}
}

static int by_value(const void *a, const void *b)
{
	const nsec_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* --- names */

/* Returns how many bytes of name precede `end` and a separator; 0 if name does not end so. */
static size_t before(const char *name, const char *end)
{
	size_t n = strlen(name), len = strlen(end);

	if (n <= len || strcasecmp(name + n - len, end))
		return 0;
	n -= len;
	return n > 1 && strchr("._-", name[n - 1]) ? n - 1 : n;
}

/* Returns the length of the name that a and b share, if they are ends such as X.start and X.end. */
static size_t common_work(const char *a, const char *b)
{
	static const char *const ends[][2] = {
		{ "start", "end" }, { "begin", "end" }, { "start", "stop" }, { "enter", "leave" }
	};

	for (unsigned i = 0; i < ARRAY_LEN(ends); i++) {
		size_t n = before(a, ends[i][0]);

		if (n && n == before(b, ends[i][1]) && !strncmp(a, b, n))
			return n;
	}
	return 0;
}

static char *name_step(const char *a, const char *b)
{
	size_t n = common_work(a, b);
	struct buf t = BUF_INIT(NAME_MAX_BYTES_TWICE);

	if (n)
		return str_ndup(a, n);
	buf_printf(&t, "%s \xe2\x86\x92 %s", a, b);
	return (char *)buf_take(&t, NULL);
}

/* --- one step */

static int add_step(struct life_model *m, size_t *cap, unsigned pair, nsec_t *took, size_t n)
{
	struct life_step *s;

	if (array_grow(&m->step, cap, m->nstep + 1, sizeof(*m->step), PAIRS))
		return -ERR_NOMEM;
	s = &m->step[m->nstep];
	*s = (struct life_step){ .a = pair / LIFE_STAGES_MAX, .b = pair % LIFE_STAGES_MAX, .n = n };
	s->name = name_step(m->stage[s->a].name, m->stage[s->b].name);
	if (!s->name)
		return -ERR_NOMEM;
	m->nstep++;
	qsort(took, n, sizeof(*took), by_value);
	s->median = took[(n - 1) / 2];
	s->p95 = took[(n * 95 + 99) / 100 - 1];
	s->max = took[n - 1];
	for (size_t i = 0; i < n; i++)
		s->sum += (double)took[i];
	return 0;
}

static int by_share(const void *a, const void *b)
{
	const struct life_step *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return x->a != y->a ? (int)x->a - (int)y->a : (int)x->b - (int)y->b;
}

static int add_steps(struct life_model *m, struct pairs *q)
{
	size_t cap = 0;
	double all = 0;

	for (unsigned i = 0; i < PAIRS; i++)
		if (q->n[i] && add_step(m, &cap, i, q->took + q->end[i] - q->n[i], q->n[i]))
			return -ERR_NOMEM;
	for (size_t i = 0; i < m->nstep; i++)
		all += m->step[i].sum;
	for (size_t i = 0; i < m->nstep; i++)
		m->step[i].share = all > 0 ? m->step[i].sum / all : 0;
	if (m->nstep)
		qsort(m->step, m->nstep, sizeof(*m->step), by_share);
	return 0;
}

int life_measure(struct life_work *w)
{
	struct pairs *q = calloc(1, sizeof(*q));
	int rc = -ERR_NOMEM;

	if (q && (q->took = malloc((w->m->npoint + 1) * sizeof(*q->took)))) {
		count_pairs(w->m, q);
		fill_pairs(w->m, q);
		rc = add_steps(w->m, q);
	}
	if (q)
		free(q->took);
	free(q);
	return rc;
}
