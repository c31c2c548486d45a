/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as tables, JSON and CSV: one table of columns for all of them. */
#include "tools/profile/profile_columns.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "stats/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	CALL = 1 << PROFILE_CALL,
	RANK = 1 << PROFILE_RANK,
	NODE = 1 << PROFILE_NODE,
	PARTNER = 1 << PROFILE_PARTNER,
	SITE = 1 << PROFILE_SITE,
	SIZE = 1 << PROFILE_SIZE,
	WAYS = CALL | RANK | NODE | PARTNER | SITE, /* bytes by direction */
	ALL = WAYS | SIZE,
};

static double number(const struct profile *p, const struct profile_row *r, enum profile_value v)
{
	switch (v) {
	case PROFILE_V_RANK:
		return (double)r->rank;
	case PROFILE_V_PARTNER:
		return (double)r->partner;
	case PROFILE_V_RANKS:
		return r->ranks;
	case PROFILE_V_CALLS:
		return r->calls;
	case PROFILE_V_SECONDS:
		return r->seconds;
	case PROFILE_V_WALL:
		return r->wall_s;
	case PROFILE_V_OF_MPI:
		return profile_of_mpi(p, r);
	case PROFILE_V_OF_WALL:
		return profile_of_wall(p, r);
	case PROFILE_V_MEAN:
		return profile_mean(r);
	case PROFILE_V_MOST:
		return r->most_s;
	case PROFILE_V_MOST_RANK:
		return r->most_rank < 0 ? (double)NAN : (double)r->most_rank;
	case PROFILE_V_SHORTEST:
		return r->shortest_s;
	case PROFILE_V_FROM:
		return (double)r->size_from;
	case PROFILE_V_TO:
		return r->size_to < 0 ? (double)NAN : (double)r->size_to;
	case PROFILE_V_BYTES:
		return r->bytes;
	case PROFILE_V_LONGEST:
		return r->longest_s;
	case PROFILE_V_IN_CALL:
		return r->in_call;
	case PROFILE_V_OUT:
		return p->has_bytes ? r->bytes_out : (double)NAN;
	case PROFILE_V_IN:
		return p->has_bytes ? r->bytes_in : (double)NAN;
	default:
		return (double)NAN;
	}
}

/* "heat+0x1234" */
static void put_address(const struct profile_frame *f, struct buf *out)
{
	const char *base = strrchr(f->path, '/');

	buf_printf(out, "%s+0x%llx", base ? base + 1 : "?", (unsigned long long)f->address);
}

/* "solve heat.c:88"; without debug information "solve", else "libx.so+0x1234". */
static void put_frame(const struct profile_frame *f, struct buf *out)
{
	if (f->is_found)
		buf_printf(out, "%s%s%s", f->function, f->function[0] && f->source[0] ? " " : "",
			   f->source);
	else
		put_address(f, out);
}

static void put_callers(const struct profile_row *r, struct buf *out)
{
	for (size_t i = 1; i < r->nframe; i++) {
		if (i > 1)
			buf_puts(out, " < ");
		put_frame(&r->frame[i], out);
	}
}

/* Returns the text of a site. Text composed of its frames is written into `made`. */
static const char *site_word(const struct profile_row *r, enum profile_value v, struct buf *made)
{
	const struct profile_frame *f = r->nframe ? &r->frame[0] : NULL;

	if (!f)
		return "";
	if (v == PROFILE_V_SOURCE)
		return f->source;
	if (v == PROFILE_V_CALLERS)
		put_callers(r, made);
	else if (f->function[0])
		return f->function;
	else if (!f->is_found)
		put_frame(f, made);
	return buf_str(made);
}

/* Addresses distinguish two calls of a function without debug information. */
static const char *place_without_line(const struct profile_row *r, struct buf *made)
{
	if (r->nframe && r->frame[0].is_found)
		put_address(&r->frame[0], made);
	return buf_str(made);
}

static const char *word(const struct profile_row *r, enum profile_value v, struct buf *made)
{
	switch (v) {
	case PROFILE_V_NAME:
		return r->name;
	case PROFILE_V_CLASS:
		return r->class;
	case PROFILE_V_MOST_CALL:
		return r->most_call;
	case PROFILE_V_STATE:
		return r->has_ended ? "ended" : "run";
	case PROFILE_V_SIZE:
		table_sizes(made, r->size_from, r->size_to);
		return buf_str(made);
	case PROFILE_V_FUNCTION:
	case PROFILE_V_SOURCE:
	case PROFILE_V_CALLERS:
		return site_word(r, v, made);
	default:
		return NULL;
	}
}

void profile_site_text(const struct profile_row *r, struct buf *out)
{
	if (r->nframe)
		put_frame(&r->frame[0], out);
}

static const struct column {
	const char *head; /* NULL: not in tables */
	const char *key;
	unsigned kinds;
	enum profile_value value;
	enum profile_unit unit;
} columns[] = {
	{ "CALL", "call", CALL | SITE | SIZE, PROFILE_V_NAME, PROFILE_WORD },
	{ "SIZE", "size", SIZE, PROFILE_V_SIZE, PROFILE_WORD },
	{ NULL, "bytes_from", SIZE, PROFILE_V_FROM, PROFILE_NUMBER },
	{ NULL, "bytes_to", SIZE, PROFILE_V_TO, PROFILE_NUMBER },
	{ "FUNCTION", "function", SITE, PROFILE_V_FUNCTION, PROFILE_WORD },
	{ "LINE", "source", SITE, PROFILE_V_SOURCE, PROFILE_WORD },
	{ NULL, "class", CALL, PROFILE_V_CLASS, PROFILE_WORD },
	{ "RANK", "rank", RANK | PARTNER, PROFILE_V_RANK, PROFILE_NUMBER },
	{ "PARTNER", "partner", PARTNER, PROFILE_V_PARTNER, PROFILE_NUMBER },
	{ NULL, "process", RANK, PROFILE_V_NAME, PROFILE_WORD },
	{ "NODE", "node", NODE, PROFILE_V_NAME, PROFILE_WORD },
	{ "RANKS", "ranks", NODE, PROFILE_V_RANKS, PROFILE_NUMBER },
	{ "CALLS", "calls", ALL, PROFILE_V_CALLS, PROFILE_COUNT },
	{ "TIME", "seconds", ALL, PROFILE_V_SECONDS, PROFILE_TIME },
	{ "% MPI", "mpi_percent", ALL, PROFILE_V_OF_MPI, PROFILE_PERCENT },
	{ "% WALL", "wall_percent", CALL | RANK | NODE | SITE | SIZE, PROFILE_V_OF_WALL,
	  PROFILE_PERCENT },
	{ NULL, "wall_seconds", RANK | NODE, PROFILE_V_WALL, PROFILE_TIME },
	{ "MEAN", "mean_seconds", CALL | PARTNER | SITE | SIZE, PROFILE_V_MEAN, PROFILE_TIME },
	{ "MIN", "min_seconds", CALL, PROFILE_V_SHORTEST, PROFILE_TIME },
	{ "MAX", "max_seconds", CALL | SITE, PROFILE_V_LONGEST, PROFILE_TIME },
	{ "MOST", "most_seconds", CALL | RANK | NODE | SITE, PROFILE_V_MOST, PROFILE_TIME },
	{ "ON RANK", "most_rank", CALL | SITE, PROFILE_V_MOST_RANK, PROFILE_NUMBER },
	{ "IN", "most_call", RANK | NODE, PROFILE_V_MOST_CALL, PROFILE_WORD },
	{ NULL, "ranks", CALL | SITE, PROFILE_V_RANKS, PROFILE_NUMBER },
	{ NULL, "in_call", CALL, PROFILE_V_IN_CALL, PROFILE_NUMBER },
	{ "SENT", "bytes_out", WAYS, PROFILE_V_OUT, PROFILE_BYTES },
	{ "RECEIVED", "bytes_in", WAYS, PROFILE_V_IN, PROFILE_BYTES },
	{ "BYTES", "bytes", SIZE, PROFILE_V_BYTES, PROFILE_BYTES },
	{ "CALLED FROM", "callers", SITE, PROFILE_V_CALLERS, PROFILE_WORD },
	{ "STATE", "state", RANK, PROFILE_V_STATE, PROFILE_WORD },
};

static bool is_of(const struct column *c, enum profile_by by)
{
	return c->kinds >> by & 1;
}

/* The column of callers is shown only if there are some. */
static bool is_in_table(const struct column *c, const struct profile *p)
{
	bool has_some = c->value != PROFILE_V_CALLERS;

	for (size_t i = 0; i < p->n && !has_some; i++)
		has_some = p->row[i].nframe > 1;
	return c->head && is_of(c, p->by) && has_some;
}

/* --- tables */

char *profile_time(char out[TABLE_QUANTITY_BYTES], double seconds)
{
	double v = seconds > 0 && seconds < 0.5e-9 ? 0 : seconds;

	if (!isfinite(v) || v < 0 || v >= 59.95)
		return table_duration(out, v);
	return table_quantity(out, v, 3, "s");
}

static void cell(struct table *tab, const struct profile *p, const struct profile_row *r,
		 const struct column *c)
{
	double v = number(p, r, c->value);
	char text[TABLE_QUANTITY_BYTES];
	struct buf made = BUF_INIT(PROFILE_SITE_TEXT_BYTES);
	const char *w;

	switch (c->unit) {
	case PROFILE_COUNT:
		table_cell(tab, "%s", table_count(text, v));
		break;
	case PROFILE_NUMBER:
		if (isnan(v))
			table_cell(tab, "-");
		else
			table_cell(tab, "%.0f", v);
		break;
	case PROFILE_TIME:
		table_cell(tab, "%s", profile_time(text, v));
		break;
	case PROFILE_PERCENT:
		table_cell(tab, "%s", table_percent(text, v));
		break;
	case PROFILE_BYTES:
		table_cell(tab, "%s", table_bytes(text, v));
		break;
	default:
		w = word(r, c->value, &made);
		if (c->value == PROFILE_V_SOURCE && w && !*w)
			w = place_without_line(r, &made);
		table_cell(tab, "%s", w && *w ? w : "-");
	}
	buf_done(&made);
}

int profile_table(const struct profile *p, size_t rows, size_t width, struct buf *out)
{
	const char *heads[ARRAY_LEN(columns)];
	char align[ARRAY_LEN(columns) + 1];
	struct table *tab;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		if (is_in_table(&columns[i], p)) {
			heads[n] = columns[i].head;
			align[n++] = columns[i].unit == PROFILE_WORD ? 'l' : 'r';
		}
	align[n] = '\0';
	tab = table_new(n, heads, align);
	for (size_t k = 0; tab && k < rows && k < p->n; k++)
		for (size_t i = 0; i < ARRAY_LEN(columns); i++)
			if (is_in_table(&columns[i], p))
				cell(tab, p, &p->row[k], &columns[i]);
	return table_end(tab, width, out);
}

/* --- JSON */

static void frames_to_json(struct json *to, const struct profile_row *r)
{
	json_key_array(to, "frames");
	for (size_t i = 0; i < r->nframe; i++) {
		const struct profile_frame *f = &r->frame[i];

		json_object(to);
		json_key_str(to, "file", f->path);
		json_key_i64(to, "address", f->address);
		json_key_str(to, "function", f->function);
		json_key_str(to, "source", f->source);
		json_object_end(to);
	}
	json_array_end(to);
}

static void row_to_json(struct json *to, const struct profile *p, const struct profile_row *r)
{
	json_object(to);
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		const struct column *c = &columns[i];
		double v = number(p, r, c->value);

		if (!is_of(c, p->by))
			continue;
		if (c->unit == PROFILE_WORD) {
			struct buf made = BUF_INIT(PROFILE_SITE_TEXT_BYTES);

			json_key_str(to, c->key, word(r, c->value, &made));
			buf_done(&made);
		} else if (v == floor(v) && fabs(v) < 9e15)
			json_key_i64(to, c->key, (int64_t)v);
		else
			json_key_double(to, c->key, v);
	}
	if (p->by == PROFILE_SITE)
		frames_to_json(to, r);
	json_object_end(to);
}

void profile_to_json(struct json *to, const struct profile *p)
{
	json_key_str(to, "by", profile_by_names[p->by]);
	json_key_i64(to, "time_ns", p->time_ns);
	json_key_i64(to, "nodes", (int64_t)p->nodes);
	json_key_i64(to, "ranks", (int64_t)p->ranks);
	json_key_i64(to, "ranks_ended", (int64_t)p->ended);
	json_key_i64(to, "ranks_untimed", (int64_t)p->untimed);
	json_key_i64(to, "processes_unread", (int64_t)p->unread);
	json_key_double(to, "calls", p->calls);
	json_key_double(to, "seconds", p->seconds);
	json_key_double(to, "wall_seconds", p->wall_s);
	json_key_double(to, "longest_seconds", p->longest_s);
	json_key_double(to, "bytes_out", p->has_bytes ? p->bytes_out : (double)NAN);
	json_key_double(to, "bytes_in", p->has_bytes ? p->bytes_in : (double)NAN);
	json_key_i64(to, "timed_one_in", INT64_C(1) << p->sampled);
	json_key_i64(to, "rows_left_out", (int64_t)p->left_out);
	json_key_double(to, "calls_without_row", p->lost);
	json_key_array(to, "rows");
	for (size_t i = 0; i < p->n; i++)
		row_to_json(to, p, &p->row[i]);
	json_array_end(to);
}

/* --- CSV */

void profile_csv_head(enum profile_by by, struct buf *out)
{
	bool is_first = true;

	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		if (!is_of(&columns[i], by))
			continue;
		buf_printf(out, "%s%s", is_first ? "" : ",", columns[i].key);
		is_first = false;
	}
	buf_putc(out, '\n');
}

static void put_number(struct buf *out, double v)
{
	if (!isfinite(v))
		return;
	if (v == floor(v) && fabs(v) < 9e15)
		buf_printf(out, "%.0f", v);
	else
		buf_printf(out, "%.9g", v);
}

void profile_to_csv(const struct profile *p, struct buf *out)
{
	for (size_t k = 0; k < p->n; k++) {
		bool is_first = true;

		for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
			const struct column *c = &columns[i];

			if (!is_of(c, p->by))
				continue;
			buf_puts(out, is_first ? "" : ",");
			is_first = false;
			if (c->unit == PROFILE_WORD) {
				struct buf made = BUF_INIT(PROFILE_SITE_TEXT_BYTES);

				report_csv_text(word(&p->row[k], c->value, &made), out);
				buf_done(&made);
			} else
				put_number(out, number(p, &p->row[k], c->value));
		}
		buf_putc(out, '\n');
	}
}
