/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines that a viewer gets, each a JSON object with its kind in "t": now, rows, columns, table,
 * rank, tree, chart. Their size is bounded by what the page shows.
 */
#include "common/base/str.h"
#include "tools/libomis/tree_fields.h"
#include "tools/page/viewer.h"
#include "tools/session/session.h"
#include "tools/view/top_waits.h"
#include "tools/view/top_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 12 /* sentences below the first one */
#define MISSING_MAX 8
#define NODES_MAX 1024 /* of the tree; more are a number */
#define OPEN_RANKS_MAX 256 /* of an open host */

/* A page shows three digits: more would only cost bytes. */
static void put_brief(struct json *j, double v)
{
	char text[32];
	double brief = v;

	snprintf(text, sizeof(text), "%.4g", v);
	if (isfinite(v) && str_to_double(text, -1e300, 1e300, &brief))
		brief = v;
	json_double(j, brief);
}

/* --- now */

struct words {
	struct json *j;
	size_t n;
};

static void put_word(void *arg, const struct top_word *w)
{
	struct words *to = arg;

	if (to->n++ >= WORDS_MAX)
		return;
	json_object(to->j);
	json_key_str(to->j, "kind", top_word_name(w->kind));
	json_key_str(to->j, "text", w->text);
	json_object_end(to->j);
}

static void put_words(const struct scene *b, struct json *j)
{
	struct buf answer = BUF_INIT(4096);
	struct words words = { j, 0 };

	scene_answer(b, &answer);
	json_key_str(j, "answer", buf_str(&answer));
	buf_done(&answer);
	json_key_array(j, "words");
	if (b->samples)
		top_words(&b->now, put_word, &words);
	json_array_end(j);
	json_key_u64(j, "more_words", words.n > WORDS_MAX ? words.n - WORDS_MAX : 0);
}

static void put_efficiency(const struct scene *b, struct json *j)
{
	const struct efficiency *e = &b->efficiency;

	json_key_object(j, "efficiency");
	json_key_str(j, "job", b->jobs > 1 ? b->largest : "");
	json_key_double(j, "span_s", b->span_s);
	json_key_u64(j, "known", e->known);
	json_key_u64(j, "of", e->ranks);
	json_key_double(j, "parallel", e->known ? e->parallel : NAN);
	json_key_double(j, "load_balance", e->known ? e->load_balance : NAN);
	json_key_double(j, "communication", e->known ? e->communication : NAN);
	json_key_double(j, "mpi_share", e->known ? e->mpi_share : NAN);
	json_object_end(j);
}

static void put_coverage(const struct scene *b, struct json *j)
{
	Omis_coverage c = { 0 };

	if (b->now.reply)
		omis_reply_coverage(b->now.reply, &c);
	json_key_u64(j, "asked", c.asked);
	json_key_u64(j, "answered", c.answered);
	json_key_array(j, "missing");
	for (unsigned i = 0; i < c.n_missing && i < MISSING_MAX; i++) {
		const struct top_node *n = top_node_find(&b->now, c.missing[i].object);

		json_object(j);
		json_key_str(j, "name", n ? n->name : c.missing[i].object);
		json_key_str(j, "why", c.missing[i].reason);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_now(const struct scene *b, struct json *j)
{
	json_object(j);
	json_key_str(j, "t", "now");
	json_key_u64(j, "sample", b->samples);
	json_key(j, "ms"); /* null: there is none */
	if (b->now.reply)
		json_i64(j, b->now.wall / NSEC_PER_MSEC);
	else
		json_null(j);
	json_key_i64(j, "server_ms", clock_wall() / NSEC_PER_MSEC);
	json_key_i64(j, "every_ms", b->every / NSEC_PER_MSEC);
	json_key_i64(j, "lost_ms", b->lost_at / NSEC_PER_MSEC);
	json_key_str(j, "job", b->job ? b->job : "");
	put_words(b, j);
	put_efficiency(b, j);
	put_coverage(b, j);
	json_object_end(j);
}

/* --- the strip */

static const char *node_name(const struct scene *b, const char *token)
{
	const struct top_node *n = top_node_find(&b->now, token);

	return n ? n->name : token;
}

static void put_rows(const struct viewer *v, const struct scene *b, struct json *j)
{
	size_t from, to, n = strip_groups(b->strip, v->rows, 0, &from, &to);

	json_object(j);
	json_key_str(j, "t", "rows");
	json_key_u64(j, "generation", strip_generation(b->strip));
	json_key_u64(j, "first", strip_first(b->strip));
	json_key_array(j, "rows"); /* [token, rank, host, ranks] */
	for (size_t i = 0; i < n; i++) {
		const struct strip_row *r;
		size_t members = 0;

		strip_groups(b->strip, v->rows, i, &from, &to);
		r = strip_row(b->strip, from);
		for (size_t k = from; k < to; k++)
			members += strip_row(b->strip, k)->members;
		json_array(j);
		json_str(j, r->token);
		json_i64(j, r->rank);
		json_str(j, node_name(b, r->node));
		json_u64(j, members);
		json_array_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static void put_columns(struct viewer *v, const struct scene *b, struct json *j)
{
	struct buf cells = BUF_INIT(2 * STRIP_ROWS_MAX + 1);

	if (v->column < strip_first(b->strip))
		v->column = strip_first(b->strip);
	json_object(j);
	json_key_str(j, "t", "columns");
	json_key_u64(j, "from", v->column);
	json_key_array(j, "columns"); /* [time, cells] */
	for (; v->column < strip_next(b->strip); v->column++) {
		buf_clear(&cells);
		strip_put(b->strip, v->column, v->rows, &cells);
		json_array(j);
		json_i64(j, strip_time(b->strip, v->column) / NSEC_PER_MSEC);
		json_str(j, buf_str(&cells));
		json_array_end(j);
	}
	json_array_end(j);
	json_object_end(j);
	buf_done(&cells);
}

/* --- ranks */

/* In the order of AT in page_table.js. */
static void put_rank(const struct scene *b, const struct top_rank *r, struct json *j)
{
	char call[TOP_CALL_TEXT_BYTES];
	double share[STRIP_KINDS];
	bool is_known = strip_shares(r, share);

	json_array(j);
	json_str(j, r->token);
	json_i64(j, r->rank);
	json_str(j, node_name(b, r->node));
	json_str(j, r->program);
	json_i64(j, r->pid);
	json_str(j, top_state_name(r->state));
	json_bool(j, r->is_slow);
	json_str(j, top_call_text(call, &r->call));
	put_brief(j, r->call.state == TOP_CALL_UNKNOWN ? NAN : r->call.seconds);
	for (size_t i = 0; i < STRIP_KINDS; i++)
		put_brief(j, is_known ? share[i] : NAN);
	put_brief(j, r->calls_s);
	put_brief(j, r->messages_s);
	put_brief(j, r->out_s);
	put_brief(j, r->in_s);
	put_brief(j, r->cpu);
	put_brief(j, r->rss_bytes);
	json_array_end(j);
}

/* The ranks that the filter takes, in order. False: no memory. */
static bool select_ranks(const struct viewer *v, const struct scene *b, struct top_sample *out)
{
	struct top_screen by_filter = v->order;

	by_filter.is_reverse = false;
	if (!top_screen_view(&by_filter, &b->now, out))
		return false;
	top_sort(out, v->order.sort);
	return true;
}

static void put_table(struct viewer *v, const struct scene *b, struct json *j)
{
	struct top_sample view;
	size_t last;

	if (!b->now.reply || !select_ranks(v, b, &view))
		return;
	if (v->first >= view.nrank)
		v->first = view.nrank > v->count ? view.nrank - v->count : 0;
	last = v->first + v->count < view.nrank ? v->first + v->count : view.nrank;
	json_object(j);
	json_key_str(j, "t", "table");
	json_key_u64(j, "all", b->now.nrank);
	json_key_u64(j, "ended", b->now.nended);
	json_key_u64(j, "found", view.nrank);
	json_key_u64(j, "first", v->first);
	json_key_str(j, "sort", top_sort_names[v->order.sort]);
	json_key_bool(j, "reverse", v->order.is_reverse);
	json_key_array(j, "rows");
	for (size_t i = v->first; i < last; i++)
		put_rank(b, &view.rank[v->order.is_reverse ? view.nrank - 1 - i : i], j);
	json_array_end(j);
	json_object_end(j);
	free(view.rank);
}

static void put_chosen(const struct viewer *v, const struct scene *b, struct json *j)
{
	const struct top_rank *r = v->chosen[0] ? top_rank_find(&b->now, v->chosen) : NULL;

	json_object(j);
	json_key_str(j, "t", "rank");
	json_key_str(j, "token", v->chosen);
	json_key_bool(j, "known", r != NULL);
	if (r) {
		json_key_str(j, "job", r->job);
		json_key(j, "row");
		put_rank(b, r, j);
		json_key_double(j, "calls", top_counted(r, r->calls));
		json_key_double(j, "bytes_out", top_counted(r, r->bytes_out));
		json_key_double(j, "bytes_in", top_counted(r, r->bytes_in));
		json_key_double(j, "cpu_s", r->cpu_s);
	}
	json_object_end(j);
}

/* --- the tree */

static bool is_open(const struct viewer *v, const char *token)
{
	for (size_t i = 0; i < v->nopen; i++)
		if (str_eq(v->open[i], token))
			return true;
	return false;
}

/* [token, rank, program, state] */
static void put_processes(const struct scene *b, const char *node, struct json *j)
{
	size_t n = 0;

	json_key_array(j, "ranks");
	for (size_t i = 0; i < b->now.nrank; i++) {
		const struct top_rank *r = &b->now.rank[i];

		if (!str_eq(r->node, node) || n++ >= OPEN_RANKS_MAX)
			continue;
		json_array(j);
		json_str(j, r->token);
		json_i64(j, r->rank);
		json_str(j, r->program);
		json_str(j, top_state_name(r->state));
		json_array_end(j);
	}
	json_array_end(j);
}

static void put_object(const Omis_value *o, struct json *j)
{
	json_object(j);
	json_key_str(j, "token", value_text(o, TREE_TOKEN));
	json_key_str(j, "name", value_text(o, TREE_NAME));
	json_key_str(j, "state", value_text(o, TREE_STATE));
}

static void put_node(const struct viewer *v, const struct scene *b, const Omis_value *o,
		     struct json *j)
{
	const char *token = value_text(o, TREE_TOKEN);
	const struct top_node *n = top_node_find(&b->now, token);
	size_t ranks = 0;

	for (size_t i = 0; i < b->now.nrank; i++)
		ranks += str_eq(b->now.rank[i].node, token);
	put_object(o, j);
	json_key_double(j, "processes", b->now.reply ? (double)ranks : NAN);
	json_key_double(j, "load", n ? n->load : NAN);
	json_key_double(j, "cpus", n ? n->cpus : NAN);
	json_key_bool(j, "full", n && top_node_is_full(n));
	if (is_open(v, token))
		put_processes(b, token, j);
	json_object_end(j);
}

static void put_tree(const struct viewer *v, const struct scene *b, struct json *j)
{
	size_t nodes = 0;
	bool has_site = false;

	json_object(j);
	json_key_str(j, "t", "tree");
	json_key_array(j, "sites");
	for (size_t i = 0; i < b->tree.n; i++) {
		const Omis_value *o = b->tree.object[i];
		unsigned level = tree_level(o);

		if (level == TREE_SITES && has_site) {
			json_array_end(j);
			json_object_end(j);
		}
		if (level == TREE_SITES) {
			has_site = true;
			put_object(o, j);
			json_key_array(j, "nodes");
		} else if (level == TREE_NODES && has_site && nodes++ < NODES_MAX) {
			put_node(v, b, o, j);
		}
	}
	if (has_site) {
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
	json_key_u64(j, "more", nodes > NODES_MAX ? nodes - NODES_MAX : 0);
	json_object_end(j);
}

/* --- all */

static void put_line(struct json *j, struct buf *out)
{
	if (j->has_root)
		buf_putc(out, '\n');
	json_init(j, out);
}

static void put_charts(struct viewer *v, const struct charts_all *charts, struct json *j,
		       struct buf *out)
{
	for (size_t i = 0; i < VIEWER_CHARTS_MAX; i++) {
		struct viewer_chart *at = &v->chart[i];
		const struct chart *c = at->id ? charts_find(charts, at->id) : NULL;

		if (!c || (!at->is_new && at->reads == c->reads && at->has_ended == !!c->why[0]))
			continue;
		chart_put(c, &at->seen, j);
		put_line(j, out);
		at->is_new = false;
		at->reads = c->reads;
		at->has_ended = c->why[0];
	}
}

static void put_strip(struct viewer *v, const struct scene *b, struct json *j, struct buf *out)
{
	if (v->generation != strip_generation(b->strip)) {
		v->generation = strip_generation(b->strip);
		v->column = 0;
		put_rows(v, b, j);
		put_line(j, out);
	}
	if (v->column < strip_next(b->strip)) {
		put_columns(v, b, j);
		put_line(j, out);
	}
}

static void put_sample(struct viewer *v, const struct scene *b, struct json *j, struct buf *out)
{
	put_now(b, j);
	put_line(j, out);
	put_table(v, b, j);
	put_line(j, out);
	if (!v->chosen[0])
		return;
	put_chosen(v, b, j);
	put_line(j, out);
}

void viewer_put(struct viewer *v, const struct scene *b, const struct charts_all *charts,
		struct buf *out)
{
	struct json j;

	json_init(&j, out);
	if (v->is_changed || v->version != b->version)
		put_sample(v, b, &j, out);
	put_strip(v, b, &j, out);
	if (v->is_changed || v->tree_version != b->tree_version) {
		put_tree(v, b, &j);
		put_line(&j, out);
	}
	put_charts(v, charts, &j, out);
	v->version = b->version;
	v->tree_version = b->tree_version;
	v->is_changed = false;
}
