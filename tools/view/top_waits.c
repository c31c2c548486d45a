/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/top_waits.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/term/table.h"

#include <stdio.h>
#include <stdlib.h>

#define NAMED_MAX 8 /* ranks that fit into one line */
#define NO_RANK SIZE_MAX

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

/* done: of each rank of the sample, whether its job has been examined. */
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

static bool is_sendrecv(const struct top_call *c)
{
	return c->kind == TOP_CALL_SENDS && str_has_prefix(c->name, "MPI_Sendrecv");
}

/* For that rank and no other. A Sendrecv has two partners, and one of them may have done its part.
 */
static size_t waits_for(const struct job *j, size_t rank)
{
	const struct top_call *c = &j->rank[rank]->call;

	if (c->state != TOP_CALL_IN || c->partner < 0 || (size_t)c->partner >= j->size ||
	    (is_sendrecv(c) && c->source != c->partner))
		return NO_RANK;
	return (size_t)c->partner;
}

static bool takes(int64_t source, int64_t source_tag, size_t from, int64_t tag)
{
	return (source == TOP_PARTNER_UNKNOWN || source == (int64_t)from) &&
	       (source_tag < 0 || source_tag == tag);
}

/* True if one rank sends to the other; the message may be large. */
static bool is_message_between(const struct job *j, size_t from, size_t to)
{
	const struct top_call *out = &j->rank[from]->call, *in = &j->rank[to]->call;

	if (out->state != TOP_CALL_IN || in->state != TOP_CALL_IN || out->kind != TOP_CALL_SENDS ||
	    out->partner != (int64_t)to)
		return false;
	return in->kind == TOP_CALL_RECEIVES
		       ? takes(in->partner, in->tag, from, out->tag)
		       : is_sendrecv(in) && takes(in->source, in->source_tag, from, out->tag);
}

static bool is_message_from(const struct job *j, size_t from)
{
	int64_t to = j->rank[from]->call.partner;

	return to >= 0 && (size_t)to < j->size && is_message_between(j, from, (size_t)to);
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
		if (is_message_from(j, i))
			return false;
	return !is_together(j);
}

/* --- text */

const char *top_wait_words(const struct top_wait *w)
{
	return w->kind == TOP_WAIT_ALL	  ? "no call has ended"
	       : w->kind == TOP_WAIT_RING ? "ranks wait in a ring"
					  : "ranks wait for others";
}

/* A rank may have posted a send before the call that it is in now. */
static const char *unknown_of(const struct top_wait *w)
{
	return w->kind == TOP_WAIT_OTHERS ? "" : "; data of earlier requests may still be moving";
}

char *top_wait_line(char *out, size_t size, const struct top_wait *w)
{
	char time[TABLE_NUMBER_BYTES];

	snprintf(out, size, "%s: %s for %s at least: %s%s", w->job, top_wait_words(w),
		 table_duration(time, w->seconds), w->text, unknown_of(w));
	return out;
}

static const char *tag_text(char out[32], const char *before, int64_t tag)
{
	out[0] = '\0';
	if (tag >= 0)
		snprintf(out, 32, "%s%lld", before, (long long)tag);
	return out;
}

static void say_sendrecv(struct buf *text, const struct top_rank *r)
{
	const struct top_call *c = &r->call;
	char tag[32];

	buf_printf(text, "%lld sends to %lld%s", (long long)r->rank, (long long)c->partner,
		   tag_text(tag, ", tag ", c->tag));
	buf_printf(text, ", and receives from %lld%s (%s)", (long long)c->source,
		   tag_text(tag, ", tag ", c->source_tag), c->name);
}

static void say(struct buf *text, const struct top_rank *r)
{
	const struct top_call *c = &r->call;
	char tag[32];

	if (c->state == TOP_CALL_ASKS)
		buf_printf(text, "%lld asks by %s, partner unknown", (long long)r->rank, c->name);
	else if (is_sendrecv(c) && c->partner >= 0 && c->source >= 0)
		say_sendrecv(text, r);
	else if (c->partner >= 0)
		buf_printf(text, "%lld waits for %lld (%s%s)", (long long)r->rank,
			   (long long)c->partner, c->name, tag_text(tag, ", tag ", c->tag));
	else
		buf_printf(text, "%lld is in %s", (long long)r->rank, c->name);
}

struct report {
	void (*fn)(void *arg, const struct top_wait *w);
	void *arg;
};

static void report_group(const struct report *to, const struct job *j, const size_t *rank, size_t n,
			 enum top_wait_kind kind)
{
	struct buf text = BUF_INIT(NAMED_MAX * (TOP_CALL_TEXT_BYTES + 64));
	struct top_wait w = { .job = j->rank[rank[0]]->job,
			      .seconds = j->rank[rank[0]]->stuck_s,
			      .kind = kind };

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

/*
 * Reports a ring once, at its lowest rank. Each rank waits for at most one other, so each rank of a
 * ring leads back to itself.
 */
static bool report_ring(const struct report *to, const struct job *j, size_t first, size_t *ring)
{
	size_t n = 0, at = first;

	do {
		size_t next = is_stuck(j->rank[at]) ? waits_for(j, at) : NO_RANK;

		if (next == NO_RANK || next < first || n == j->size || !is_stuck(j->rank[next]) ||
		    is_message_between(j, at, next) || is_message_between(j, next, at))
			return false;
		ring[n++] = at;
		at = next;
	} while (at != first);
	report_group(to, j, ring, n, TOP_WAIT_RING);
	return true;
}

/* --- a call that some ranks have not entered */

/* A rank of it depends on each other one. */
static bool holds_until_all_come(const struct top_rank *r)
{
	static const char *const names[] = { "MPI_Barrier",   "MPI_Allreduce",
					     "MPI_Allgather", "MPI_Allgatherv",
					     "MPI_Alltoall",  "MPI_Alltoallv",
					     "MPI_Alltoallw", "MPI_Reduce_scatter",
					     "MPI_Comm_dup",  "MPI_Comm_split" };

	if (!is_stuck(r) || r->call.state != TOP_CALL_IN || !r->call.is_of_world)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(r->call.name, names[i]))
			return true;
	return false;
}

static bool is_in_call(const struct top_rank *r, const char *name)
{
	return r->call.state == TOP_CALL_IN && str_eq(r->call.name, name);
}

static void say_absent(struct buf *text, const struct job *j, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < j->size; i++) {
		if (is_in_call(j->rank[i], name))
			continue;
		if (++n <= NAMED_MAX)
			buf_printf(text, "%s%zu", n > 1 ? ", " : "", i);
	}
	if (n > NAMED_MAX)
		buf_printf(text, ", ... (%zu in all)", n);
}

static void report_absent(const struct report *to, const struct job *j, const struct top_rank *in)
{
	struct buf text = BUF_INIT(NAMED_MAX * 32 + TOP_CALL_TEXT_BYTES);
	struct top_wait w = { .job = in->job, .seconds = in->stuck_s, .kind = TOP_WAIT_OTHERS };
	size_t n = 0;

	for (size_t i = 0; i < j->size; i++) {
		n += is_in_call(j->rank[i], in->call.name);
		if (holds_until_all_come(j->rank[i]) && j->rank[i]->stuck_s > w.seconds)
			w.seconds = j->rank[i]->stuck_s;
	}
	if (n < j->size) {
		buf_printf(&text, "%zu of %zu are in %s, without ", n, j->size, in->call.name);
		say_absent(&text, j, in->call.name);
		w.text = buf_str(&text);
		to->fn(to->arg, &w);
	}
	buf_done(&text);
}

static void look_for_absent(const struct report *to, const struct job *j)
{
	if (j->seen != j->size)
		return;
	for (size_t i = 0; i < j->size; i++) {
		if (holds_until_all_come(j->rank[i])) {
			report_absent(to, j, j->rank[i]);
			return;
		}
	}
}

static void look_at(const struct report *to, const struct job *j)
{
	size_t *rank = calloc(j->size, sizeof(*rank));

	if (rank && all_wait(j)) {
		for (size_t i = 0; i < j->size; i++)
			rank[i] = i;
		report_group(to, j, rank, j->size, TOP_WAIT_ALL);
	} else if (rank) {
		bool is_ring = false;

		for (size_t i = 0; i < j->size; i++)
			is_ring |= report_ring(to, j, i, rank);
		if (!is_ring)
			look_for_absent(to, j);
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
