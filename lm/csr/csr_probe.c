/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests that wait for probes. */
#include "common/base/str.h"
#include "common/ring/calls.h"
#include "lm/csr/csr_internal.h"
#include "lm/instrument/probe.h"

int csr_read_probe(struct csr *c, const struct omis_value *name)
{
	c->probe = str_dup(omis_value_text(name, NULL));
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
	return probes_wish(s->csr->owner->conf.probes, s->proc,
			   &(struct probe_ask){ .probe = s->csr->probe,
						.no_records = !s->records,
						.actions = actions,
						.on_hit = on_hit,
						.arg = s },
			   &s->wish);
}
