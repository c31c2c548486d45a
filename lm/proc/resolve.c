/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/proc/resolve.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"

#include <stdlib.h>

struct expansion {
	struct procs *procs;
	char class;
	uint64_t mark;
	struct objects *out;
};

static int add(struct expansion *x, const struct object *o)
{
	int rc = array_grow(&x->out->v, &x->out->cap, x->out->n + 1, sizeof(*o), OMIS_OBJECTS_MAX);

	if (!rc)
		x->out->v[x->out->n++] = *o;
	return rc;
}

static int add_thread(struct expansion *x, struct proc *p, struct proc_thread *t)
{
	if (t->mark == x->mark)
		return 0;
	t->mark = x->mark;
	return add(x, &(struct object){ 't', p, t, t->token.s });
}

/* Ended processes are objects as long as their last values are kept; they have no threads. */
static int add_proc(struct expansion *x, struct proc *p)
{
	int rc = 0;

	if (x->class == 't') {
		for (size_t i = 0; !rc && i < p->nthread; i++)
			rc = add_thread(x, p, &p->thread[i]);
		return rc;
	}
	if (p->mark == x->mark)
		return 0;
	p->mark = x->mark;
	return add(x, &(struct object){ 'p', p, NULL, p->token.s });
}

static int add_node(struct expansion *x)
{
	int rc = 0;

	if (x->class == 'n') {
		for (size_t i = 0; i < x->out->n; i++)
			if (x->out->v[i].class == 'n')
				return 0;
		return add(x, &(struct object){ 'n', NULL, NULL, procs_node_token(x->procs) });
	}
	list_each (i, procs_all(x->procs)) {
		struct proc *p = list_entry(i, struct proc, link);

		if (!rc && p->held)
			rc = add_proc(x, p);
	}
	return rc;
}

/* Objects of other hosts are not named in our answers. */
static const char *name_of(const struct expansion *x, const char *token, size_t n)
{
	uint32_t node;

	return token && token_node(token, n, &node) && node == procs_node(x->procs) ? token : "";
}

/* Returns 1 if there is no such object here. */
static int add_token(struct expansion *x, const char *token, size_t n)
{
	const struct proc_thread *t;
	struct proc *p;
	uint32_t node;

	if (!token_node(token, n, &node) || node != procs_node(x->procs) || !node)
		return 1;
	switch (token_class(token, n)) {
	case 'n':
		return add_node(x);
	case 'p':
		p = procs_find(x->procs, token, n);
		/* An ended process has no threads: a request for them fails, instead of an empty
		 * list. */
		if (!p || (x->class == 't' && !p->held))
			return 1;
		return x->class == 'n' ? add_node(x) : add_proc(x, p);
	case 't':
		p = procs_find_thread(x->procs, token, n, &t);
		if (!p)
			return 1;
		if (x->class == 'n')
			return add_node(x);
		return x->class == 'p' ? add_proc(x, p) : add_thread(x, p, (struct proc_thread *)t);
	default:
		return 1;
	}
}

int resolve(const struct resolve_from *from, char class, struct objects *out, struct reply *r)
{
	const struct omis_value *list = from->list;
	struct expansion x = { from->procs, class, procs_next_mark(from->procs), out };
	uint32_t unknown = 0, counted;
	int got = 0;

	for (size_t i = 0; got >= 0 && i < list->list.n; i++) {
		const char *token;
		size_t n = 0;

		token = omis_value_text(&list->list.v[i], &n);
		got = token ? add_token(&x, token, n) : 1;
		unknown += got == 1;
		if (got == 1)
			got = reply_add_error(r, from->action, name_of(&x, token, n),
					      STATUS_UNKNOWN_OBJECT, "there is no such object");
	}
	/* An UNKNOWN_OBJECT is an answer too; threads of one process were requested one by one. */
	counted = (uint32_t)out->n + unknown;
	if (counted < list->list.n)
		counted = (uint32_t)list->list.n;
	r->coverage.asked += counted;
	r->coverage.answered += counted;
	return got;
}

void objects_done(struct objects *o)
{
	free(o->v);
	*o = (struct objects){ 0 };
}
