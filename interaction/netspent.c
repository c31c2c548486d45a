/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/netspent.h"

#include "common/base/array.h"

#include <stdlib.h>

void netspent_done(struct netspent *s)
{
	free(s->use);
	free(s->task);
	*s = (struct netspent){ 0 };
}

static bool is_piece_member(const struct network *w, const struct network_stretch *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (netuse_is_member(w->use, w->piece[s->first + i].use))
			return true;
	return false;
}

static bool is_member(const struct network *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (netuse_is_member(w->use, w->v[i].use) ||
		    (w->v[i].kind == NETWORK_FORK && netuse_is_member(w->use, w->v[i].child_use)) ||
		    (w->v[i].stretch && is_piece_member(w, network_stretch(w, i))))
			return true;
	return false;
}

/* Adds time to a part, which is made when place[of] is 0. */
static int add(struct netspent_part **part, size_t *n, size_t *cap, uint32_t *place,
	       struct netspent_part more)
{
	if (!*place) {
		int rc = array_grow(part, cap, *n + 1, sizeof(**part), SIZE_MAX / sizeof(**part));

		if (rc)
			return rc;
		(*part)[(*n)++].of = more.of;
		*place = (uint32_t)*n;
	}
	(*part)[*place - 1].ns += more.ns;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct netspent_part *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->of < y->of ? -1 : 1;
}

struct follow {
	const struct network *w;
	struct netspent *s;
	size_t use_cap, task_cap;
	uint32_t *use_place, *task_place;
};

static int add_use(struct follow *f, uint32_t use, int64_t ns)
{
	uint64_t holds = netuse_holds(f->w->use, use);
	uint32_t shape = netuse_shape(f->w->use, use);

	for (; holds; holds &= holds - 1)
		f->s->state[__builtin_ctzll(holds)] += ns;
	return add(&f->s->use, &f->s->nuse, &f->use_cap, &f->use_place[shape],
		   (struct netspent_part){ shape, ns });
}

/* Adds a contracted arc by its pieces. */
static int add_stretch(struct follow *f, const struct network_stretch *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->n && !rc; i++) {
		const struct network_piece *p = &f->w->piece[s->first + i];

		rc = p->ns ? add_use(f, p->use, p->ns) : 0;
	}
	return rc;
}

static int follow(struct follow *f, const struct netpath *p)
{
	int rc = 0;

	for (size_t i = 1; i < p->n && !rc; i++) {
		struct network_arc a;
		const struct network_stretch *s = network_stretch(f->w, p->step[i].v);
		int64_t ns;

		network_arc(f->w, p->step[i].v, p->step[i].is_ending, &a);
		ns = network_length(f->w, &a);
		rc = s && s->n && !p->step[i].is_ending ? add_stretch(f, s) : add_use(f, a.use, ns);
		rc = rc ? rc
			: add(&f->s->task, &f->s->ntask, &f->task_cap, &f->task_place[a.task],
			      (struct netspent_part){ a.task, ns });
	}
	return rc;
}

int netspent_find(const struct network *w, const struct netpath *p, struct netspent *out,
		  struct err *e)
{
	struct netspent s = { .is_member = is_member(w) };
	struct follow f = { .w = w,
			    .s = &s,
			    .use_place = calloc(netuse_count(w->use), sizeof(*f.use_place)),
			    .task_place = calloc(w->ntask, sizeof(*f.task_place)) };
	int rc = f.use_place && f.task_place ? follow(&f, p) : -ERR_NOMEM;

	free(f.use_place);
	free(f.task_place);
	if (rc) {
		netspent_done(&s);
		return err_nomem(e);
	}
	if (s.nuse)
		qsort(s.use, s.nuse, sizeof(*s.use), by_time);
	*out = s;
	return 0;
}
