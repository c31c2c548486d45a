/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/top_show.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "tools/term/table.h"
#include "tools/view/top_waits.h"
#include "tools/view/top_words.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS_MAX (TOP_CLASSES + 14)
#define HEAD_BYTES 16 /* the longest name of a class */
#define TITLE_ROWS 2
#define ROWS_AROUND 4 /* two heads, a gap, the coverage */

/* --- lines that must not wrap */

struct line {
	const struct term *term;
	struct buf *out;
	size_t used;
	bool is_full;
};

/*
 * Adds nothing after a part that does not fit. The last column remains free: some terminals wrap
 * when it is written.
 */
static void add_part(struct line *l, enum term_paint p, const char *text)
{
	l->is_full |= l->term->is_tty && l->used + str_characters(text) >= l->term->cols;
	if (l->is_full)
		return;
	l->used += str_characters(text);
	buf_printf(l->out, "%s%s%s", term_paint(l->term, p), text,
		   p == TERM_PLAIN ? "" : term_paint(l->term, TERM_PLAIN));
}

void top_show_title(const struct term *t, const struct top_title *title, struct buf *out)
{
	struct line l = { t, out, 0, false };
	char when[CLOCK_TEXT_BYTES], text[CLOCK_TEXT_BYTES + 64];

	add_part(&l, TERM_BOLD, "omig top");
	snprintf(text, sizeof(text), "  %s", clock_format_rfc3339(when, title->wall, 0));
	add_part(&l, TERM_BOLD, text);
	add_part(&l, TERM_BOLD, title->is_paused ? "  PAUSED" : "");
	snprintf(text, sizeof(text), "  every %.3gs", title->every_s);
	add_part(&l, TERM_BOLD, text);
	snprintf(text, sizeof(text), "  by %s", title->sort);
	add_part(&l, TERM_BOLD, text);
	if (title->job[0]) {
		snprintf(text, sizeof(text), "  job %.40s", title->job);
		add_part(&l, TERM_BOLD, text);
	}
	if (title->filter[0]) {
		snprintf(text, sizeof(text), "  filter %.40s", title->filter);
		add_part(&l, TERM_YELLOW, text);
	}
	if (t->is_raw)
		add_part(&l, TERM_PLAIN, "  (? help, q quit)");
	buf_puts(out, t->is_raw ? "\n\n" : "\n");
}

size_t top_rows(const struct term *t)
{
	return t->rows > TITLE_ROWS + 1 ? t->rows - TITLE_ROWS - 1 : 1;
}

/* Returns how many of n lines fit into rows, with a line about the rest (0: all). */
static size_t that_fit(size_t n, size_t rows)
{
	return !rows || n <= rows ? n : rows - 1;
}

static void say_more(size_t n, size_t shown, const char *what, struct buf *out)
{
	if (shown < n)
		buf_printf(out, "... %zu more %s\n", n - shown, what);
}

/* Lines of a table, of which the first is its head; paint is that of row i. */
static void paint_rows(const struct term *t, const struct buf *table, struct buf *out,
		       enum term_paint (*paint)(const void *arg, size_t i), const void *arg)
{
	const char *at = buf_str(table);

	for (size_t i = 0; *at; i++) {
		const char *end = strchrnul(at, '\n');
		enum term_paint p = i ? paint(arg, i - 1) : TERM_PLAIN;

		buf_printf(out, "%s%.*s%s\n", p == TERM_PLAIN ? "" : term_paint(t, p),
			   (int)(end - at), at, p == TERM_PLAIN ? "" : term_paint(t, TERM_PLAIN));
		at = end + (*end == '\n');
	}
}

static enum term_paint paint_of_node(const void *arg, size_t i)
{
	const struct top_node *n = arg;

	return top_node_is_full(&n[i]) ? TERM_YELLOW : TERM_PLAIN;
}

static int show_nodes(const struct term *t, const struct top_sample *s, size_t rows,
		      struct buf *out)
{
	static const char *const heads[] = {
		"NODE", "RANKS", "LOAD",      "RUNNING",   "CPUS",
		"MEM",	"OF",	 "CPU-WAIT%", "MEM-WAIT%", "IO-WAIT%"
	};
	struct table *tab = table_new(10, heads, "lrrrrrrrrr");
	struct buf lines = BUF_INIT(64 << 20);
	char text[TABLE_NUMBER_BYTES];
	size_t n, shown = that_fit(s->nnode, rows);
	int rc;

	for (size_t i = 0; tab && i < shown; i++) {
		for (size_t k = n = 0; k < s->nrank; k++)
			n += s->rank[k].rank >= 0 && str_eq(s->rank[k].node, s->node[i].token);
		table_cell(tab, "%s", s->node[i].name);
		table_cell(tab, "%zu", n);
		if (isnan(s->node[i].load))
			table_cell(tab, "-");
		else
			table_cell(tab, "%.2f", s->node[i].load);
		table_cell(tab, "%s", table_count(text, s->node[i].running));
		table_cell(tab, "%s", table_count(text, s->node[i].cpus));
		table_cell(tab, "%s", table_bytes(text, s->node[i].mem_used_bytes));
		table_cell(tab, "%s", table_bytes(text, s->node[i].mem_bytes));
		table_cell(tab, "%s", table_percent(text, s->node[i].cpu_some));
		table_cell(tab, "%s", table_percent(text, s->node[i].memory_some));
		table_cell(tab, "%s", table_percent(text, s->node[i].io_some));
	}
	rc = table_end(tab, t->is_tty ? t->cols : 0, &lines);
	paint_rows(t, &lines, out, paint_of_node, s->node);
	buf_done(&lines);
	say_more(s->nnode, shown, "nodes", out);
	return rc;
}

/* The columns of ranks: their heads, and the classes of calls among them. */
struct heads {
	const char *name[COLUMNS_MAX];
	char align[COLUMNS_MAX];
	size_t n, nclass;
	enum top_class class[TOP_CLASSES];
	char upper[TOP_CLASSES][HEAD_BYTES];
	bool with_job, with_messages;
};

static void name_cells(struct table *tab, const struct top_sample *s, const struct top_rank *r)
{
	const struct top_node *n = top_node_find(s, r->node);

	if (r->rank >= 0)
		table_cell(tab, "%lld", (long long)r->rank);
	else
		table_cell(tab, "%s", r->program[0] ? r->program : "-");
	table_cell(tab, "%s", n ? n->name : r->node);
	if (r->pid)
		table_cell(tab, "%lld", (long long)r->pid);
	else
		table_cell(tab, "-");
	table_cell(tab, "%s", top_state_name(r->state));
}

/* Puts the time in the call or in a test; ">=" when its begin was not seen. */
static void call_cells(struct table *tab, const struct top_call *c)
{
	char text[TOP_CALL_TEXT_BYTES], time[TABLE_NUMBER_BYTES];

	if (c->state == TOP_CALL_UNKNOWN || c->state == TOP_CALL_OUT) {
		table_cell(tab, "-");
		table_cell(tab, "-");
		return;
	}
	table_cell(tab, "%s", top_call_text(text, c));
	table_cell(tab, "%s%s", c->is_exact ? "" : ">=", table_duration(time, c->seconds));
}

static void rate_cells(struct table *tab, const struct heads *h, const struct top_rank *r)
{
	char text[TABLE_NUMBER_BYTES];

	table_cell(tab, "%s", table_percent(text, r->mpi));
	call_cells(tab, &r->call);
	for (size_t i = 0; i < h->nclass; i++)
		table_cell(tab, "%s", table_percent(text, r->share[h->class[i]]));
	table_cell(tab, "%s", table_count(text, r->calls_s));
	if (h->with_messages)
		table_cell(tab, "%s", table_count(text, r->messages_s));
	table_cell(tab, "%s", table_bytes(text, r->out_s));
	table_cell(tab, "%s", table_bytes(text, r->in_s));
	table_cell(tab, "%s", table_percent(text, r->cpu));
	table_cell(tab, "%s", table_bytes(text, r->rss_bytes));
}

static void total_cells(struct table *tab, const struct heads *h, const struct top_rank *r)
{
	char text[TABLE_NUMBER_BYTES];
	double sum = 0;

	for (size_t i = 0; i < TOP_CLASSES; i++)
		sum += r->delay_ns[i];
	table_cell(tab, "%s", table_duration(text, top_counted(r, sum / 1e9)));
	call_cells(tab, &r->call);
	for (size_t i = 0; i < h->nclass; i++)
		table_cell(tab, "%s",
			   table_duration(text, top_counted(r, r->delay_ns[h->class[i]] / 1e9)));
	table_cell(tab, "%s", table_count(text, top_counted(r, r->calls)));
	if (h->with_messages)
		table_cell(tab, "%s", table_count(text, top_counted(r, r->class_calls[TOP_SEND])));
	table_cell(tab, "%s", table_bytes(text, top_counted(r, r->bytes_out)));
	table_cell(tab, "%s", table_bytes(text, top_counted(r, r->bytes_in)));
	table_cell(tab, "%s", table_duration(text, r->cpu_s));
	table_cell(tab, "%s", table_bytes(text, r->rss_bytes));
}

/* Ranks of one job need no column for it. */
static bool has_jobs(const struct top_sample *s)
{
	for (size_t i = 1; i < s->nrank; i++)
		if (!str_eq(s->rank[i].job, s->rank[0].job))
			return true;
	return false;
}

static bool is_called(const struct top_sample *s, enum top_class k)
{
	for (size_t i = 0; i < s->nrank; i++)
		if (s->rank[i].class_calls[k] > 0 || s->rank[i].delay_ns[k] > 0)
			return true;
	return false;
}

static void add_head(struct heads *h, const char *name, char align)
{
	h->align[h->n] = align;
	h->name[h->n++] = name;
}

static void add_class(struct heads *h, enum top_class k)
{
	char *out = h->upper[h->nclass];

	for (const char *at = top_class_names[k]; *at; at++)
		*out++ = (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
	*out = '\0';
	add_head(h, h->upper[h->nclass], 'r');
	h->class[h->nclass++] = k;
}

/* Classes that no rank has called have no column. */
static void make_heads(struct heads *h, const struct top_sample *s, bool is_total)
{
	static const char *const rates[] = { "CALLS/s", "MSG/s", "OUT/s", "IN/s", "CPU%", "RSS" };
	static const char *const totals[] = { "CALLS", "MSG", "OUT", "IN", "CPU", "RSS" };
	const char *const *last = is_total ? totals : rates;

	*h = (struct heads){ .with_job = has_jobs(s), .with_messages = is_called(s, TOP_SEND) };
	if (h->with_job)
		add_head(h, "JOB", 'l');
	add_head(h, "RANK", 'r');
	add_head(h, "NODE", 'l');
	add_head(h, "PID", 'r');
	add_head(h, "STATE", 'l');
	add_head(h, is_total ? "MPI" : "MPI%", 'r');
	add_head(h, "CALL", 'l');
	add_head(h, "FOR", 'r');
	for (size_t i = 0; i < TOP_CLASSES; i++)
		if (is_called(s, (enum top_class)i))
			add_class(h, (enum top_class)i);
	for (size_t i = 0; i < ARRAY_LEN(rates); i++)
		if (h->with_messages || !str_has_prefix(last[i], "MSG"))
			add_head(h, last[i], 'r');
}

struct painted {
	const struct top_rank *rank; /* of the first row */
	size_t chosen; /* row; SIZE_MAX: none */
};

static enum term_paint paint_of_rank(const void *arg, size_t i)
{
	const struct painted *p = arg;

	return i == p->chosen ? TERM_REVERSE : p->rank[i].is_slow ? TERM_YELLOW : TERM_PLAIN;
}

static void say_others(size_t n, size_t first, size_t shown, struct buf *out)
{
	if (first)
		buf_printf(out, "... %zu ranks above, %zu more below\n", first, n - first - shown);
	else
		say_more(n, shown, "ranks", out);
}

static int show_ranks(const struct term *t, const struct top_sample *s, const struct top_look *look,
		      size_t rows, struct buf *out)
{
	struct heads h;
	struct table *tab;
	struct buf text = BUF_INIT(64 << 20);
	size_t n = that_fit(s->nrank, rows);
	size_t first = look->first + n > s->nrank ? s->nrank - n : look->first;
	int rc;

	make_heads(&h, s, look->is_total);
	tab = table_new(h.n, h.name, h.align);
	for (size_t i = first; tab && i < first + n; i++) {
		if (h.with_job)
			table_cell(tab, "%s", s->rank[i].job[0] ? s->rank[i].job : "-");
		name_cells(tab, s, &s->rank[i]);
		if (look->is_total)
			total_cells(tab, &h, &s->rank[i]);
		else
			rate_cells(tab, &h, &s->rank[i]);
	}
	rc = table_end(tab, t->is_tty ? t->cols : 0, &text);
	paint_rows(t, &text, out, paint_of_rank,
		   &(struct painted){ s->rank + first, t->is_raw ? look->row - first : SIZE_MAX });
	buf_done(&text);
	say_others(s->nrank, first, n, out);
	return rc;
}

/* "2 ranks and 3 other processes on 1 node" */
static void say_watched(const struct top_sample *s, char *out, size_t size)
{
	size_t ranks = 0, others, n = 0;

	for (size_t i = 0; i < s->nrank; i++)
		ranks += s->rank[i].rank >= 0;
	others = s->nrank - ranks;
	if (ranks || !others)
		n = (size_t)snprintf(out, size, "%zu rank%s%s", ranks, ranks == 1 ? "" : "s",
				     others ? " and " : "");
	if (others)
		n += (size_t)snprintf(out + n, size - n, "%zu %sprocess%s", others,
				      ranks ? "other " : "", others == 1 ? "" : "es");
	snprintf(out + n, size - n, " on %zu node%s", s->nnode, s->nnode == 1 ? "" : "s");
}

static void show_coverage(const struct term *t, const struct top_sample *s, struct buf *out)
{
	struct line l = { t, out, 0, false };
	char safe[256], text[640];
	Omis_coverage c;

	omis_reply_coverage(s->reply, &c);
	say_watched(s, text, sizeof(text));
	add_part(&l, TERM_PLAIN, text);
	snprintf(text, sizeof(text), c.asked ? "; %u of %u answers" : "", c.answered, c.asked);
	if (c.answered < c.asked)
		add_part(&l, TERM_YELLOW, text);
	for (unsigned i = 0; i < c.n_missing && i < 4; i++) {
		snprintf(text, sizeof(text), ", %s",
			 str_show(safe, sizeof(safe), c.missing[i].object));
		add_part(&l, TERM_PLAIN, text);
		snprintf(text, sizeof(text), " %s",
			 str_show(safe, sizeof(safe), c.missing[i].reason));
		add_part(&l, TERM_PLAIN, text);
	}
	snprintf(text, sizeof(text), ", ... (%u in all)", c.n_missing);
	if (c.n_missing > 4)
		add_part(&l, TERM_PLAIN, text);
	buf_putc(out, '\n');
}

/* If not all lines fit, nodes get a third of the screen and the rows that ranks do not need. */
static size_t rows_of_nodes(const struct top_sample *s, size_t room)
{
	size_t third = room / 3 > 1 ? room / 3 : 1;

	if (s->nnode + s->nrank <= room || s->nnode <= third)
		return s->nnode;
	return s->nrank < room - third ? room - s->nrank : third;
}

/* --- messages */

#define WORDS_MAX 6 /* lines on a screen */

struct words {
	const struct term *term;
	struct buf *out; /* NULL: they are counted */
	size_t n, most;
};

static void put_word(void *arg, const struct top_word *w)
{
	struct words *to = arg;
	size_t cols = to->term->is_tty && to->term->cols ? to->term->cols - 1 : SIZE_MAX;
	bool is_plain = w->kind == TOP_WORD_PLAIN;
	char line[TOP_WAIT_LINE_BYTES];

	if (to->n++ >= to->most || !to->out)
		return;
	snprintf(line, cols < sizeof(line) ? cols + 1 : sizeof(line), "%s%s", is_plain ? "" : "! ",
		 w->text);
	buf_printf(to->out, "%s%s%s\n", is_plain ? "" : term_paint(to->term, TERM_YELLOW), line,
		   is_plain ? "" : term_paint(to->term, TERM_PLAIN));
}

/* Returns the number of message lines that tables of one row leave on a screen. */
static size_t words_that_fit(const struct top_sample *s, size_t rows)
{
	size_t least = ROWS_AROUND + 4;

	if (!rows)
		return SIZE_MAX;
	if (rows <= least)
		return !s->nrank;
	return rows - least < WORDS_MAX ? rows - least : WORDS_MAX;
}

static size_t show_words(const struct term *t, const struct top_sample *s, size_t rows,
			 struct buf *out)
{
	struct words to = { t, out, 0, words_that_fit(s, rows) };

	top_words(s, put_word, &to);
	return to.n < to.most ? to.n : to.most;
}

/* Returns the number of lines for ranks below messages and nodes; 0: all. */
static size_t rows_of_ranks(const struct term *t, const struct top_sample *s,
			    const struct top_look *look, size_t *nodes)
{
	size_t words = show_words(t, look->whole ? look->whole : s, look->rows, NULL), room;

	room = look->rows > ROWS_AROUND + words + 2 ? look->rows - ROWS_AROUND - words : 2;
	*nodes = rows_of_nodes(s, room);
	return look->rows ? (*nodes < room ? room - *nodes : 1) : 0;
}

size_t top_rank_rows(const struct term *t, const struct top_sample *s, const struct top_look *look)
{
	size_t nodes, n = rows_of_ranks(t, s, look, &nodes);

	return that_fit(s->nrank, n);
}

int top_show(const struct term *t, const struct top_sample *s, const struct top_look *look,
	     struct buf *out)
{
	size_t nodes, ranks = rows_of_ranks(t, s, look, &nodes);
	int rc;

	show_words(t, look->whole ? look->whole : s, look->rows, out);
	rc = show_nodes(t, s, look->rows ? nodes : 0, out);
	buf_putc(out, '\n');
	if (!rc)
		rc = show_ranks(t, s, look, ranks, out);
	show_coverage(t, s, out);
	return rc;
}
