/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/top_show.h"

#include "common/base/err.h"
#include "common/base/str.h"
#include "tools/show.h"
#include "tools/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RANK_COLUMNS (TOP_CLASSES + 10)

static int show_nodes(const struct term *t, const struct top_sample *s, struct buf *out)
{
	static const char *const heads[] = { "NODE", "RANKS", "LOAD", "RUNNING", "CPUS", "MEM", "OF" };
	struct table *tab = table_new(7, heads, "lrrrrrr");
	char text[TABLE_NUMBER_BYTES];
	size_t i, k, n;
	int rc;

	for (i = 0; tab && i < s->nnode; i++) {
		for (k = n = 0; k < s->nrank; k++)
			n += str_eq(s->rank[k].node, s->node[i].token);
		table_cell(tab, "%s", s->node[i].name);
		table_cell(tab, "%zu", n);
		table_cell(tab, "%.2f", s->node[i].load);
		table_cell(tab, "%s", table_count(text, s->node[i].running));
		table_cell(tab, "%s", table_count(text, s->node[i].cpus));
		table_cell(tab, "%s", table_bytes(text, s->node[i].mem_used_bytes));
		table_cell(tab, "%s", table_bytes(text, s->node[i].mem_bytes));
	}
	rc = tab ? table_print(tab, t->is_tty ? t->cols : 0, out) : -ERR_NOMEM;
	table_free(tab);
	return rc;
}

static void name_cells(struct table *tab, const struct top_sample *s, const struct top_rank *r)
{
	const struct top_node *n = top_node_find(s, r->node);

	if (r->rank >= 0)
		table_cell(tab, "%lld", (long long)r->rank);
	else
		table_cell(tab, "-");
	table_cell(tab, "%s", n ? n->name : r->node);
	table_cell(tab, "%lld", (long long)r->pid);
	table_cell(tab, "%s", top_state_name(r->state));
}

static void rate_cells(struct table *tab, const struct top_rank *r)
{
	char text[TABLE_NUMBER_BYTES];
	size_t i;

	table_cell(tab, "%s", table_percent(text, r->mpi));
	for (i = 0; i < TOP_CLASSES; i++)
		table_cell(tab, "%s", table_percent(text, r->share[i]));
	table_cell(tab, "%s", table_count(text, r->calls_s));
	table_cell(tab, "%s", table_bytes(text, r->out_s));
	table_cell(tab, "%s", table_bytes(text, r->in_s));
	table_cell(tab, "%s", table_percent(text, r->cpu));
	table_cell(tab, "%s", table_bytes(text, r->rss_bytes));
}

static void total_cells(struct table *tab, const struct top_rank *r)
{
	char text[TABLE_NUMBER_BYTES];
	double sum = 0;
	size_t i;

	for (i = 0; i < TOP_CLASSES; i++)
		sum += r->delay_ns[i];
	table_cell(tab, "%s", table_duration(text, sum / 1e9));
	for (i = 0; i < TOP_CLASSES; i++)
		table_cell(tab, "%s", table_duration(text, r->delay_ns[i] / 1e9));
	table_cell(tab, "%s", table_count(text, r->calls));
	table_cell(tab, "%s", table_bytes(text, r->bytes_out));
	table_cell(tab, "%s", table_bytes(text, r->bytes_in));
	table_cell(tab, "%s", table_duration(text, r->cpu_s));
	table_cell(tab, "%s", table_bytes(text, r->rss_bytes));
}

static void rank_heads(const char **heads, bool is_total)
{
	static const char *const rates[] = { "CALLS/s", "OUT/s", "IN/s", "CPU%", "RSS" };
	static const char *const totals[] = { "CALLS", "OUT", "IN", "CPU", "RSS" };
	static const char *const names[] = { "RANK", "NODE", "PID", "STATE" };
	size_t i;

	memcpy(heads, names, sizeof(names));
	heads[4] = is_total ? "MPI" : "MPI%";
	for (i = 0; i < TOP_CLASSES; i++)
		heads[5 + i] = top_class_heads[i];
	memcpy(heads + 5 + TOP_CLASSES, is_total ? totals : rates, sizeof(rates));
}

static int show_ranks(const struct term *t, const struct top_sample *s, bool is_total, size_t rows, struct buf *out)
{
	const char *heads[RANK_COLUMNS];
	struct table *tab = table_new(RANK_COLUMNS, heads, "rlrlrrrrrrrrrrrrr");
	size_t i, n = rows && s->nrank > rows ? rows : s->nrank;
	int rc;

	rank_heads(heads, is_total);
	for (i = 0; tab && i < n; i++) {
		name_cells(tab, s, &s->rank[i]);
		if (is_total)
			total_cells(tab, &s->rank[i]);
		else
			rate_cells(tab, &s->rank[i]);
	}
	rc = tab ? table_print(tab, t->is_tty ? t->cols : 0, out) : -ERR_NOMEM;
	table_free(tab);
	if (n < s->nrank)
		buf_printf(out, "... %zu more ranks\n", s->nrank - n);
	return rc;
}

static void show_coverage(const struct term *t, const struct top_sample *s, struct buf *out)
{
	Omis_coverage c;
	char safe[256];
	unsigned i;

	omis_reply_coverage(s->reply, &c);
	buf_printf(out, "%zu rank%s on %zu node%s", s->nrank, s->nrank == 1 ? "" : "s", s->nnode,
		   s->nnode == 1 ? "" : "s");
	if (c.answered < c.asked)
		buf_printf(out, "; %s%u of %u answers%s", term_paint(t, TERM_YELLOW), c.answered, c.asked,
			   term_paint(t, TERM_PLAIN));
	for (i = 0; i < c.n_missing && i < 4; i++) {
		buf_printf(out, ", %s", str_escape(safe, sizeof(safe), c.missing[i].object, strlen(c.missing[i].object)));
		buf_printf(out, " %s", str_escape(safe, sizeof(safe), c.missing[i].reason, strlen(c.missing[i].reason)));
	}
	if (c.n_missing > 4)
		buf_printf(out, ", ... (%u in all)", c.n_missing);
	buf_putc(out, '\n');
}

int top_show(const struct term *t, const struct top_sample *s, bool is_total, size_t rows, struct buf *out)
{
	size_t used = s->nnode + 4; /* two heads, a gap, the coverage */
	int rc = show_nodes(t, s, out);

	buf_putc(out, '\n');
	if (rc == 0)
		rc = show_ranks(t, s, is_total, rows ? (rows > used + 1 ? rows - used : 1) : 0, out);
	show_coverage(t, s, out);
	return rc;
}

/* --- JSON */

static void classes_json(struct json *j, const char *name, const double *v, double scale)
{
	char lower[16];
	size_t i, k;

	json_key(j, name);
	json_object(j);
	for (i = 0; i < TOP_CLASSES; i++) {
		for (k = 0; top_class_heads[i][k]; k++)
			lower[k] = (char)(top_class_heads[i][k] | 0x20);
		lower[k] = '\0';
		if (top_class_heads[i][1] == '2')
			lower[1] = '2';
		json_key_double(j, lower, v[i] * scale);
	}
	json_object_end(j);
}

static void rank_json(struct json *j, const struct top_rank *r)
{
	json_object(j);
	json_key_str(j, "token", r->token);
	json_key_i64(j, "rank", r->rank);
	json_key_str(j, "node", r->node);
	json_key_i64(j, "pid", r->pid);
	json_key_str(j, "program", r->program);
	json_key_str(j, "state", top_state_name(r->state));
	json_key_double(j, "mpi_percent", r->mpi);
	classes_json(j, "percent", r->share, 1);
	json_key_double(j, "calls_per_s", r->calls_s);
	json_key_double(j, "bytes_out_per_s", r->out_s);
	json_key_double(j, "bytes_in_per_s", r->in_s);
	json_key_double(j, "cpu_percent", r->cpu);
	json_key_double(j, "rss_bytes", r->rss_bytes);
	json_key(j, "total");
	json_object(j);
	json_key_double(j, "calls", r->calls);
	classes_json(j, "seconds", r->delay_ns, 1e-9);
	json_key_double(j, "bytes_out", r->bytes_out);
	json_key_double(j, "bytes_in", r->bytes_in);
	json_key_double(j, "cpu_seconds", r->cpu_s);
	json_object_end(j);
	json_object_end(j);
}

static void node_json(struct json *j, const struct top_node *n)
{
	json_object(j);
	json_key_str(j, "token", n->token);
	json_key_str(j, "name", n->name);
	json_key_double(j, "load", n->load);
	json_key_double(j, "running", n->running);
	json_key_double(j, "cpus", n->cpus);
	json_key_double(j, "mem_bytes", n->mem_bytes);
	json_key_double(j, "mem_used_bytes", n->mem_used_bytes);
	json_object_end(j);
}

bool top_show_json(const struct top_sample *s)
{
	struct buf b = BUF_INIT(SHOW_MAX_BYTES);
	struct json j;
	size_t i;
	bool ok;

	json_init(&j, &b);
	json_object(&j);
	json_key_i64(&j, "time_ns", s->wall);
	json_key(&j, "nodes");
	json_array(&j);
	for (i = 0; i < s->nnode; i++)
		node_json(&j, &s->node[i]);
	json_array_end(&j);
	json_key(&j, "ranks");
	json_array(&j);
	for (i = 0; i < s->nrank; i++)
		rank_json(&j, &s->rank[i]);
	json_array_end(&j);
	show_coverage_json(&j, s->reply);
	json_object_end(&j);
	ok = show_json_line(&j, &b);
	buf_done(&b);
	return ok;
}
