/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/top_rank.h"

#include "common/base/str.h"
#include "tools/session/reply_each.h"
#include "tools/session/session.h"
#include "tools/libomis/tree_fields.h"
#include "tools/term/table.h"
#include "tools/view/stacks.h"
#include "tools/view/top_waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 512 /* functions, or partners, of one rank */

/* Values of a function: [name, class, count, delay_ns, in_call, out, in]; of a partner: [name,
 * rank, count, out, in, delay_ns, shared_ns, ...]. */
enum { CALL_NAME, CALL_CLASS, CALL_COUNT_AT, CALL_DELAY, CALL_IN_CALL, CALL_OUT, CALL_IN };
enum { WITH_NAME, WITH_RANK, WITH_COUNT, WITH_OUT, WITH_IN, WITH_DELAY, WITH_SHARED };

struct row {
	const char *name, *class;
	int64_t partner; /* -1 - of a function */
	double count, delay_ns, out, in;
};

struct rows {
	struct row row[ROWS_MAX];
	size_t n, more;
};

static bool is_of_partner(const Omis_value *v)
{
	const Omis_value *second = value_at(v, WITH_RANK);

	return second && second->kind == OMIS_VALUE_INT;
}

/* Partners are summed over functions. */
static struct row *row_of(struct rows *to, const Omis_value *v, bool with_partner)
{
	for (size_t i = 0; with_partner && i < to->n; i++)
		if (to->row[i].partner == value_int(v, WITH_RANK))
			return &to->row[i];
	if (to->n == ROWS_MAX) {
		to->more++;
		return NULL;
	}
	to->row[to->n] = (struct row){ .name = value_text(v, CALL_NAME),
				       .class = with_partner ? "" : value_text(v, CALL_CLASS),
				       .partner = with_partner ? value_int(v, WITH_RANK) : -1 };
	return &to->row[to->n++];
}

static void add(struct rows *to, const Omis_value *v, bool with_partner)
{
	struct row *r;

	if (is_of_partner(v) != with_partner || (with_partner && value_int(v, WITH_RANK) < 0) ||
	    !(r = row_of(to, v, with_partner)))
		return;
	if (with_partner && value_at(v, WITH_SHARED))
		r->delay_ns += value_float(v, WITH_SHARED);
	r->count += value_float(v, CALL_COUNT_AT);
	r->delay_ns += value_float(v, with_partner ? WITH_DELAY : CALL_DELAY);
	r->out += value_float(v, with_partner ? WITH_OUT : CALL_OUT);
	r->in += value_float(v, with_partner ? WITH_IN : CALL_IN);
}

static int most_first(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	return a->delay_ns > b->delay_ns ? -1 : a->delay_ns < b->delay_ns;
}

static void fill(struct rows *to, const Omis_value *v, bool with_partner)
{
	const Omis_value *at;

	for (size_t i = 1; (at = value_at(v, i)); i++)
		add(to, at, with_partner);
	qsort(to->row, to->n, sizeof(*to->row), most_first);
}

static void put_table(const struct term *t, const struct rows *rows, bool with_partner, size_t most,
		      struct buf *out)
{
	static const char *const calls[] = { "CALL", "CLASS", "CALLS",	 "TIME",
					     "MEAN", "SENT",  "RECEIVED" };
	static const char *const partners[] = { "PARTNER", "CALLS", "TIME", "SENT", "RECEIVED" };
	struct table *tab =
		with_partner ? table_new(5, partners, "rrrrr") : table_new(7, calls, "llrrrrr");
	char text[TABLE_NUMBER_BYTES], value[TABLE_QUANTITY_BYTES];
	size_t shown = most && rows->n > most ? most : rows->n;

	for (size_t i = 0; tab && i < shown; i++) {
		const struct row *r = &rows->row[i];

		if (with_partner)
			table_cell(tab, "%lld", (long long)r->partner);
		else
			table_cell(tab, "%s", r->name);
		if (!with_partner)
			table_cell(tab, "%s", r->class);
		table_cell(tab, "%s", table_count(text, r->count));
		table_cell(tab, "%s", table_quantity(value, r->delay_ns / 1e9, 3, "s"));
		if (!with_partner)
			table_cell(tab, "%s",
				   table_quantity(value, r->delay_ns / 1e9 / r->count, 3, "s"));
		table_cell(tab, "%s", table_bytes(text, r->out));
		table_cell(tab, "%s", table_bytes(text, r->in));
	}
	table_end(tab, t->is_tty ? t->cols : 0, out);
	if (shown < rows->n)
		buf_printf(out, "... %zu more\n", rows->n - shown + rows->more);
}

/* --- requests */

/* Finds the main thread, whose stack is the process's. "": not known. */
static void main_thread(const Omis_value *tree, const struct top_rank *r, char *out, size_t size)
{
	*out = '\0';
	for (size_t i = 0; tree && i < tree->n; i++) {
		const Omis_value *o = &tree->list[i];

		if (value_text(o, TREE_TOKEN)[0] == 't' && value_int(o, TREE_PID) == r->pid &&
		    str_eq(value_text(o, TREE_PARENT), r->token))
			str_copy(out, size, value_text(o, TREE_TOKEN));
	}
}

static void put_stack(const struct term *t, const Omis_value *tree, const struct top_rank *r,
		      struct buf *out)
{
	struct stacks s = { 0 };
	char thread[REPLY_TOKEN_BYTES], words[256] = "";
	Omis_reply reply = NULL;
	size_t n = 0;

	main_thread(tree, r, thread, sizeof(thread));
	if (!stacks_choose(&s, tree, &(struct stacks_wanted){ .threads = false }))
		return;
	for (size_t i = 0; i < s.n; i++)
		if (str_eq(s.v[i].token, thread))
			s.v[n++] = s.v[i];
	s.n = n;
	s.ended = 0;
	cmd_hush(words, sizeof(words));
	if (n && session_ask(&reply, ":omig_backtrace([%s],0)", thread) == CMD_OK && reply[0] &&
	    reply[1])
		stacks_add(&s, reply[1], false);
	cmd_hush(NULL, 0);
	stacks_finish(&s);
	if (s.n)
		stacks_show(t, &s, out);
	else
		buf_printf(out, "no stack: %s\n", words[0] ? words : "no reply in time");
	omis_reply_free(reply);
	stacks_done(&s);
}

static void put_head(const struct term *t, const struct top_sample *s, const struct top_rank *r,
		     struct buf *out)
{
	const struct top_node *node = top_node_find(s, r->node);
	char call[TOP_CALL_TEXT_BYTES], time[TABLE_NUMBER_BYTES], mpi[TABLE_NUMBER_BYTES],
		cpu[TABLE_NUMBER_BYTES], rss[TABLE_NUMBER_BYTES], who[96];

	if (r->rank >= 0)
		snprintf(who, sizeof(who), "rank %lld of %s", (long long)r->rank, r->program);
	else
		snprintf(who, sizeof(who), "%s", r->program);
	buf_printf(out, "%s%s%s  on %s, pid %lld, job %s, %s\n", term_paint(t, TERM_BOLD), who,
		   term_paint(t, TERM_PLAIN), node ? node->name : r->node, (long long)r->pid,
		   r->job[0] ? r->job : "-", top_state_name(r->state));
	buf_printf(out, "MPI %s %%, CPU %s %%, %s resident", table_percent(mpi, r->mpi),
		   table_percent(cpu, r->cpu), table_bytes(rss, r->rss_bytes));
	if (r->call.state == TOP_CALL_IN || r->call.state == TOP_CALL_ASKS)
		buf_printf(out, "; in %s for %s%s", top_call_text(call, &r->call),
			   r->call.is_exact ? "" : "at least ",
			   table_duration(time, r->call.seconds));
	buf_puts(out, "\n\n");
}

static void count_partners(const char *token)
{
	char text[REPLY_TOKEN_BYTES + 64];
	int n = snprintf(text, sizeof(text), ":omig_calls_enable([%s],\"partner\")", token);

	omis_reply_free(omis_request_n(text, (size_t)n, NULL, NULL, 0));
}

static int put_calls(const struct term *t, const char *token, size_t rows, struct buf *out)
{
	struct rows *calls = calloc(1, sizeof(*calls)), *partners = calloc(1, sizeof(*partners));
	char words[256] = "";
	Omis_value *v = NULL;
	int rc = calls && partners ? CMD_OK : CMD_FAILURE;

	cmd_hush(words, sizeof(words));
	if (rc == CMD_OK)
		rc = session_ask_value(&v, ":omig_calls_read([%s],2)", token);
	cmd_hush(NULL, 0);
	if (rc == CMD_OK) {
		fill(calls, v, false);
		fill(partners, v, true);
		put_table(t, calls, false, rows, out);
		buf_putc(out, '\n');
		put_table(t, partners, true, rows, out);
		buf_putc(out, '\n');
	} else {
		buf_printf(out, "no calls: %s\n\n", words[0] ? words : "out of memory");
	}
	omis_value_free(v);
	free(calls);
	free(partners);
	return rc;
}

int top_rank_show(const struct term *t, const struct top_sample *s, const char *token, size_t rows,
		  struct buf *out)
{
	const struct top_rank *r = top_rank_find(s, token);
	char words[256] = "";
	Omis_value *tree = NULL;

	if (!r || top_rank_has_ended(r)) {
		buf_puts(out, "this process has ended\n");
		return CMD_NOTFOUND;
	}
	put_head(t, s, r, out);
	count_partners(token);
	put_calls(t, token, rows > 12 ? (rows - 10) / 2 : rows ? 1 : 0, out);
	cmd_hush(words, sizeof(words));
	session_ask_value(&tree, ":omig_tree()");
	cmd_hush(NULL, 0);
	put_stack(t, tree, r, out);
	omis_value_free(tree);
	return CMD_OK;
}
