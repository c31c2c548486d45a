/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/top_waits.h"

#include "common/base/limits.h"
#include "common/base/str.h"

#include <stdio.h>
#include <stdlib.h>

#define NAMED_MAX 8 /* ranks that one line has room for */
#define NOBODY SIZE_MAX

/* The ranks of one job, by their numbers. */
struct job {
	const struct top_rank **rank; /* owned, `size` of them; NULL: not seen */
	size_t size, seen;
	bool is_odd; /* two of one number, as in a world that was spawned */
};

char *top_call_text(char out[TOP_CALL_TEXT_BYTES], const struct top_call *c)
{
	const char *way = c->kind == TOP_CALL_SENDS ? "to" : "from";

	if (c->state == TOP_CALL_ASKS)
		snprintf(out, TOP_CALL_TEXT_BYTES, "%s ...", c->name);
	else if (c->state != TOP_CALL_IN)
		snprintf(out, TOP_CALL_TEXT_BYTES, "-");
	else if (c->partner >= 0)
		snprintf(out, TOP_CALL_TEXT_BYTES, "%s %s %lld", c->name, way,
			 (long long)c->partner);
	else
		snprintf(out, TOP_CALL_TEXT_BYTES, "%s", c->name);
	return out;
}

/* done: of each rank of the sample, whether its job has been looked at. */
static bool collect(const struct top_sample *s, const struct top_rank *first, bool *done,
		    struct job *j)
{
	*j = (struct job){ .size = (size_t)first->world_size };
	j->rank = calloc(j->size, sizeof(struct top_rank *));
	if (!j->rank)
		return false;
	for (size_t i = 0; i < s->nrank; i++) {
		const struct top_rank *r = &s->rank[i];

		if (!str_eq(r->job, first->job) || r->world_size != first->world_size)
			continue;
		done[i] = true;
		if (r->rank < 0 || r->rank >= r->world_size || top_rank_has_ended(r))
			continue;
		j->is_odd |= j->rank[r->rank] != NULL;
		j->seen += !j->rank[r->rank];
		j->rank[r->rank] = r;
	}
	return true;
}

/* --- rules */

static bool is_stuck(const struct top_rank *r)
{
	return r && r->state != TOP_STOPPED && r->stuck_s >= TOP_WAITS_S;
}

static size_t waits_for(const struct job *j, size_t rank)
{
	const struct top_call *c = &j->rank[rank]->call;

	if (c->state != TOP_CALL_IN || c->partner < 0 || (size_t)c->partner >= j->size)
		return NOBODY;
	return (size_t)c->partner;
}

/* What one sends to the other may be large. */
static bool is_message_between(const struct job *j, size_t from, size_t to)
{
	const struct top_call *out = &j->rank[from]->call, *in = &j->rank[to]->call;

	return out->state == TOP_CALL_IN && in->state == TOP_CALL_IN &&
	       out->kind == TOP_CALL_SENDS && out->partner == (int64_t)to &&
	       ((in->kind == TOP_CALL_RECEIVES &&
		 (in->partner < 0 || in->partner == (int64_t)from) &&
		 (in->tag < 0 || in->tag == out->tag)) ||
		(in->kind == TOP_CALL_SENDS && str_eq(in->name, out->name) &&
		 str_has_prefix(in->name, "MPI_Sendrecv")));
}

/* All are in one call that they make together. */
static bool is_together(const struct job *j)
{
	const struct top_call *first = &j->rank[0]->call;

	for (size_t i = 0; i < j->size; i++)
		if (j->rank[i]->call.kind != TOP_CALL_TOGETHER ||
		    !str_eq(j->rank[i]->call.name, first->name))
			return false;
	return true;
}

static bool all_wait(const struct job *j)
{
	if (j->seen != j->size)
		return false;
	for (size_t i = 0; i < j->size; i++)
		if (!is_stuck(j->rank[i]))
			return false;
	for (size_t i = 0; i < j->size; i++)
		if (waits_for(j, i) != NOBODY && is_message_between(j, i, waits_for(j, i)))
			return false;
	return !is_together(j);
}

/* --- words */

static void say(struct buf *text, const struct top_rank *r)
{
	const struct top_call *c = &r->call;
	char tag[32] = "";

	if (c->tag >= 0)
		snprintf(tag, sizeof(tag), ", tag %lld", (long long)c->tag);
	if (c->state == TOP_CALL_ASKS)
		buf_printf(text, "%lld asks by %s, for whom is not known", (long long)r->rank,
			   c->name);
	else if (c->partner >= 0)
		buf_printf(text, "%lld waits for %lld (%s%s)", (long long)r->rank,
			   (long long)c->partner, c->name, tag);
	else
		buf_printf(text, "%lld is in %s", (long long)r->rank, c->name);
}

struct report {
	void (*fn)(void *arg, const struct top_wait *w);
	void *arg;
};

static void report_group(const struct report *to, const struct job *j, const size_t *rank, size_t n,
			 bool is_all)
{
	struct buf text = BUF_INIT(NAMED_MAX * (TOP_CALL_TEXT_BYTES + 64));
	struct top_wait w = { .job = j->rank[rank[0]]->job,
			      .seconds = j->rank[rank[0]]->stuck_s,
			      .is_all = is_all };

	for (size_t i = 0; i < n; i++) {
		const struct top_rank *r = j->rank[rank[i]];

		if (r->stuck_s < w.seconds)
			w.seconds = r->stuck_s;
		if (i >= NAMED_MAX)
			continue;
		buf_puts(&text, i ? ", " : "");
		say(&text, r);
	}
	if (n > NAMED_MAX)
		buf_printf(&text, ", ... (%zu in all)", n);
	w.text = buf_str(&text);
	to->fn(to->arg, &w);
	buf_done(&text);
}

/* Each rank waits for one at the most: from any of a ring the way leads back to it. Told at its
 * lowest rank. */
static void report_ring(const struct report *to, const struct job *j, size_t first, size_t *ring)
{
	size_t n = 0, at = first;

	do {
		size_t next = is_stuck(j->rank[at]) ? waits_for(j, at) : NOBODY;

		if (next == NOBODY || next < first || n == j->size || !is_stuck(j->rank[next]) ||
		    is_message_between(j, at, next) || is_message_between(j, next, at))
			return;
		ring[n++] = at;
		at = next;
	} while (at != first);
	report_group(to, j, ring, n, false);
}

static void look_at(const struct report *to, const struct job *j)
{
	size_t *rank = calloc(j->size, sizeof(*rank));

	if (rank && all_wait(j)) {
		for (size_t i = 0; i < j->size; i++)
			rank[i] = i;
		report_group(to, j, rank, j->size, true);
	} else {
		for (size_t i = 0; rank && i < j->size; i++)
			report_ring(to, j, i, rank);
	}
	free(rank);
}

void top_waits(const struct top_sample *s, void (*fn)(void *arg, const struct top_wait *w),
	       void *arg)
{
	const struct report to = { fn, arg };
	bool *done = calloc(s->nrank + 1, sizeof(*done));
	struct job j;

	for (size_t i = 0; done && i < s->nrank; i++) {
		const struct top_rank *r = &s->rank[i];

		if (done[i] || !is_stuck(r) || r->world_size <= 0 ||
		    r->world_size > OMIS_OBJECTS_MAX)
			continue;
		if (collect(s, r, done, &j) && !j.is_odd)
			look_at(&to, &j);
		free(j.rank);
	}
	free(done);
}
