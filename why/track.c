/* SPDX-License-Identifier: Apache-2.0 */
#include "why/track.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "why/search.h"

#include <math.h>
#include <stdlib.h>

#define PLACE_NAMED_MAX 64 /* ranks that pass: those of a host are counted */
#define COVERAGE_OF_PLACES 0.9 /* of the ranks: the last one may be among the others */

static bool is_link(enum why_id id)
{
	return id == WHY_W9;
}

int track_reserve(struct track *t, struct err *e)
{
	int rc = place_reserve(&t->ranks, WHY_LATE_MAX, e);

	return rc ? rc : place_reserve(&t->hosts, 1, e);
}

/* Tests of hosts: each has the chance of its part of the compared ranks. */
static void add_hosts(struct track *t, struct view *v)
{
	const struct why_block *b = v->b;
	size_t at = t->loss.last < 0 ? (size_t)-1 : view_index(b, (int32_t)t->loss.last);

	for (size_t i = 0; i < b->nhost; i++)
		v->host[i] = 0;
	for (size_t i = 0; i < b->nrank; i++)
		v->host[v->host_of[i]] += v->is_alike[i] && !isnan(v->share[i]);
	for (size_t i = 0; i < b->nhost; i++)
		v->host[i] /= (double)t->loss.compared;
	place_add_sized(&t->hosts, at == (size_t)-1 ? -1 : (int64_t)v->host_of[at], v->host,
			b->nhost);
}

void track_add(struct track *t, const struct track_block *b, const struct why_explained *x)
{
	struct view *v = b->view;
	bool has_changed;

	t->loss = why_loss(v, t->id, x, b->threshold);
	has_changed = tested_add(&t->tested, &t->loss, v->b->begin, b->threshold);
	if (has_changed && t->has_finding) /* its parts may have changed, too */
		t->causes = (struct causes){ 0 };
	if (t->loss.compared < 2 ||
	    (double)v->known < COVERAGE_OF_PLACES * (double)v->b->world_size)
		return;
	place_add(&t->ranks, t->loss.late, t->loss.nlate, t->loss.compared);
	if (why_has_culprits(t->id))
		add_hosts(t, v);
}

void track_find(struct track *t, const struct track_block *b, unsigned number)
{
	t->has_finding = true;
	t->causes = (struct causes){ 0 };
	t->culprits = -1;
	t->finding = (struct why_finding){
		.number = number,
		.id = t->id,
		.state = WHY_NEW,
		.found = b->view->b->end,
		.blocks_until_found = (unsigned)b->blocks,
	};
	track_refresh(t, b);
	t->finding.state = WHY_NEW;
	t->stated = t->finding.severity;
}

/* --- place */

static int by_rank(const void *a, const void *b)
{
	return array_order_int32(a, b);
}

/* Alike ranks of a host. */
static double ranks_of_host(const struct view *v, uint32_t host)
{
	double n = 0;

	for (size_t i = 0; i < v->b->nrank; i++)
		n += v->is_alike[i] && v->host_of[i] == host;
	return n;
}

static void name_hosts_of_ranks(const struct why_block *b, struct why_finding *f)
{
	f->nhost = 0;
	for (size_t i = 0; i < f->nrank; i++) {
		size_t at = view_index(b, f->rank[i]), k = 0;

		if (at == (size_t)-1)
			continue;
		while (k < f->nhost && f->host[k] != b->rank[at].host)
			k++;
		if (k == f->nhost)
			f->host[f->nhost++] = b->rank[at].host;
	}
	qsort(f->host, f->nhost, sizeof(*f->host), by_rank);
}

static void name_ranks(const struct place_suspect *const *s, size_t n, struct why_finding *f)
{
	f->is_host = false;
	f->nrank = n;
	for (size_t i = 0; i < n; i++)
		f->rank[i] = (int32_t)s[i]->object;
	qsort(f->rank, n, sizeof(*f->rank), by_rank);
}

static void name_hosts(const struct place_suspect *const *s, size_t n, struct why_finding *f)
{
	f->is_host = true;
	f->nrank = 0;
	f->nhost = n;
	for (size_t i = 0; i < n; i++)
		f->host[i] = (uint32_t)s[i]->object;
	qsort(f->host, n, sizeof(*f->host), by_rank);
}

static void name_link(const struct place_suspect *s, struct why_finding *f)
{
	f->nhost = 2;
	f->host[0] = (uint32_t)(s->object >> 32);
	f->host[1] = (uint32_t)s->object;
}

/* The culprits of a finding that passed, and the host that passed. */
struct named {
	const struct place_suspect *rank[PLACE_NAMED_MAX], *host[WHY_PLACE_MAX];
	size_t nrank, nhost;
};

/*
 * A host is the culprit if its ranks are late in turn: none has four fifths of its blocks. Or if
 * more than one is late, and they are most of its ranks and of all culprits.
 */
static bool is_host_meant(const struct track_block *b, const struct named *n)
{
	size_t on_host = 0;
	double size;

	if (!n->nhost)
		return false;
	if (!n->nrank || (double)n->rank[0]->hits < 0.8 * (double)n->host[0]->hits)
		return true;
	for (size_t i = 0; i < n->nrank; i++) {
		size_t at = view_index(b->view->b, (int32_t)n->rank[i]->object);

		on_host += at != (size_t)-1 && b->view->host_of[at] == (uint32_t)n->host[0]->object;
	}
	size = ranks_of_host(b->view, (uint32_t)n->host[0]->object);
	return on_host > 1 && (double)on_host >= 0.5 * fmin(size, PLACE_NAMED_MAX) &&
	       on_host * 5 >= n->nrank * 4;
}

static void find_culprits(const struct track *t, const struct track_block *b, struct named *n)
{
	/* With one host there is no test of hosts. */
	double alpha = t->hosts.n ? b->alpha_place / 2 : b->alpha_place;

	n->nrank = place_culprits(&t->ranks, alpha, t->loss.compared, n->rank, PLACE_NAMED_MAX);
	n->nhost = place_culprits(&t->hosts, alpha, b->view->b->nhost, n->host, WHY_PLACE_MAX);
}

static void name_culprits(struct track *t, const struct track_block *b)
{
	struct why_finding *f = &t->finding;
	struct named n;

	find_culprits(t, b, &n);
	f->is_sure = true;
	f->nrank = f->nhost = 0;
	f->is_host = false;
	if (!n.nrank && !n.nhost) {
		n.rank[0] = place_likely(&t->ranks);
		n.nrank = n.rank[0] != NULL;
		f->is_sure = !n.nrank;
	}
	f->place_log_e = n.nrank ? n.rank[0]->e.log_sup : n.nhost ? n.host[0]->e.log_sup : NAN;
	if (is_link(t->id)) {
		if (n.nrank)
			name_link(n.rank[0], f);
		return;
	}
	if (is_host_meant(b, &n)) {
		f->place_log_e = n.host[0]->e.log_sup;
		name_hosts(n.host, n.nhost, f);
		return;
	}
	name_ranks(n.rank, n.nrank < WHY_PLACE_MAX ? n.nrank : WHY_PLACE_MAX, f);
	name_hosts_of_ranks(b->view->b, f);
}

/* The pairs with the longest waits for the culprits. */
static void name_pairs(struct track *t, const struct why_block *b)
{
	struct why_finding *f = &t->finding;
	double least[WHY_PLACE_MAX];

	f->npair = 0;
	if (t->id != WHY_W5 && t->id != WHY_W6 && t->id != WHY_W11)
		return;
	for (size_t k = 0; k < b->npair; k++) {
		const struct why_pair *p = &b->pair[k];
		size_t at = 0;

		while (at < f->nrank && f->rank[at] != p->to)
			at++;
		if (at == f->nrank || !(p->most > 0) ||
		    (t->id != WHY_W11 && p->is_send != (t->id == WHY_W6)))
			continue;
		if (f->npair < WHY_PLACE_MAX)
			f->npair++;
		else if (least[WHY_PLACE_MAX - 1] >= p->most)
			continue;
		for (at = f->npair - 1; at > 0 && least[at - 1] < p->most; at--) {
			least[at] = least[at - 1];
			f->pair[at] = f->pair[at - 1];
		}
		least[at] = p->most;
		f->pair[at] = (struct why_place_pair){ p->from, p->to };
	}
}

/* --- causes */

static int64_t number_of_culprits(const struct why_finding *f)
{
	int64_t n = f->is_host;

	for (size_t i = 0; i < f->nrank; i++)
		n = n * 31 + f->rank[i] + 2;
	for (size_t i = 0; i < f->nhost; i++)
		n = n * 31 + f->host[i] + 2;
	return n & INT64_MAX;
}

static void explain(struct track *t, const struct track_block *b)
{
	struct why_finding *f = &t->finding;
	struct cause_shares s;

	if (number_of_culprits(f) != t->culprits)
		t->causes = (struct causes){ 0 };
	t->culprits = number_of_culprits(f);
	s = cause_shares(b->view, f, b->threshold);
	causes_add(&t->causes, &s);
	causes_conclude(&t->causes, b->alpha_cause, f);
}

/* --- life of a finding */

static enum why_state state_after(const struct track *t)
{
	double now = t->finding.severity.value;

	if (now > t->stated.high)
		return WHY_STRONGER;
	return now < t->stated.low ? WHY_WEAKER : WHY_STEADY;
}

void track_refresh(struct track *t, const struct track_block *b)
{
	struct why_finding *f = &t->finding;

	f->severity = tested_severity(&t->tested);
	f->at_least = fmin(tested_guaranteed(&t->tested).low, f->severity.low);
	f->is_lower_bound = t->tested.is_lower_bound;
	f->log_e = t->tested.e.log_sup;
	f->since = t->tested.since;
	f->blocks_held = t->tested.held;
	f->ranks_covered = (uint32_t)b->view->known;
	f->ranks_of = b->view->b->world_size;
	f->ratio = (struct why_range){ NAN, NAN, NAN };
	f->state = state_after(t);
	if (f->state != WHY_STEADY)
		t->stated = f->severity;
	name_culprits(t, b);
	name_pairs(t, b->view->b);
	if (why_has_culprits(t->id) || t->id == WHY_W11)
		explain(t, b);
}

bool track_is_gone(const struct track *t, double threshold)
{
	struct why_range now = tested_severity(&t->tested);

	if (t->loss.reason || t->tested.low.n < WHY_HELD_MIN)
		return false;
	return now.high < threshold || (t->tested.changed && now.value < threshold / 2);
}

void track_end(struct track *t, const struct track_block *b, struct why_finding *out)
{
	*out = t->finding;
	out->state = WHY_GONE;
	out->until = t->tested.changed > out->since ? t->tested.changed : b->view->b->end;
	track_restart(t);
}

void track_restart(struct track *t)
{
	tested_restart(&t->tested);
	place_clear(&t->ranks);
	place_clear(&t->hosts);
	t->has_finding = false;
}

void track_done(struct track *t)
{
	place_done(&t->ranks);
	place_done(&t->hosts);
}
