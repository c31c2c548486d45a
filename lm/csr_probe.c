/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests that wait for probes. */
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/ring/calls.h"
#include "lm/csr_internal.h"
#include "lm/probe.h"

#define NAMES_SHOWN 8 /* of probes that there are, where one is asked for that is not */

int csr_read_probe(struct csr *c, const struct omis_value *name, struct reply *r)
{
	const char *text = omis_value_text(name, NULL);

	if (!text || !*text) {
		reply_add_error(r, 0, "", STATUS_PARAMETER_ERROR, "a probe has a name");
		return -ERR_INVALID;
	}
	c->probe = str_dup(text);
	return c->probe ? 0 : -ERR_NOMEM;
}

bool csr_probe_find(struct csr_site *s)
{
	int number = segview_probe_find(s->proc->seg, s->csr->probe);

	if (number < 0)
		return false;
	s->chain = SEG_HOOKS + (unsigned)number;
	s->npar = segview_probe(s->proc->seg, (unsigned)number)->nparam;
	return true;
}

static void on_hit(void *arg, const struct probe_hit *hit)
{
	struct csr_site *s = arg;
	bool skip[CSR_ACTIONS_MAX] = { false };
	struct happening h = { .proc = hit->proc,
			       .thread = hit->thread,
			       .time = hit->time,
			       .par = (const int64_t *)(const void *)hit->par,
			       .npar = hit->npar,
			       .own_name = "vt",
			       .own_number = hit->vt,
			       .skip = skip };

	if (!csr_is_for_thread(s->csr, hit->proc, hit->thread))
		return;
	for (unsigned i = 0; i < hit->npar; i++) {
		h.floats |= (uint32_t)SEG_IS_FLOAT(hit->type[i]) << i;
		h.unsigneds |= (uint32_t)(hit->type[i] == SEG_U64) << i;
	}
	for (size_t i = 0; i < s->csr->prefix; i++)
		skip[i] = s->entry[i] >= 0;
	csr_fire(s->csr, &h);
}

int csr_probe_wish(struct csr_site *s, bool actions)
{
	return probes_wish(s->csr->owner->conf.env.probes, s->proc,
			   &(struct probe_ask){ .probe = s->csr->probe,
						.no_records = !s->records,
						.actions = actions,
						.on_hit = on_hit,
						.arg = s },
			   &s->wish);
}

/* The names of the probes of p that are not there already, into b. */
static void add_names(const struct proc *p, struct buf *b, unsigned *n)
{
	for (unsigned i = 0; i < SEG_PROBES && *n < NAMES_SHOWN; i++) {
		const struct seg_probe *probe = segview_probe(p->seg, i);

		if (!probe)
			continue;
		buf_printf(b, "%s%s", *n ? ", " : "; there are: ", probe->name);
		++*n;
	}
}

void csr_probe_tell(const struct csr *c, struct reply *r)
{
	struct buf names = BUF_INIT(NAMES_SHOWN * (SEG_PROBE_NAME_BYTES + 16));
	bool is_watchable = false;
	unsigned n = 0;

	if (c->kind != CSR_PROBE || !list_is_empty(&c->sites))
		return;
	list_each (i, procs_all(c->owner->conf.env.procs)) {
		const struct proc *p = list_entry(i, struct proc, link);

		if (!p->seg || !csr_is_for_any_thread(c, p))
			continue;
		is_watchable = true;
		if (!n)
			add_names(p, &names, &n);
	}
	if (is_watchable)
		reply_add_error(r, 0, "", STATUS_PARAMETER_ERROR,
				"no process here has a probe '%.64s'%s", c->probe,
				names.n ? buf_str(&names) : "");
	buf_done(&names);
}
