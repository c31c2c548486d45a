/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests that wait for probes. */
#include "common/base/str.h"
#include "common/ring/calls.h"
#include "lm/csr/csr_internal.h"
#include "lm/instrument/probe.h"

static int read_probe(struct csr *c, const struct omis_call *event, struct reply *r)
{
	c->probe = str_dup(omis_value_text(&event->param[1], NULL));
	return c->probe ? 0 : -ERR_NOMEM;
}

static bool find_probe(struct csr_site *s)
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

static int watch_probe(struct csr_site *s, uint32_t bits)
{
	return probes_add_interest(
		s->csr->owner->conf.probes, s->proc,
		&(struct probe_ask){ .probe = s->csr->probe,
				     .no_records = !s->records,
				     .actions = bits & (HOOK_ACTION_START | HOOK_ACTION_END),
				     .on_hit = on_hit,
				     .arg = s },
		&s->interest);
}

static void unwatch_probe(struct csr_site *s)
{
	probes_drop_interest(&s->interest);
}

static const struct event_kind kinds[] = { { .service = "thread_executes_probe" }, { NULL } };

static const struct site_ops site = { .find = find_probe,
				      .watch = watch_probe,
				      .unwatch = unwatch_probe };

const struct event_source_ops probe_source = {
	.kind = kinds, .read = read_probe, .site = &site, .own_is_par1 = true
};
