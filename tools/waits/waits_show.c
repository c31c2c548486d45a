/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/waits/waits_show.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/ring/calls.h"
#include "common/ring/seg.h"
#include "tools/term/table.h"

#include <stdio.h>
#include <string.h>

#define LINES_MAX 24 /* a screen; --csv and --json have all */

static const struct {
	uint32_t bit;
	const char *word;
} kind_words[] = { { SEG_FOR_RECEIVE, "receive" },
		   { SEG_FOR_SEND, "send" },
		   { SEG_FOR_COLLECTIVE, "collective" },
		   { SEG_FOR_ONESIDED, "one-sided" } };

#define KINDS_BYTES 64

/* "receive", "receive and send"; "" for none. */
static const char *kinds_name(char out[KINDS_BYTES], uint32_t kinds)
{
	out[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(kind_words); i++) {
		size_t n = strlen(out);

		if (kinds & kind_words[i].bit)
			snprintf(out + n, KINDS_BYTES - n, "%s%s", n ? " and " : "",
				 kind_words[i].word);
	}
	return out;
}

static const char *seconds(char out[TABLE_QUANTITY_BYTES], double v)
{
	return table_quantity(out, v, 2, "s");
}

static const char *name_of(unsigned func)
{
	const struct call_desc *d = call_get(func);

	return d ? d->name : "?";
}

/* "MPI_Waitall, receive, tag 1" */
static void put_call(struct buf *out, const struct waits_edge *e)
{
	char kinds[KINDS_BYTES];

	buf_puts(out, name_of(e->func));
	if (kinds_name(kinds, e->kinds)[0])
		buf_printf(out, ", %s", kinds);
	if (e->tag >= 0)
		buf_printf(out, ", tag %d", e->tag);
	else if (e->tag == SEG_TAG_SEVERAL)
		buf_puts(out, ", several tags");
}

/* --- the first line */

static double collective_share(const struct waits *w)
{
	return w->ncollective ? w->collective[0].share : 0;
}

static double unknown_share(const struct waits *w)
{
	double most = 0;

	for (size_t i = 0; i < w->nedge; i++)
		if (w->edge[i].partner == CALL_PARTNER_UNKNOWN && w->edge[i].share > most)
			most = w->edge[i].share;
	return most;
}

static void put_most(struct buf *out, const struct waits *w)
{
	char time[TABLE_QUANTITY_BYTES];

	buf_printf(out, "rank %d is waited for most: %s by %zu rank%s", w->most,
		   seconds(time, w->most_seconds), w->most_ranks, w->most_ranks == 1 ? "" : "s");
	buf_printf(out, " in %s, most of it in ", seconds(time, w->seconds));
	if (w->most_edge)
		put_call(out, w->most_edge);
	else
		buf_printf(out, "%s, inferred", name_of(w->most_collective->func));
	buf_puts(out, "\n");
}

/* Appends one line in words: the rank that is waited for most, or that there is none. */
static void put_verdict(struct buf *out, const struct waits *w)
{
	if (!w->x->n || w->seconds <= 0) {
		buf_puts(out, "no rank was seen in this interval\n");
		return;
	}
	if (w->most >= 0) {
		put_most(out, w);
		return;
	}
	buf_printf(out, "no rank is known to wait more than %.0f %% for another",
		   WAITS_LEAST * 100);
	if (collective_share(w) >= WAITS_LEAST)
		buf_printf(
			out,
			"; %.0f %% of the time is in %s, and which rank is last there is unknown",
			collective_share(w) * 100, name_of(w->collective[0].func));
	if (unknown_share(w) >= WAITS_LEAST)
		buf_printf(out, "; a rank waits %.0f %% for partners that are unknown",
			   unknown_share(w) * 100);
	buf_puts(out, "\n");
}

/* Puts the basis of the lines below, for any selection of them. */
static void put_basis(struct buf *out, const struct waits *w)
{
	char time[TABLE_QUANTITY_BYTES], calls[TABLE_NUMBER_BYTES];

	if (!(w->waited > 0))
		return;
	buf_printf(out, "%zu rank%s wait%s %s for others in %s calls: ", w->x->n,
		   w->x->n == 1 ? "" : "s", w->x->n == 1 ? "s" : "", seconds(time, w->waited),
		   table_count(calls, w->calls));
	buf_printf(out, "%.0f %% inferred, %.0f %% for unknown ranks\n",
		   100 * w->inferred / w->waited, 100 * w->unknown / w->waited);
}

/* --- lines */

static void put_whom(struct buf *out, const struct waits_edge *e)
{
	if (e->partner >= 0)
		buf_printf(out, "rank %d", e->partner);
	else
		buf_puts(out,
			 e->partner == CALL_PARTNER_ALL ? "a collective call" : "an unknown rank");
}

static void put_edge(struct table *t, const struct waits_edge *e)
{
	struct buf line = BUF_INIT(512);
	char time[TABLE_QUANTITY_BYTES];

	buf_printf(&line, "rank %d waits %s for ", e->rank, seconds(time, e->seconds));
	put_whom(&line, e);
	buf_puts(&line, " (");
	put_call(&line, e);
	buf_puts(&line, ")");
	table_cell(t, "%s", buf_str(&line));
	table_cell(t, "%.0f %%", e->share * 100);
	if (e->inferred > 0)
		table_cell(t, "%.0f %%", e->inferred / e->seconds * 100);
	else
		table_cell(t, "-");
	table_cell(t, "%s", seconds(time, e->least));
	table_cell(t, "%s", seconds(time, e->most));
	buf_done(&line);
}

static int put_edges(struct buf *out, const struct waits *w, bool *has_inferred)
{
	static const char *const heads[] = { "WAIT", "SHARE", "INFERRED", "LEAST", "MOST" };
	struct table *t = table_new(ARRAY_LEN(heads), heads, "lrrrr");
	size_t shown = 0, above = 0;
	int rc = t ? 0 : -ERR_NOMEM;

	for (size_t i = 0; t && i < w->nedge; i++) {
		if (w->edge[i].share < WAITS_LEAST)
			continue;
		if (above++ >= LINES_MAX)
			continue;
		put_edge(t, &w->edge[i]);
		*has_inferred |= w->edge[i].inferred > 0;
		shown++;
	}
	if (shown)
		rc = table_print(t, 0, out);
	if (above > shown)
		buf_printf(out, "... and %zu more; --csv and --json have all\n", above - shown);
	table_free(t);
	return rc;
}

static void put_last(struct table *t, const struct waits_collective *c)
{
	if (c->last >= 0)
		table_cell(t, "rank %d, inferred", c->last);
	else
		table_cell(t, "unknown");
}

static int put_collectives(struct buf *out, const struct waits *w)
{
	static const char *const heads[] = { "COLLECTIVE", "TIME", "SHARE", "MOST", "OF", "LAST" };
	struct table *t = table_new(ARRAY_LEN(heads), heads, "lrrlrl");
	char time[TABLE_QUANTITY_BYTES];
	size_t n = 0;
	int rc = t ? 0 : -ERR_NOMEM;

	for (size_t i = 0; t && i < w->ncollective && n < LINES_MAX; i++) {
		const struct waits_collective *c = &w->collective[i];

		if (c->worst_share < WAITS_LEAST)
			continue;
		table_cell(t, "%s", name_of(c->func));
		table_cell(t, "%s", seconds(time, c->seconds));
		table_cell(t, "%.0f %%", c->share * 100);
		table_cell(t, "rank %d", c->worst);
		table_cell(t, "%.0f %%", c->worst_share * 100);
		put_last(t, c);
		n++;
	}
	if (n)
		buf_puts(out, "\n");
	if (n)
		rc = table_print(t, 0, out);
	table_free(t);
	return rc;
}

int waits_show(const struct term *t, const struct waits *w, struct buf *out)
{
	bool has_inferred = false;
	int rc;

	buf_puts(out, term_paint(t, TERM_BOLD));
	put_verdict(out, w);
	buf_puts(out, term_paint(t, TERM_PLAIN));
	put_basis(out, w);
	rc = put_edges(out, w, &has_inferred);
	if (!rc)
		rc = put_collectives(out, w);
	if (has_inferred)
		buf_puts(out, "\ninferred: MPI does not report which request of a call ended last; "
			      "the truth lies between LEAST and MOST\n");
	if (w->lost > 0)
		buf_printf(out,
			   "%.0f calls found no room in the tables of partners: their time is "
			   "in no line\n",
			   w->lost);
	return out->failed ? -ERR_NOMEM : rc;
}

/* --- for programs */

void waits_csv(struct buf *out, const struct waits *w, bool head)
{
	char kinds[KINDS_BYTES];

	if (head)
		buf_puts(out, "rank,partner,call,kind,tag,seconds,least,most,inferred,share\n");
	for (size_t i = 0; i < w->nedge; i++) {
		const struct waits_edge *e = &w->edge[i];

		buf_printf(out, "%d,", e->rank);
		if (e->partner >= 0)
			buf_printf(out, "%d,", e->partner);
		else
			buf_puts(out, e->partner == CALL_PARTNER_ALL ? "all," : "unknown,");
		buf_printf(out, "%s,%s,", name_of(e->func), kinds_name(kinds, e->kinds));
		if (e->tag >= 0)
			buf_printf(out, "%d", e->tag);
		buf_printf(out, ",%.9f,%.9f,%.9f,%.9f,%.6f\n", e->seconds, e->least, e->most,
			   e->inferred, e->share);
	}
	for (size_t i = 0; i < w->ncollective; i++)
		buf_printf(out, "%d,%s,%s,together,,%.9f,,,,%.6f\n", w->collective[i].worst, "all",
			   name_of(w->collective[i].func), w->collective[i].worst_seconds,
			   w->collective[i].worst_share);
}

static void rank_json(struct json *j, const char *key, int32_t rank)
{
	json_key(j, key);
	if (rank >= 0)
		json_i64(j, rank);
	else
		json_null(j);
}

static void kinds_json(struct json *j, uint32_t kinds)
{
	json_key_array(j, "kinds");
	for (size_t i = 0; i < ARRAY_LEN(kind_words); i++)
		if (kinds & kind_words[i].bit)
			json_str(j, kind_words[i].word);
	json_array_end(j);
}

static void edge_json(struct json *j, const struct waits_edge *e)
{
	json_object(j);
	json_key_i64(j, "rank", e->rank);
	rank_json(j, "partner", e->partner);
	json_key_bool(j, "is_collective", e->partner == CALL_PARTNER_ALL);
	json_key_str(j, "call", name_of(e->func));
	kinds_json(j, e->kinds);
	rank_json(j, "tag", e->tag);
	json_key_double(j, "seconds", e->seconds);
	json_key_double(j, "least", e->least);
	json_key_double(j, "most", e->most);
	json_key_double(j, "inferred", e->inferred);
	json_key_double(j, "share", e->share);
	json_object_end(j);
}

static void collective_json(struct json *j, const struct waits_collective *c)
{
	json_object(j);
	json_key_str(j, "call", name_of(c->func));
	json_key_double(j, "seconds", c->seconds);
	json_key_double(j, "share", c->share);
	rank_json(j, "worst", c->worst);
	json_key_double(j, "worst_seconds", c->worst_seconds);
	json_key_double(j, "worst_share", c->worst_share);
	rank_json(j, "last", c->last);
	json_key_double(j, "waited_for_last", c->waited);
	json_object_end(j);
}

void waits_json(struct json *j, const struct waits *w)
{
	struct buf text = BUF_INIT(4096);

	put_verdict(&text, w);
	json_key(j, "text");
	json_str_n(j, text.p, text.n ? text.n - 1 : 0);
	buf_done(&text);
	json_key_str(j, "job", w->x->job);
	json_key_double(j, "interval", w->seconds);
	json_key_i64(j, "ranks", (int64_t)w->x->n);
	rank_json(j, "most", w->most);
	json_key_double(j, "most_seconds", w->most_seconds);
	json_key_double(j, "calls", w->calls);
	json_key_double(j, "waited", w->waited);
	json_key_double(j, "inferred", w->inferred);
	json_key_double(j, "unknown", w->unknown);
	json_key_double(j, "lost_calls", w->lost);
	json_key_array(j, "waits");
	for (size_t i = 0; i < w->nedge; i++)
		edge_json(j, &w->edge[i]);
	json_array_end(j);
	json_key_array(j, "collectives");
	for (size_t i = 0; i < w->ncollective; i++)
		collective_json(j, &w->collective[i]);
	json_array_end(j);
}
