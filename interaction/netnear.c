/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Near-critical paths. A path is the critical one up to the joins where it takes the other arc;
 * each of these costs the slack of the join. From a join on, further back, the rest of the best
 * path costs nothing. So the cheapest candidates are found one after the other.
 */
#include "interaction/netpath.h"

#include <stdlib.h>
#include <string.h>

/* A path that leaves the path `parent` at a join. The critical path has none. */
struct candidate {
	int64_t cost;
	uint32_t join;
	size_t parent; /* index of a found path; SIZE_MAX: none */
};

struct near {
	const struct network *w;
	struct candidate *wait; /* sorted by cost; k at most */
	size_t nwait;
	struct candidate *found;
	size_t nfound, k;
};

static void offer(struct near *s, struct candidate c)
{
	size_t room = s->k - s->nfound, at;

	if (!room || (s->nwait >= room && s->wait[s->nwait - 1].cost <= c.cost))
		return;
	s->nwait -= s->nwait >= room;
	for (at = s->nwait++; at && s->wait[at - 1].cost > c.cost; at--)
		s->wait[at] = s->wait[at - 1];
	s->wait[at] = c;
}

static uint32_t tail_of(const struct network *w, uint32_t v, bool is_ending)
{
	return is_ending ? w->v[v].tail2 : w->v[v].tail;
}

static bool best(const struct network *w, uint32_t v)
{
	bool is_unique;

	return w->v[v].kind == NETWORK_JOIN && network_takes_ending(w, v, &is_unique);
}

/* Adds the candidates that leave a found path before the join at which it left its parent. */
static void offer_from(struct near *s, size_t found)
{
	const struct candidate *c = &s->found[found];
	const struct network *w = s->w;
	uint32_t at = c->join == NETWORK_NONE ? w->vf : tail_of(w, c->join, !best(w, c->join));

	for (; at != NETWORK_NONE; at = tail_of(w, at, best(w, at))) {
		int64_t slack = w->v[at].kind == NETWORK_JOIN ? netpath_slack(w, at) : 0, cost;

		if (w->v[at].kind != NETWORK_JOIN)
			continue;
		slack = slack > 0 ? slack : 0;
		if (!__builtin_add_overflow(c->cost, slack, &cost))
			offer(s, (struct candidate){ cost, at, found });
	}
}

/* True if the found path takes the other arc at a join. */
static bool leaves_at(const struct near *s, size_t found, uint32_t join)
{
	for (; found != SIZE_MAX; found = s->found[found].parent)
		if (s->found[found].join == join)
			return true;
	return false;
}

/* Writes the path from its end. The oldest ancestor has the last join at which it differs. */
static int write_path(const struct near *s, size_t found, struct netpath *out)
{
	const struct network *w = s->w;
	struct netpath p = { .length = netpath_response(w) - s->found[found].cost };
	size_t cap = 0;

	for (int pass = 0; pass < 2; pass++) {
		size_t i = cap;

		for (uint32_t at = w->vf; at != NETWORK_NONE;) {
			bool is_ending = best(w, at) != leaves_at(s, found, at);

			if (pass)
				p.step[--i] = (struct netpath_step){ at, is_ending };
			else
				cap++;
			at = tail_of(w, at, is_ending);
		}
		if (!pass && !(p.step = calloc(cap, sizeof(*p.step))))
			return -ERR_NOMEM;
	}
	p.n = cap;
	*out = p;
	return 0;
}

static int write_all(const struct near *s, struct netpath **out)
{
	struct netpath *p = calloc(s->nfound, sizeof(*p));
	int rc = p ? 0 : -ERR_NOMEM;

	for (size_t i = 0; i < s->nfound && !rc; i++) {
		rc = write_path(s, i, &p[i]);
		p[i].is_unique = !i || p[i - 1].length != p[i].length;
		if (i && !p[i].is_unique)
			p[i - 1].is_unique = false;
	}
	for (size_t i = 0; p && rc && i < s->nfound; i++)
		netpath_done(&p[i]);
	if (rc)
		free(p);
	else
		*out = p;
	return rc;
}

int netpath_near(const struct network *w, size_t k, struct netpath **out, size_t *n, struct err *e)
{
	struct near s = { .w = w, .k = k };
	int rc;

	if (!k || k > NETPATH_NEAR_MAX)
		return err_set(e, ERR_INVALID, "1 to %d paths", NETPATH_NEAR_MAX);
	s.wait = calloc(k, sizeof(*s.wait));
	s.found = calloc(k, sizeof(*s.found));
	rc = s.wait && s.found ? 0 : -ERR_NOMEM;
	if (!rc)
		s.wait[s.nwait++] = (struct candidate){ 0, NETWORK_NONE, SIZE_MAX };
	while (!rc && s.nwait && s.nfound < k) {
		s.found[s.nfound++] = s.wait[0];
		memmove(s.wait, s.wait + 1, --s.nwait * sizeof(*s.wait));
		offer_from(&s, s.nfound - 1);
	}
	rc = rc ? rc : write_all(&s, out);
	*n = s.nfound;
	free(s.wait);
	free(s.found);
	return rc ? err_nomem(e) : 0;
}
