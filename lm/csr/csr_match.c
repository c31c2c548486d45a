/* SPDX-License-Identifier: Apache-2.0 */
/* Matches processes, threads and partners of a conditional request. */
#include "lm/csr/csr_internal.h"

bool csr_is_for_proc(const struct csr *c, const struct proc *p)
{
	for (size_t i = 0; i < c->nobject; i++)
		if (c->object[i].kind == TOKEN_NODE ||
		    (c->object[i].kind == TOKEN_PROCESS && c->object[i].id == p->id))
			return true;
	return false;
}

bool csr_is_for_thread(const struct csr *c, const struct proc *p, const struct proc_thread *t)
{
	if (csr_is_for_proc(c, p))
		return true;
	for (size_t i = 0; t && i < c->nobject; i++)
		if (c->object[i].kind == TOKEN_THREAD && c->object[i].id == t->id)
			return true;
	return false;
}

bool csr_is_for_any_thread(const struct csr *c, const struct proc *p)
{
	if (csr_is_for_proc(c, p))
		return true;
	for (size_t i = 0; i < p->nthread; i++)
		if (csr_is_for_thread(c, p, &p->thread[i]))
			return true;
	return false;
}

bool csr_has_partner(const struct csr *c, int64_t rank)
{
	for (size_t i = 0; i < c->npartner; i++)
		if (c->partner[i] == rank)
			return true;
	return false;
}

struct csr_site *csr_find_site(const struct csr *c, const struct proc *p)
{
	list_each (i, &c->sites)
		if (list_entry(i, struct csr_site, link)->proc == p)
			return list_entry(i, struct csr_site, link);
	return NULL;
}

struct csr *csr_before(const struct csr *c)
{
	return csr_ops(c)->before ? csr_ops(c)->before(c) : NULL;
}
