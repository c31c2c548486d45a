/* SPDX-License-Identifier: Apache-2.0 */
#include "why/search.h"

#include "why/symptom.h"
#include "why/tested.h"

#include <math.h>
#include <stdlib.h>

struct why {
	struct why_options options;
	struct tested symptom[WHY_SYMPTOMS];
	const char *reason[WHY_SYMPTOMS]; /* why a symptom cannot be tested; NULL: it can */
	struct why_finding finding[WHY_SYMPTOMS];
	size_t nfinding;
	unsigned numbers; /* given to findings */
	size_t blocks;
	nsec_t begin, end;
	uint32_t ranks, hosts;
	int64_t ranks_of;
};

static bool are_sane(const struct why_options *o)
{
	return o->threshold >= WHY_THRESHOLD_MIN && o->threshold <= WHY_THRESHOLD_MAX &&
	       o->alpha > 0 && o->alpha <= 0.5;
}

struct why *why_new(const struct why_options *o, struct err *e)
{
	const struct why_options defaults = { .threshold = WHY_THRESHOLD_DEFAULT,
					      .alpha = WHY_ALPHA_DEFAULT };
	struct why *w;

	if (o && !are_sane(o)) {
		err_set(e, ERR_INVALID, "threshold is in [%g, %g], alpha in (0, 0.5]",
			WHY_THRESHOLD_MIN, WHY_THRESHOLD_MAX);
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	if (!w) {
		err_nomem(e);
		return NULL;
	}
	w->options = o ? *o : defaults;
	return w;
}

void why_free(struct why *w)
{
	free(w);
}

/* The part of alpha that the tests of symptoms may use; the rest is for places and causes. */
static double alpha_of_symptoms(const struct why *w)
{
	return 0.4 * w->options.alpha;
}

static bool is_found(const struct why *w, const struct tested *t)
{
	return tested_has_passed(t, alpha_of_symptoms(w), w->options.threshold);
}

static struct why_finding *finding_of(struct why *w, enum why_id id)
{
	for (size_t i = 0; i < w->nfinding; i++)
		if (w->finding[i].id == id)
			return &w->finding[i];
	return NULL;
}

static void find(struct why *w, enum why_id id)
{
	w->finding[w->nfinding++] = (struct why_finding){
		.number = ++w->numbers,
		.id = id,
		.state = WHY_NEW,
		.place_log_e = NAN,
		.ratio = { NAN, NAN, NAN },
		.since = w->begin,
		.found = w->end,
		.blocks_until_found = (unsigned)w->blocks,
	};
}

static void refresh(struct why *w, struct why_finding *f)
{
	const struct tested *t = &w->symptom[f->id];

	f->severity = tested_severity(t);
	f->is_lower_bound = t->is_lower_bound;
	f->log_e = t->e.log_sup;
	f->is_sure = true;
	f->blocks_held = t->held;
	f->ranks_covered = w->ranks;
	f->ranks_of = w->ranks_of;
	if (f->found != w->end)
		f->state = WHY_STEADY;
}

static void conclude(struct why *w)
{
	struct why_finding *f = finding_of(w, WHY_W);

	if (!f && is_found(w, &w->symptom[WHY_W])) {
		find(w, WHY_W);
		f = finding_of(w, WHY_W);
	}
	if (f)
		refresh(w, f);
}

int why_add(struct why *w, const struct why_block *b, struct err *e)
{
	int rc = why_block_check(b, e);

	if (rc)
		return rc;
	if (w->blocks && b->begin < w->end)
		return err_set(e, ERR_INVALID, "a block begins before the end of the last one");
	if (!w->blocks)
		w->begin = b->begin;
	w->blocks++;
	w->end = b->end;
	w->ranks = why_covered(b);
	w->hosts = (uint32_t)b->nhost;
	w->ranks_of = b->world_size;
	for (size_t i = 0; i < WHY_SYMPTOMS; i++) {
		struct why_loss loss = why_loss(b, (enum why_id)i);

		w->reason[i] = loss.reason;
		tested_add(&w->symptom[i], &loss, w->options.threshold);
	}
	conclude(w);
	return 0;
}

size_t why_findings(const struct why *w, const struct why_finding **out)
{
	*out = w->finding;
	return w->nfinding;
}

static enum why_verdict verdict_of(const struct why *w, size_t i)
{
	if (i >= WHY_SYMPTOMS || w->reason[i])
		return WHY_UNTESTABLE;
	if (is_found(w, &w->symptom[i]))
		return WHY_FOUND;
	return tested_is_ruled_out(&w->symptom[i], w->options.threshold) ? WHY_RULED_OUT : WHY_OPEN;
}

void why_summary(const struct why *w, struct why_summary *out)
{
	struct why_range lost = tested_severity(&w->symptom[WHY_W]);

	*out = (struct why_summary){
		.useful = { 1 - lost.value, 1 - lost.high, 1 - lost.low },
		.blocks = w->blocks,
		.begin = w->begin,
		.end = w->end,
		.ranks = w->ranks,
		.hosts = w->hosts,
		.ranks_of = w->ranks_of,
		.findings = w->nfinding,
		.is_done = w->blocks > 0,
	};
	for (size_t i = 0; i < WHY_IDS; i++) {
		out->of[i].verdict = verdict_of(w, i);
		out->is_done = out->is_done && out->of[i].verdict != WHY_OPEN;
		out->of[i].reason = i < WHY_SYMPTOMS ? w->reason[i] : "not tested by this version";
		out->of[i].severity = i < WHY_SYMPTOMS ? tested_severity(&w->symptom[i])
						       : (struct why_range){ NAN, NAN, NAN };
		out->of[i].log_e = i < WHY_SYMPTOMS ? w->symptom[i].e.log_sup : NAN;
	}
}
