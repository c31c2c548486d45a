/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/set/nettotal.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <math.h>
#include <stdlib.h>

void nettotal_init(struct nettotal *t)
{
	*t = (struct nettotal){ .discarded = 0 };
	smap_init(&t->states.names);
	smap_init(&t->uses.names);
	sketch_init(&t->response.times);
}

static void list_done(struct nettotal_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->part[i]->name);
		free(l->part[i]);
	}
	free(l->part);
	smap_done(&l->names);
}

void nettotal_done(struct nettotal *t)
{
	list_done(&t->states);
	list_done(&t->uses);
	free(t->slowest);
}

/* Finds or makes the part of that name. */
static int find_part(struct nettotal_list *l, const char *name, struct nettotal_part **out)
{
	struct nettotal_part *p = smap_find(&l->names, name);
	int rc;

	*out = p;
	if (p)
		return 0;
	rc = array_grow(&l->part, &l->cap, l->n + 1, sizeof(*l->part), NETTOTAL_PARTS_MAX);
	p = rc ? NULL : calloc(1, sizeof(*p));
	if (!p)
		return rc ? rc : -ERR_NOMEM;
	p->name = str_dup(name);
	sketch_init(&p->times);
	if (!p->name || smap_put(&l->names, name, p, NULL)) {
		free(p->name);
		free(p);
		return -ERR_NOMEM;
	}
	l->part[l->n++] = p;
	*out = p;
	return 0;
}

static int add_time(struct nettotal_part *p, int64_t ns)
{
	if (__builtin_add_overflow(p->sum, ns, &p->sum))
		return -ERR_LIMIT;
	sketch_add(&p->times, (double)ns);
	p->most = p->n++ && p->most > ns ? p->most : ns;
	return 0;
}

static int add_states(struct nettotal *t, const struct network *w, const struct netspent *s)
{
	int rc = 0;

	for (unsigned i = 0; i < netuse_states(w->use) && !rc; i++) {
		struct nettotal_part *p;

		rc = find_part(&t->states, netuse_state_name(w->use, i), &p);
		if (!rc && s->state[i])
			rc = add_time(p, s->state[i]);
	}
	return rc;
}

static int add_uses(struct nettotal *t, const struct network *w, const struct netspent *s)
{
	struct buf name = BUF_INIT(NETUSE_MAX_BYTES);
	int rc = 0;

	for (size_t i = 0; i < s->nuse && !rc; i++) {
		struct nettotal_part *p;

		buf_clear(&name);
		netuse_put(w->use, s->use[i].of, &name);
		rc = name.failed ? -ERR_NOMEM : find_part(&t->uses, buf_str(&name), &p);
		rc = rc ? rc : add_time(p, s->use[i].ns);
	}
	buf_done(&name);
	return rc;
}

static int note_slowest(struct nettotal *t, const char *name, int64_t response)
{
	char *copy;

	if (t->response.n && response <= t->response.most)
		return 0;
	copy = str_dup(name);
	if (!copy)
		return -ERR_NOMEM;
	free(t->slowest);
	t->slowest = copy;
	return 0;
}

int nettotal_add(struct nettotal *t, const char *name, const struct network *w,
		 const struct netanalysis *a, struct err *e)
{
	int rc;

	if (!a->spent.is_member) {
		t->discarded++;
		return 0;
	}
	rc = note_slowest(t, name, a->path.length);
	rc = rc ? rc : add_time(&t->response, a->path.length);
	moments_add(&t->moments, (double)a->path.length);
	rc = rc ? rc : add_states(t, w, &a->spent);
	rc = rc ? rc : add_uses(t, w, &a->spent);
	return rc ? err_set(e, (enum err_code) - rc,
			    rc == -ERR_LIMIT ? "a sum of 2^63 ns or more, or too many states"
					     : "out of memory")
		  : 0;
}

static int by_sum(const void *a, const void *b)
{
	const struct nettotal_part *x = *(struct nettotal_part *const *)a,
				   *y = *(struct nettotal_part *const *)b;

	return (x->sum < y->sum) - (x->sum > y->sum);
}

void nettotal_sort(struct nettotal *t)
{
	if (t->states.n)
		qsort(t->states.part, t->states.n, sizeof(*t->states.part), by_sum);
	if (t->uses.n)
		qsort(t->uses.part, t->uses.n, sizeof(*t->uses.part), by_sum);
}

double nettotal_quantile(const struct nettotal *t, const struct nettotal_part *p, double q)
{
	uint64_t all = t->response.n, zeros = all - p->n, rank;
	double error;

	if (!all)
		return NAN;
	rank = (uint64_t)ceil(q * (double)all);
	rank -= rank > 0;
	return rank < zeros ? 0 : sketch_at(&p->times, rank - zeros, &error);
}
