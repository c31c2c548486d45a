/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a summary, for the text and for the page. */
#include "tools/summary/summary_tables.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "tools/term/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CALL_ROWS 10
#define RANK_ROWS 16
#define PAIR_ROWS 10
#define SIZE_ROWS 10
#define SITE_ROWS 20 /* as mpiP */
#define HOST_ROWS 16

static size_t limit(const struct summary_writer *w, size_t n, size_t most)
{
	return w->all || n < most ? n : most;
}

/* A line about the rest when the table is cut. Consumes tab. */
static void put_table(struct summary_writer *w, const char *caption, struct table *tab, size_t rows,
		      size_t of)
{
	int rc = tab ? w->put(w->out, caption, tab) : -ERR_NOMEM;

	if (rc)
		w->rc = rc;
	table_free(tab);
	if (rows < of)
		buf_printf(w->out, "and %zu more (omig show --all)\n", of - rows);
}

static void cell_count(struct table *tab, double v)
{
	char text[TABLE_NUMBER_BYTES];

	table_cell(tab, "%s", table_count(text, v));
}

static void cell_bytes(struct table *tab, double v)
{
	char text[TABLE_NUMBER_BYTES];

	table_cell(tab, "%s", table_bytes(text, v));
}

static void cell_percent(struct table *tab, double part, double whole)
{
	char text[TABLE_NUMBER_BYTES];

	table_cell(tab, "%s", table_percent(text, whole > 0 ? 100 * part / whole : NAN));
}

static void cell_seconds(struct table *tab, double v)
{
	char text[SUMMARY_SECONDS_BYTES];

	table_cell(tab, "%s", summary_seconds(text, v));
}

/* Puts the rank that spent the longest time in the call. */
static void cell_most(struct table *tab, double seconds, int64_t rank)
{
	char most[SUMMARY_SECONDS_BYTES];

	if (rank >= 0 && seconds > 0)
		table_cell(tab, "%s (%" PRId64 ")", summary_seconds(most, seconds), rank);
	else
		table_cell(tab, "-");
}

/*
 * Reports the part that a table covers: calls of programs that ended long before, and lost data,
 * are missing.
 */
static void put_part(struct buf *out, uint64_t part, uint64_t all)
{
	if (part < all)
		buf_printf(out, " (%.3g %% of these calls)", 100 * (double)part / (double)all);
}

/* --- calls */

static double time_of(const struct summary_section *of)
{
	double sum = 0;

	for (size_t i = 0; i < of->n; i++)
		if (of->process[i].has_calls)
			sum += of->process[i].seconds;
	return sum;
}

static void call_row(struct table *tab, const struct call_sum *c, double mpi, double time)
{
	uint64_t bytes = c->bytes_out + c->bytes_in;

	table_cell(tab, "%s", c->name->name);
	cell_count(tab, (double)c->count);
	cell_seconds(tab, c->seconds);
	cell_percent(tab, c->seconds, mpi);
	cell_percent(tab, c->seconds, time);
	cell_seconds(tab, c->count ? c->seconds / (double)c->count : NAN);
	cell_most(tab, c->most_seconds, c->most ? c->most->rank : -1);
	cell_bytes(tab, bytes ? (double)bytes : NAN);
	cell_bytes(tab, bytes && c->count ? (double)bytes / (double)c->count : NAN);
}

void summary_put_calls(struct summary_writer *w, const struct summary_section *of,
		       const struct call_sum *sum, size_t n)
{
	static const char *const heads[] = { "CALL", "CALLS",	    "TIME",  "MPI%", "TIME%",
					     "MEAN", "MOST (RANK)", "BYTES", "SIZE" };
	struct table *tab = table_new(ARRAY_LEN(heads), heads, "lrrrrrrrr");
	double mpi = 0, time = time_of(of);
	size_t rows = limit(w, n, CALL_ROWS);

	for (size_t i = 0; i < n; i++)
		mpi += sum[i].seconds;
	for (size_t i = 0; tab && i < rows; i++)
		call_row(tab, &sum[i], mpi, time);
	put_table(w, "Time in MPI by call, of all ranks", tab, rows, n);
}

/* --- ranks */

static const struct summary_call *main_call(const struct summary_process *p)
{
	const struct summary_call *most = NULL;

	for (size_t i = 0; i < p->ncall; i++)
		if (!most || p->call[i].seconds > most->seconds)
			most = &p->call[i];
	return most && most->seconds > 0 ? most : NULL;
}

static void end_text(struct table *tab, const struct summary_process *p, double end)
{
	char text[SUMMARY_SECONDS_BYTES];

	if (p->is_final)
		table_cell(tab, "%s", summary_end(text, p->exit_status));
	else
		table_cell(tab, "last seen %s before the end",
			   summary_seconds(text, fmax(0, end - p->began_s - p->seconds)));
}

static void rank_row(const struct summary_writer *w, struct table *tab,
		     const struct summary_section *of, const struct summary_process *p)
{
	const struct summary_call *most = main_call(p);
	double mpi = summary_mpi_seconds(p);

	table_cell(tab, "%" PRId64, p->rank);
	table_cell(tab, "%s", p->host);
	cell_seconds(tab, p->seconds);
	cell_percent(tab, mpi, p->seconds);
	cell_percent(tab, p->cpu_s, p->seconds);
	cell_bytes(tab, p->rss_bytes);
	cell_count(tab, p->has_calls ? (double)summary_count(p) : NAN);
	cell_bytes(tab, p->has_calls ? (double)summary_bytes_out(p) : NAN);
	cell_bytes(tab, p->has_calls ? (double)summary_bytes_in(p) : NAN);
	table_cell(tab, "%s", most ? of->name[most->of].name : "-");
	end_text(tab, p, w->s->seconds);
}

/* Orders by computation: the processes with the most and the least are shown. */
static int by_computation(const void *pa, const void *pb)
{
	const struct summary_process *a = *(const struct summary_process *const *)pa,
				     *b = *(const struct summary_process *const *)pb;
	double of_a = a->seconds - summary_mpi_seconds(a),
	       of_b = b->seconds - summary_mpi_seconds(b);

	if (isnan(of_a) != isnan(of_b))
		return isnan(of_a) ? 1 : -1;
	if (of_a != of_b && !isnan(of_a))
		return of_a < of_b ? 1 : -1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

void summary_put_ranks(struct summary_writer *w, const struct summary_section *of)
{
	static const char *const heads[] = { "RANK",	 "HOST",    "TIME",  "MPI%",
					     "CPU%",	 "MEMORY",  "CALLS", "SENT",
					     "RECEIVED", "MOST IN", "END" };
	struct table *tab = table_new(ARRAY_LEN(heads), heads, "rlrrrrrrrll");
	const struct summary_process **row = calloc(of->n + 1, sizeof(*row));
	size_t rows = limit(w, of->n, RANK_ROWS);

	for (size_t i = 0; row && i < of->n; i++)
		row[i] = &of->process[i];
	if (row && rows < of->n)
		qsort(row, of->n, sizeof(const struct summary_process *), by_computation);
	for (size_t i = 0; tab && row && i < rows; i++)
		rank_row(w, tab, of, i < rows / 2 ? row[i] : row[of->n - rows + i]);
	w->rc = row ? w->rc : -ERR_NOMEM;
	put_table(w,
		  rows < of->n ? "Ranks: those that compute most, then those that compute least"
			       : "Ranks",
		  tab, rows, of->n);
	free(row);
}

/* --- pairs of ranks */

struct pair {
	int64_t from;
	const struct summary_partner *p;
};

static int by_bytes(const void *pa, const void *pb)
{
	const struct pair *a = pa, *b = pb;
	uint64_t of_a = a->p->bytes_out, of_b = b->p->bytes_out;

	if (of_a != of_b)
		return of_a < of_b ? 1 : -1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->p->rank > b->p->rank) - (a->p->rank < b->p->rank);
}

static size_t list_pairs(const struct summary_section *of, struct pair *pair)
{
	size_t n = 0;

	for (size_t i = 0; i < of->n; i++)
		for (size_t k = 0; k < of->process[i].npartner; k++) {
			const struct summary_partner *p = &of->process[i].partner[k];

			if (p->rank < 0 || !p->bytes_out)
				continue;
			if (pair)
				pair[n] = (struct pair){ of->process[i].rank, p };
			n++;
		}
	return n;
}

void summary_put_pairs(struct summary_writer *w, const struct summary_section *of)
{
	static const char *const heads[] = { "FROM", "TO", "SENT", "SENDS", "SIZE" };
	size_t n = list_pairs(of, NULL), rows = limit(w, n, PAIR_ROWS);
	struct pair *pair = n ? calloc(n, sizeof(*pair)) : NULL;
	struct table *tab;

	if (!pair)
		return;
	list_pairs(of, pair);
	qsort(pair, n, sizeof(*pair), by_bytes);
	tab = table_new(ARRAY_LEN(heads), heads, "rrrrr");
	for (size_t i = 0; tab && i < rows; i++) {
		const struct summary_partner *p = pair[i].p;

		table_cell(tab, "%" PRId64, pair[i].from);
		table_cell(tab, "%" PRId64, p->rank);
		cell_bytes(tab, (double)p->bytes_out);
		cell_count(tab, (double)p->sends);
		cell_bytes(tab, p->sends ? (double)p->bytes_out / (double)p->sends : NAN);
	}
	put_table(w, "Bytes sent between ranks, in calls that name a partner", tab, rows, n);
	free(pair);
}

/* --- hosts */

struct host {
	const char *name;
	size_t n;
	double time, mpi, cpu, rss;
};

static int by_host(const void *a, const void *b)
{
	return strverscmp(((const struct host *)a)->name, ((const struct host *)b)->name);
}

static size_t list_hosts(const struct summary_section *of, struct host *host)
{
	size_t n = 0;

	for (size_t i = 0; i < of->n; i++)
		host[i] =
			(struct host){ of->process[i].host,    1,
				       of->process[i].seconds, summary_mpi_seconds(&of->process[i]),
				       of->process[i].cpu_s,   of->process[i].rss_bytes };
	if (of->n > 1)
		qsort(host, of->n, sizeof(*host), by_host);
	for (size_t i = 0; i < of->n; i++) {
		if (!n || !str_eq(host[n - 1].name, host[i].name)) {
			host[n++] = host[i];
			continue;
		}
		host[n - 1].n++;
		host[n - 1].time += host[i].time;
		host[n - 1].mpi += host[i].mpi;
		host[n - 1].cpu += host[i].cpu;
		host[n - 1].rss += host[i].rss;
	}
	return n;
}

void summary_put_hosts(struct summary_writer *w, const struct summary_section *of)
{
	static const char *const heads[] = { "HOST", "RANKS", "MPI%", "CPU%", "MEMORY" };
	struct host *host = calloc(of->n + 1, sizeof(*host));
	size_t n = host ? list_hosts(of, host) : 0, rows = limit(w, n, HOST_ROWS);
	struct table *tab;

	if (n > 1) {
		tab = table_new(ARRAY_LEN(heads), heads, "lrrrr");
		for (size_t i = 0; tab && i < rows; i++) {
			table_cell(tab, "%s", host[i].name);
			table_cell(tab, "%zu", host[i].n);
			cell_percent(tab, host[i].mpi, host[i].time);
			cell_percent(tab, host[i].cpu, host[i].time);
			cell_bytes(tab, host[i].rss);
		}
		put_table(w, "Hosts", tab, rows, n);
	}
	free(host);
}

/* --- sizes */

static bool has_name(const struct summary *s, const char *name)
{
	for (size_t i = 0; i < s->nsize; i++)
		if (str_eq(s->size[i].name, name))
			return true;
	return false;
}

/*
 * Returns the number of calls of the functions that have a size, including calls of unknown
 * size.
 */
static uint64_t calls_with_sizes(const struct summary *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->section[i].n; k++) {
			const struct summary_process *p = &s->section[i].process[k];

			for (size_t c = 0; c < p->ncall; c++)
				if (has_name(s, s->section[i].name[p->call[c].of].name))
					n += p->call[c].count;
		}
	return n;
}

static void size_caption(const struct summary *s, struct buf *out)
{
	uint64_t all = calls_with_sizes(s), sized = 0;

	for (size_t i = 0; i < s->nsize; i++)
		sized += s->size[i].count;
	buf_puts(out, "Calls by the size of their messages, of all ranks");
	put_part(out, sized, all);
}

static void size_row(struct table *tab, const struct summary_size *v)
{
	struct buf size = BUF_INIT(TABLE_QUANTITY_BYTES);

	table_sizes(&size, v->from, v->to);
	table_cell(tab, "%s", v->name);
	table_cell(tab, "%s", buf_str(&size));
	cell_count(tab, (double)v->count);
	cell_seconds(tab, v->seconds);
	cell_seconds(tab, v->count ? v->seconds / (double)v->count : NAN);
	cell_bytes(tab, (double)v->bytes);
	buf_done(&size);
}

void summary_put_sizes(struct summary_writer *w)
{
	static const char *const heads[] = { "CALL", "SIZE", "CALLS", "TIME", "MEAN", "BYTES" };
	const struct summary *s = w->s;
	struct buf caption = BUF_INIT(SUMMARY_TEXT_BYTES);
	size_t rows = limit(w, s->nsize, SIZE_ROWS);
	struct table *tab;

	if (!s->nsize)
		return;
	tab = table_new(ARRAY_LEN(heads), heads, "llrrrr");
	for (size_t i = 0; tab && i < rows; i++)
		size_row(tab, &s->size[i]);
	size_caption(s, &caption);
	put_table(w, buf_str(&caption), tab, rows, s->nsize);
	buf_done(&caption);
}

/* --- call sites */

static void site_caption(const struct summary *s, const struct summary_whole *all, struct buf *out)
{
	uint64_t count = 0;

	for (size_t i = 0; i < s->nsite; i++)
		count += s->site[i].count;
	buf_puts(out, "Call sites, of all ranks");
	put_part(out, count, all->count);
}

static void site_row(struct table *tab, const struct summary_site *v,
		     const struct summary_whole *all)
{
	struct buf place = BUF_INIT(2 * SUMMARY_TEXT_BYTES + 8);
	uint64_t bytes = v->bytes_out + v->bytes_in;

	summary_place(v, &place);
	table_cell(tab, "%s", v->name);
	table_cell(tab, "%s", buf_str(&place));
	cell_count(tab, (double)v->count);
	cell_seconds(tab, v->seconds);
	cell_percent(tab, v->seconds, all->mpi_s);
	cell_percent(tab, v->seconds, all->seconds);
	cell_seconds(tab, v->count ? v->seconds / (double)v->count : NAN);
	cell_seconds(tab, v->longest_s);
	cell_most(tab, v->most_s, v->most_rank);
	cell_bytes(tab, bytes ? (double)bytes : NAN);
	buf_done(&place);
}

void summary_put_sites(struct summary_writer *w)
{
	static const char *const heads[] = {
		"CALL",	 "CALLED IN", "CALLS", "TIME",	      "MPI%",
		"TIME%", "MEAN",      "MAX",   "MOST (RANK)", "BYTES"
	};
	const struct summary *s = w->s;
	struct buf caption = BUF_INIT(SUMMARY_TEXT_BYTES);
	struct summary_whole all = summary_whole(s);
	size_t rows = limit(w, s->nsite, SITE_ROWS);
	struct table *tab;

	if (!s->nsite)
		return;
	tab = table_new(ARRAY_LEN(heads), heads, "llrrrrrrrr");
	for (size_t i = 0; tab && i < rows; i++)
		site_row(tab, &s->site[i], &all);
	site_caption(s, &all, &caption);
	put_table(w, buf_str(&caption), tab, rows, s->nsite);
	buf_done(&caption);
}

/* --- programs without MPI */

void summary_put_programs(struct summary_writer *w, const struct summary_section *of)
{
	static const char *const heads[] = { "PROGRAM",	 "HOST",   "PID", "TIME",
					     "CPU TIME", "MEMORY", "END" };
	struct table *tab = table_new(ARRAY_LEN(heads), heads, "llrrrrl");
	size_t rows = limit(w, of->n, RANK_ROWS);

	for (size_t i = 0; tab && i < rows; i++) {
		const struct summary_process *p = &of->process[i];

		table_cell(tab, "%s", p->program);
		table_cell(tab, "%s", p->host);
		table_cell(tab, "%" PRId64, p->pid);
		cell_seconds(tab, p->seconds);
		cell_seconds(tab, p->cpu_s);
		cell_bytes(tab, p->rss_bytes);
		end_text(tab, p, w->s->seconds);
	}
	put_table(w, "Programs without MPI", tab, rows, of->n);
}
