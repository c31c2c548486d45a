/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a profile in words. */
#include "tools/profile/profile_columns.h"

#include "common/base/str.h"

#include <math.h>

static const char *s_of(size_t n)
{
	return n == 1 ? "" : "s";
}

static const struct profile_row *largest(const struct profile *p)
{
	const struct profile_row *best = NULL;

	for (size_t i = 0; i < p->n; i++)
		if (p->row[i].seconds > 0 && (!best || p->row[i].seconds > best->seconds))
			best = &p->row[i];
	return best;
}

/* "; 4 ranks are in MPI for 23 % of their time" */
static void say_share(const struct profile *p, struct buf *out)
{
	if (p->wall_s > 0)
		buf_printf(out, "; %zu rank%s %s in MPI for %.3g %% of the time", p->ranks,
			   s_of(p->ranks), p->ranks == 1 ? "is" : "are",
			   100 * p->seconds / p->wall_s);
}

static void say_call(const struct profile *p, const struct profile_row *r, struct buf *out)
{
	char text[TABLE_QUANTITY_BYTES];

	buf_printf(out, "%s takes %.3g %% of the time in MPI", r->name, profile_of_mpi(p, r));
	if (r->most_rank >= 0 && p->ranks > 1)
		buf_printf(out, ", most on rank %lld (%s)", (long long)r->most_rank,
			   profile_time(text, r->most_s));
	say_share(p, out);
}

static void say_rank(const struct profile_row *r, const char *how, double share, struct buf *out)
{
	char text[TABLE_QUANTITY_BYTES];

	buf_printf(out, "rank %lld is %s in MPI (%s", (long long)r->rank, how,
		   profile_time(text, r->seconds));
	if (!isnan(share))
		buf_printf(out, ", %.3g %% of its time", share);
	if (r->most_call[0])
		buf_printf(out, ", most in %s", r->most_call);
	buf_putc(out, ')');
}

static void say_ranks(const struct profile *p, const struct profile_row *r, struct buf *out)
{
	const struct profile_row *least = r;

	for (size_t i = 0; i < p->n; i++)
		if (p->row[i].seconds < least->seconds)
			least = &p->row[i];
	say_rank(r, "longest", profile_of_wall(p, r), out);
	if (least == r)
		return;
	buf_puts(out, "; ");
	say_rank(least, "shortest", profile_of_wall(p, least), out);
}

static void say_node(const struct profile *p, const struct profile_row *r, struct buf *out)
{
	buf_printf(out, "ranks on %s have %.3g %% of the time in MPI", r->name,
		   profile_of_mpi(p, r));
	if (r->most_call[0])
		buf_printf(out, ", most in %s", r->most_call);
	say_share(p, out);
}

static void say_pair(const struct profile *p, const struct profile_row *r, struct buf *out)
{
	char text[TABLE_QUANTITY_BYTES];

	buf_printf(out, "rank %lld spends %s in calls with rank %lld", (long long)r->rank,
		   profile_time(text, r->seconds), (long long)r->partner);
	buf_printf(out, ": %.3g %% of the time in calls with a partner", profile_of_mpi(p, r));
}

static void say_site(const struct profile *p, const struct profile_row *r, struct buf *out)
{
	char text[TABLE_QUANTITY_BYTES];

	buf_printf(out, "%s in ", r->name);
	profile_site_text(r, out);
	buf_printf(out, " takes %.3g %% of the time in MPI", profile_of_mpi(p, r));
	if (r->most_rank >= 0 && p->ranks > 1)
		buf_printf(out, ", most on rank %lld (%s)", (long long)r->most_rank,
			   profile_time(text, r->most_s));
	say_share(p, out);
}

/* Notes that functions have names but no lines. */
static void say_debug(const struct profile *p, struct buf *out)
{
	bool has_function = false;

	if (p->by != PROFILE_SITE)
		return;
	for (size_t i = 0; i < p->n; i++) {
		const struct profile_row *r = &p->row[i];

		if (r->nframe && r->frame[0].source[0])
			return;
		has_function |= r->nframe && r->frame[0].function[0];
	}
	if (has_function)
		buf_puts(out,
			 "no line is known: compile the program with -g for files and lines\n");
}

static void say_size(const struct profile *p, const struct profile_row *r, struct buf *out)
{
	buf_printf(out, "%s of ", r->name);
	table_sizes(out, r->size_from, r->size_to);
	buf_printf(out, " bytes takes %.3g %% of the time in calls that move bytes",
		   profile_of_mpi(p, r));
}

static void say_first(const struct profile *p, struct buf *out)
{
	const struct profile_row *r = largest(p);

	if (!p->ranks)
		buf_puts(out, "no rank has replied");
	else if (!r)
		buf_puts(out, p->by == PROFILE_PARTNER
				      ? "no time in calls with a partner was measured"
			      : p->by == PROFILE_SIZE ? "no call that moves bytes was measured"
			      : p->by == PROFILE_SITE ? "no call site was measured"
						      : "no time in MPI was measured");
	else if (p->by == PROFILE_RANK)
		say_ranks(p, r, out);
	else if (p->by == PROFILE_SIZE)
		say_size(p, r, out);
	else if (p->by == PROFILE_SITE)
		say_site(p, r, out);
	else if (p->by == PROFILE_NODE)
		say_node(p, r, out);
	else if (p->by == PROFILE_PARTNER)
		say_pair(p, r, out);
	else
		say_call(p, r, out);
	buf_putc(out, '\n');
}

/* Describes the coverage of the numbers. */
static void say_coverage(const struct profile *p, const char *job, struct buf *out)
{
	char text[TABLE_QUANTITY_BYTES];

	if (job)
		buf_printf(out, "job %s: ", job);
	buf_printf(out, "%zu rank%s on %zu node%s", p->ranks, s_of(p->ranks), p->nodes,
		   s_of(p->nodes));
	if (p->longest_s > 0)
		buf_printf(out, ", measured for %s%s", p->ranks > 1 ? "up to " : "",
			   profile_time(text, p->longest_s));
	if (p->ended)
		buf_printf(out, "; %zu %s ended", p->ended, p->ended == 1 ? "has" : "have");
	if (p->untimed)
		buf_printf(out, "; time is not measured in %zu", p->untimed);
	if (p->unread)
		buf_printf(out, "; %zu process%s cannot be read", p->unread,
			   p->unread == 1 ? "" : "es");
	if (p->sampled)
		buf_printf(out, "; time is an estimate from one call in %u", 1u << p->sampled);
	buf_putc(out, '\n');
}

/* Writes one or two sentences with the main results. */
static void say(const struct profile *p, const char *job, struct buf *out)
{
	say_first(p, out);
	say_coverage(p, job, out);
}

int profile_show(const struct term *t, const struct profile *p, const char *job, size_t rows,
		 struct buf *out)
{
	size_t shown = rows && rows < p->n ? rows : p->n;
	int rc = 0;

	say(p, job, out);
	if (p->n)
		rc = profile_table(p, shown, t->is_tty ? t->cols : 0, out);
	if (!rc && shown < p->n)
		buf_printf(out, "%zu more row%s (--rows)\n", p->n - shown, s_of(p->n - shown));
	if (!rc)
		say_debug(p, out);
	if (!rc && p->left_out)
		buf_printf(out, "%zu row%s with less time %s left out\n", p->left_out,
			   s_of(p->left_out), p->left_out == 1 ? "is" : "are");
	if (!rc && p->lost > 0)
		buf_printf(out, "%.0f calls are in no row: tables of ranks are full\n", p->lost);
	return rc;
}
