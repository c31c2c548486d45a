/* SPDX-License-Identifier: Apache-2.0 */
#include "why/search.h"

#include "common/base/limits.h"
#include "why/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parts of alpha: symptoms, places and causes are families of tests. */
#define PART_OF_SYMPTOMS 0.4
#define PART_OF_PLACES 0.4
#define PART_OF_CAUSES 0.2

#define ALONE_MIN                                                                      \
	16 /* blocks after which time in MPI without a found child is a finding itself \
	    */
#define EXPLAINED_MIN 10 /* blocks after which a finding waits no longer for place and causes */

struct why {
	struct why_options options;
	struct view view;
	struct track track[WHY_SYMPTOMS][TRACK_LEVELS];
	bool is_rejected[WHY_SYMPTOMS]; /* by Holm's procedure, after the last block */
	struct why_finding gone[WHY_FINDINGS_MAX];
	size_t ngone;
	struct why_finding finding[2 * WHY_FINDINGS_MAX]; /* present ones, then those gone */
	size_t nfinding, npresent;
	unsigned numbers; /* given to findings */
	size_t blocks, blocks_alone;
	nsec_t begin, end;
	uint32_t hosts;
	int64_t ranks_of;
	const char *cause_reason[WHY_IDS - WHY_C1];
};

_Static_assert(WHY_SYMPTOMS *TRACK_LEVELS <= WHY_FINDINGS_MAX, "room for all present findings");

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
	for (size_t i = 0; i < WHY_SYMPTOMS; i++)
		for (unsigned k = 0; k < TRACK_LEVELS; k++) {
			w->track[i][k].id = (enum why_id)i;
			w->track[i][k].level = k;
		}
	return w;
}

void why_free(struct why *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < WHY_SYMPTOMS; i++)
		for (size_t k = 0; k < TRACK_LEVELS; k++)
			track_done(&w->track[i][k]);
	view_done(&w->view);
	free(w);
}

static unsigned levels_of(enum why_id id)
{
	return why_has_culprits(id) ? TRACK_LEVELS : 1;
}

static int reserve(struct why *w, const struct why_block *b, struct err *e)
{
	int rc = view_reserve(&w->view, b, e);

	for (size_t i = 0; i < WHY_SYMPTOMS; i++)
		for (size_t k = 0; !rc && k < levels_of((enum why_id)i); k++)
			rc = track_reserve(&w->track[i][k], e);
	return rc;
}

static struct track_block block_of(struct why *w)
{
	size_t present = w->npresent ? w->npresent : 1;

	return (struct track_block){
		.view = &w->view,
		.threshold = w->options.threshold,
		.alpha_place = PART_OF_PLACES * w->options.alpha / (double)present,
		.alpha_cause = PART_OF_CAUSES * w->options.alpha / (double)present,
		.blocks = w->blocks,
	};
}

static void end_finding(struct why *w, struct track *t, const struct track_block *b)
{
	if (w->ngone == WHY_FINDINGS_MAX) {
		memmove(w->gone, w->gone + 1, (WHY_FINDINGS_MAX - 1) * sizeof(*w->gone));
		w->ngone--;
	}
	track_end(t, b, &w->gone[w->ngone++]);
}

/* True if level k has culprits to take off for the next one. */
static bool is_explained(const struct track *t)
{
	const struct why_finding *f = &t->finding;

	return t->has_finding && f->is_sure && (f->nrank || f->nhost);
}

static void add_to_levels(struct why *w, enum why_id id, const struct track_block *b)
{
	struct why_explained x = { .n = 0 };

	for (size_t k = 0; k < levels_of(id); k++) {
		struct track *t = &w->track[id][k];

		if (k && !is_explained(t - 1)) {
			if (t->has_finding)
				end_finding(w, t, b);
			return;
		}
		if (k)
			x.by[x.n++] = &t[-1].finding;
		track_add(t, b, &x);
	}
}

/* --- conclusions after a block */

/* Holm's procedure on the children of W, which is tested first and alone. */
static void reject(struct why *w)
{
	double p[WHY_SYMPTOMS], alpha = PART_OF_SYMPTOMS * w->options.alpha;
	unsigned char is[WHY_SYMPTOMS];

	memset(w->is_rejected, 0, sizeof(w->is_rejected));
	w->is_rejected[WHY_W] = tested_p(&w->track[WHY_W][0].tested) <= alpha;
	if (!w->is_rejected[WHY_W])
		return;
	for (size_t i = 0; i < WHY_SYMPTOMS; i++)
		p[i] = i == WHY_W || w->track[i][0].loss.reason ? NAN
								: tested_p(&w->track[i][0].tested);
	holm(p, WHY_SYMPTOMS, alpha, is);
	for (size_t i = WHY_W + 1; i < WHY_SYMPTOMS; i++)
		w->is_rejected[i] = is[i];
}

/* Later levels share a Bonferroni bound, since several may be open at once. */
static bool is_level_rejected(const struct why *w, const struct track *t)
{
	if (!t->level)
		return w->is_rejected[t->id];
	return is_explained(t - 1) &&
	       tested_p(&t->tested) <= PART_OF_SYMPTOMS * w->options.alpha / WHY_SYMPTOMS;
}

/* Time in MPI is a finding itself only if no child explains it for a while. */
static bool is_listed(struct why *w, const struct track *t)
{
	bool has_child = false;

	if (t->id != WHY_W)
		return true;
	for (size_t i = WHY_W + 1; i < WHY_SYMPTOMS; i++)
		has_child = has_child || w->track[i][0].has_finding;
	w->blocks_alone = has_child ? 0 : w->blocks_alone + 1;
	return w->blocks_alone >= ALONE_MIN;
}

static void conclude(struct why *w, struct track *t, const struct track_block *b)
{
	bool has_passed =
		is_level_rejected(w, t) && tested_matters(&t->tested, w->options.threshold);

	if (t->has_finding && track_is_gone(t, w->options.threshold))
		end_finding(w, t, b); /* as it was before the change */
	else if (t->has_finding)
		track_refresh(t, b);
	else if (has_passed && is_listed(w, t))
		track_find(t, b, ++w->numbers);
}

/* --- the list */

static int by_severity(const void *a, const void *b)
{
	const struct why_finding *x = a, *y = b;

	if (x->severity.value != y->severity.value)
		return x->severity.value < y->severity.value ? 1 : -1;
	return x->number < y->number ? -1 : 1;
}

/* A level costs what it has beyond the next one, so that severities add up. */
static void take_off_next(const struct track *t, struct why_finding *f)
{
	const struct track *next = t + 1;

	if (t->level + 1 >= levels_of(t->id) || !next->has_finding)
		return;
	f->severity.value = fmax(f->severity.value - next->finding.severity.value, 0);
	f->severity.low = fmax(f->severity.low - next->finding.severity.high, 0);
	f->severity.high = fmax(f->severity.high - next->finding.severity.low, 0);
	f->at_least = fmin(f->at_least, f->severity.low);
}

static void list(struct why *w)
{
	w->npresent = 0;
	for (size_t i = 0; i < WHY_SYMPTOMS; i++)
		for (size_t k = 0; k < TRACK_LEVELS; k++) {
			if (!w->track[i][k].has_finding)
				continue;
			w->finding[w->npresent] = w->track[i][k].finding;
			take_off_next(&w->track[i][k], &w->finding[w->npresent++]);
		}
	qsort(w->finding, w->npresent, sizeof(*w->finding), by_severity);
	memcpy(w->finding + w->npresent, w->gone, w->ngone * sizeof(*w->gone));
	w->nfinding = w->npresent + w->ngone;
}

int why_add(struct why *w, const struct why_block *b, struct err *e)
{
	struct track_block block;
	int rc = why_block_check(b, e);

	if (!rc && w->blocks && b->begin < w->end)
		rc = err_set(e, ERR_INVALID, "a block begins before the end of the last one");
	if (!rc)
		rc = reserve(w, b, e);
	if (rc)
		return rc;
	if (!w->blocks)
		w->begin = b->begin;
	w->blocks++;
	w->end = b->end;
	w->hosts = (uint32_t)b->nhost;
	w->ranks_of = b->world_size;
	view_update(&w->view, b);
	for (size_t i = WHY_C1; i < WHY_IDS; i++)
		w->cause_reason[i - WHY_C1] = cause_reason(&w->view, (enum why_id)i);
	block = block_of(w);
	for (size_t i = 0; i < WHY_SYMPTOMS; i++)
		add_to_levels(w, (enum why_id)i, &block);
	reject(w);
	for (size_t i = WHY_SYMPTOMS; i-- > 0;)
		for (size_t k = 0; k < levels_of((enum why_id)i); k++)
			conclude(w, &w->track[i][k], &block);
	list(w);
	return 0;
}

size_t why_findings(const struct why *w, const struct why_finding **out)
{
	*out = w->finding;
	return w->nfinding;
}

/* --- summary */

static enum why_verdict verdict_of_symptom(const struct why *w, enum why_id id)
{
	const struct track *t = &w->track[id][0];

	if (t->loss.reason)
		return WHY_UNTESTABLE;
	if (t->has_finding ||
	    (id == WHY_W && w->is_rejected[id] && tested_matters(&t->tested, w->options.threshold)))
		return WHY_FOUND;
	if (tested_is_ruled_out(&t->tested, w->options.threshold))
		return WHY_RULED_OUT;
	return id == WHY_W || w->is_rejected[WHY_W] ? WHY_OPEN : WHY_CLOSED;
}

/* A cause is ruled out if it explains less than CAUSE_LEAST of each finding. */
static enum why_verdict verdict_of_cause(const struct why *w, enum why_id id)
{
	bool is_tested = false, is_open = false;

	if (!w->blocks)
		return WHY_CLOSED;
	if (w->cause_reason[id - WHY_C1])
		return WHY_UNTESTABLE;
	for (size_t i = 0; i < WHY_SYMPTOMS * TRACK_LEVELS; i++) {
		const struct track *t = &w->track[i / TRACK_LEVELS][i % TRACK_LEVELS];
		const struct moments *m = &t->causes.share[id - WHY_C1];

		if (!t->has_finding || !why_has_culprits(t->id))
			continue;
		for (size_t c = 0; c < t->finding.ncause; c++)
			if (t->finding.cause[c].id == id && t->finding.cause[c].is_sure)
				return WHY_FOUND;
		is_tested = true;
		is_open = is_open ||
			  !(moments_mean(m) + sequence_width(m, w->options.alpha) < CAUSE_LEAST);
	}
	if (!is_tested)
		return WHY_CLOSED;
	return is_open ? WHY_OPEN : WHY_RULED_OUT;
}

/* True while a finding may still get its place or its causes. */
static bool is_pending(const struct track *t)
{
	const struct why_finding *f = &t->finding;

	if (!t->has_finding || !why_has_culprits(t->id) || f->blocks_held >= EXPLAINED_MIN)
		return false;
	return !f->is_sure || !f->ncause || !f->cause[0].is_sure;
}

static void summarise_one(const struct why *w, enum why_id id, struct why_summary *out)
{
	if (id >= WHY_C1) {
		out->of[id].verdict = verdict_of_cause(w, id);
		out->of[id].reason = w->cause_reason[id - WHY_C1];
		out->of[id].severity = (struct why_range){ NAN, NAN, NAN };
		out->of[id].log_e = NAN;
		return;
	}
	out->of[id].verdict = verdict_of_symptom(w, id);
	out->of[id].reason = w->track[id][0].loss.reason;
	out->of[id].severity = tested_severity(&w->track[id][0].tested);
	out->of[id].log_e = w->track[id][0].tested.e.log_sup;
	out->is_done = out->is_done && out->of[id].verdict != WHY_OPEN;
	for (size_t k = 0; k < TRACK_LEVELS; k++)
		out->is_done = out->is_done && !is_pending(&w->track[id][k]);
}

void why_summary(const struct why *w, struct why_summary *out)
{
	struct why_range lost = tested_severity(&w->track[WHY_W][0].tested);

	*out = (struct why_summary){
		.useful = { 1 - lost.value, 1 - lost.high, 1 - lost.low },
		.blocks = w->blocks,
		.begin = w->begin,
		.end = w->end,
		.ranks = (uint32_t)w->view.known,
		.hosts = w->hosts,
		.ranks_of = w->ranks_of,
		.findings = w->npresent,
		.is_done = w->blocks > 0,
	};
	for (size_t i = 0; i < WHY_IDS; i++)
		summarise_one(w, (enum why_id)i, out);
	/* Nothing below time in MPI can be larger than it. */
	if (out->of[WHY_W].verdict == WHY_RULED_OUT)
		for (size_t i = WHY_W + 1; i < WHY_SYMPTOMS; i++)
			if (out->of[i].verdict != WHY_UNTESTABLE)
				out->of[i].verdict = WHY_RULED_OUT;
}
