/* SPDX-License-Identifier: Apache-2.0 */
/* omig explain: shows where each part of a running measurement runs, and its traffic. */
#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/json/json.h"
#include "tools/cmd/cmd.h"
#include "tools/measure/graph_drawing.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/term/table.h"
#include "tools/view/graphviz.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTS 9 /* in, out, late, doubles, unmatched, incomplete, overflow, open, window */
#define OBJECTS_TEXT_BYTES 3072 /* per request to the hosts */

/* Parts of the result of dfg_get_info(), by bit. */
enum info {
	INFO_WHAT,
	INFO_OBJECTS,
	INFO_SIZE,
	INFO_READS,
	INFO_TROUBLES,
	INFO_GRAPH,
	INFO_COUNTS,
	INFO_LINKS
};

#define INFO_ALL 255u
#define INFO_OF_NODES (1u << INFO_GRAPH | 1u << INFO_COUNTS)
/* Some 150 bytes each: more neither fit into one message nor into a readable table. */
#define NODES_SHOWN_MAX 6000

/* A node of the graph, in the list of INFO_GRAPH. */
enum node_field {
	NODE_PIECE,
	NODE_WHERE,
	NODE_NUMBER,
	NODE_KIND,
	NODE_WHAT,
	NODE_OBJECT,
	NODE_DOMAIN,
	NODE_LINE
};

struct explained {
	struct cmd_common common;
	struct term term;
	const char *dfg;
	Omis_value *info;
	unsigned flags; /* parts in the result */
	Omis_reply below; /* replies of lms and sms about their pieces; NULL: none */
	bool dot;
	const char *output; /* file of the picture; NULL with dot: standard output */
};

static const Omis_value *part(const struct explained *x, enum info what)
{
	unsigned before = x->flags & ((1u << what) - 1);

	return x->flags >> what & 1 ? value_at(x->info, (size_t)__builtin_popcount(before)) : NULL;
}

/* --- counts of a node: at the top in the reply of mainsm, below in that of its daemon */

static const Omis_value *count_at_top(const struct explained *x, const char *piece, int64_t number)
{
	const Omis_value *list = part(x, INFO_COUNTS);

	for (size_t i = 0; list && i < list->n; i++)
		if (str_eq(value_text(&list->list[i], 0), piece) &&
		    value_int(&list->list[i], 1) == number)
			return &list->list[i];
	return NULL;
}

struct counts {
	bool is_known;
	int64_t v[COUNTS];
};

static struct counts take_counts(const Omis_value *list, size_t first)
{
	struct counts c = { .is_known = list != NULL };

	for (size_t i = 0; i < COUNTS; i++)
		c.v[i] = value_int(list, first + i);
	return c;
}

/* Values of an entry: [number, kind, in, ...]..., and then its links, which are shorter. */
static struct counts find_below(const Omis_object_result *o, int64_t number)
{
	Omis_value *v = o->result ? omis_value_parse(o->result, o->result_len) : NULL;
	struct counts c = { .is_known = false };

	for (size_t i = 0; !c.is_known && v && i < v->n; i++)
		if (v->list[i].kind == OMIS_VALUE_LIST && v->list[i].n == COUNTS + 2 &&
		    value_int(&v->list[i], 0) == number)
			c = take_counts(&v->list[i], 2);
	omis_value_free(v);
	return c;
}

/* Nodes with the same reply are in one entry: a list of them, by commas. */
static bool is_of(const Omis_object_result *o, const char *piece)
{
	size_t n = strlen(piece);

	for (const char *at = o->obj_list; *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == n && !memcmp(at, piece, n))
			return true;
	return false;
}

static struct counts counts_of(const struct explained *x, const Omis_value *node)
{
	const char *piece = value_text(node, NODE_PIECE);
	int64_t number = value_int(node, NODE_NUMBER);
	const Omis_value *top = count_at_top(x, piece, number);

	if (top)
		return take_counts(top, 2);
	for (size_t i = 0; x->below && x->below[0] && x->below[1] && x->below[1][i].obj_list; i++) {
		const Omis_object_result *o = &x->below[1][i];

		if (o->status < OMIS_FIRST_ERROR && is_of(o, piece))
			return find_below(o, number);
	}
	return (struct counts){ .is_known = false };
}

/* --- text */

static void show_head(const struct explained *x)
{
	const Omis_value *what = part(x, INFO_WHAT), *size = part(x, INFO_SIZE),
			 *reads = part(x, INFO_READS);
	char bytes[TABLE_NUMBER_BYTES];
	const char *by = value_text(what, 6);

	printf("%s%s: %s%s  unit %s, %s, since %s, every %" PRId64 " ms%s%s%s\n",
	       term_paint(&x->term, TERM_BOLD), x->dfg, value_text(what, 0),
	       term_paint(&x->term, TERM_PLAIN), value_text(what, 1), value_text(what, 2),
	       value_text(what, 3), value_int(what, 4), value_int(what, 5) ? ", per second" : "",
	       by[0] ? ", by " : "", by);
	printf("sees %" PRId64 " sites, %" PRId64 " nodes, %" PRId64 " processes; %" PRId64
	       " pieces with %" PRId64 " nodes of the graph, %" PRId64 " outputs\n",
	       value_int(size, 0), value_int(size, 1), value_int(size, 2), value_int(size, 3),
	       value_int(size, 4), value_int(size, 5));
	printf("%" PRId64 " reads; %" PRId64 " messages with %s bytes came up, %" PRId64
	       " were lost\n\n",
	       value_int(reads, 0), value_int(reads, 3),
	       table_bytes(bytes, (double)value_int(reads, 4)), value_int(reads, 5));
}

static void show_troubles(const struct explained *x)
{
	const Omis_value *list = part(x, INFO_TROUBLES);

	for (size_t i = 0; list && i < list->n; i++)
		cmd_warn("%s%s%s", value_text(&list->list[i], 0),
			 value_text(&list->list[i], 0)[0] ? ": " : "",
			 value_text(&list->list[i], 1));
}

static void node_cells(const struct explained *x, const Omis_value *n, struct table *t)
{
	const char *piece = value_text(n, NODE_PIECE);
	struct counts c = counts_of(x, n);

	table_cell(t, "%s", piece[0] ? piece : "top");
	table_cell(t, "%s", value_text(n, NODE_WHERE));
	table_cell(t, "%" PRId64, value_int(n, NODE_NUMBER));
	table_cell(t, "%s", value_text(n, NODE_KIND));
	table_cell(t, "%s", value_text(n, NODE_WHAT));
	table_cell(t, "%s", value_text(n, NODE_OBJECT));
	for (size_t i = 0; i + 2 < COUNTS; i++)
		if (c.is_known)
			table_cell(t, "%" PRId64, c.v[i]);
		else
			table_cell(t, "-");
	if (c.is_known && c.v[COUNTS - 1])
		table_cell(t, "%" PRId64 "/%" PRId64, c.v[COUNTS - 2], c.v[COUNTS - 1]);
	else
		table_cell(t, "%s", c.is_known ? "" : "-");
}

static void print_table(const struct explained *x, struct table *t)
{
	table_show(t, x->term.is_tty ? x->term.cols : 0);
}

static void show_nodes(const struct explained *x)
{
	static const char *const heads[] = { "PIECE",	 "WHERE",  "NO",	"KIND",
					     "WHAT",	 "OF",	   "IN",	"OUT",
					     "LATE",	 "DOUBLE", "UNMATCHED", "INCOMPLETE",
					     "OVERFLOW", "QUEUE" };
	struct table *t = table_new(14, heads, "llrlllrrrrrrrr");
	const Omis_value *list = part(x, INFO_GRAPH);

	for (size_t i = 0; t && list && i < list->n; i++)
		node_cells(x, &list->list[i], t);
	print_table(x, t);
}

static double seconds_of(const struct explained *x)
{
	const Omis_value *reads = part(x, INFO_READS);

	return (double)(value_int(reads, 1) - value_int(reads, 2)) / 1e9;
}

static void show_links(const struct explained *x)
{
	static const char *const heads[] = {
		"LINK", "FROM", "AWAITED", "BATCHES", "PER S", "LATE"
	};
	struct table *t = table_new(6, heads, "lllrrr");
	const Omis_value *list = part(x, INFO_LINKS);
	double seconds = seconds_of(x);

	for (size_t i = 0; t && list && i < list->n; i++) {
		const Omis_value *l = &list->list[i];

		table_cell(t, "%s", value_text(l, 0));
		table_cell(t, "%s", value_text(l, 1));
		table_cell(t, "%s", value_int(l, 2) ? "yes" : "no");
		table_cell(t, "%" PRId64, value_int(l, 3));
		if (seconds > 0)
			table_cell(t, "%.2f", (double)value_int(l, 3) / seconds);
		else
			table_cell(t, "-");
		table_cell(t, "%" PRId64, value_int(l, 4));
	}
	fputs("\nlinks to the top:\n", stdout);
	print_table(x, t);
}

static void way_cells(const struct explained *x, const char *piece, int n, const Omis_value *way,
		      struct table *t)
{
	char bytes[TABLE_NUMBER_BYTES];
	double seconds = seconds_of(x);

	table_cell(t, "%.*s", n, piece);
	table_cell(t, "%s", value_text(way, 0));
	table_cell(t, "%" PRId64, value_int(way, 1));
	if (seconds > 0)
		table_cell(t, "%.2f", (double)value_int(way, 1) / seconds);
	else
		table_cell(t, "-");
	table_cell(t, "%s", table_bytes(bytes, (double)value_int(way, 2)));
}

/*
 * Adds the links of an entry, which follow its nodes: [up or host, messages, bytes]. All pieces of
 * an entry have the same links.
 */
static void ways_of(const struct explained *x, const Omis_object_result *o, const Omis_value *v,
		    struct table *t)
{
	size_t n;

	for (const char *piece = o->obj_list; *piece; piece += n + (piece[n] == ',')) {
		n = strcspn(piece, ",");
		for (size_t k = 0; k < v->n; k++)
			if (v->list[k].kind == OMIS_VALUE_LIST && v->list[k].n == 3)
				way_cells(x, piece, (int)n, &v->list[k], t);
	}
}

static void show_ways(const struct explained *x)
{
	static const char *const heads[] = { "PIECE", "WAY", "MESSAGES", "PER S", "BYTES" };
	struct table *t = table_new(5, heads, "llrrr");

	for (size_t i = 0; t && x->below && x->below[0] && x->below[1] && x->below[1][i].obj_list;
	     i++) {
		const Omis_object_result *o = &x->below[1][i];
		bool is_good = o->status < OMIS_FIRST_ERROR && o->result;
		Omis_value *v = is_good ? omis_value_parse(o->result, o->result_len) : NULL;

		if (v)
			ways_of(x, o, v, t);
		omis_value_free(v);
	}
	fputs("\nmessages below:\n", stdout);
	print_table(x, t);
}

/* --- picture */

#define PICTURE_MAX_BYTES (16u << 20)

static struct graph_counts drawn_counts(void *arg, const Omis_value *node)
{
	struct counts c = counts_of(arg, node);
	struct graph_counts out = { .is_known = c.is_known, .in = c.v[0], .out = c.v[1] };

	for (size_t i = 2; i + 2 < COUNTS; i++)
		out.lost += c.v[i];
	return out;
}

/* The tool that has made the measurement; -1: it has just ended. */
static int tool_of(const struct explained *x, int64_t *tool)
{
	Omis_value *v;
	int rc = session_ask_value(&v, ":dfg_list()");

	*tool = -1;
	if (rc != CMD_OK)
		return rc;
	for (size_t i = 0; i < v->n; i++)
		if (str_eq(value_text(&v->list[i], 0), x->dfg))
			*tool = value_int(&v->list[i], 1);
	omis_value_free(v);
	return CMD_OK;
}

static int show_picture(struct explained *x)
{
	struct object_names names = { 0 };
	struct graph_drawing d = { .dfg = x->dfg,
				   .names = &names,
				   .metric = value_text(part(x, INFO_WHAT), 0),
				   .graph = part(x, INFO_GRAPH),
				   .reads = value_int(part(x, INFO_READS), 0),
				   .counts = drawn_counts,
				   .arg = x };
	struct buf text = BUF_INIT(PICTURE_MAX_BYTES);
	int rc = tool_of(x, &d.tool);

	if (rc == CMD_OK && !d.graph)
		rc = cmd_fail(CMD_FAILURE, "a graph of so many nodes is not a picture");
	if (rc == CMD_OK) {
		object_names_ask(&names);
		graph_drawing_put(&text, &d);
	}
	if (rc == CMD_OK && text.failed)
		rc = cmd_fail(CMD_FAILURE, "the picture is too large");
	rc = rc == CMD_OK ? graphviz_write(x->output, &text) : rc;
	object_names_done(&names);
	buf_done(&text);
	return rc;
}

/* --- JSON */

static void node_json(const struct explained *x, const Omis_value *n, struct json *j)
{
	static const char *const names[COUNTS] = { "in",       "out",	    "late",
						   "doubles",  "unmatched", "incomplete",
						   "overflow", "open",	    "window" };
	struct counts c = counts_of(x, n);

	json_object(j);
	json_key_str(j, "piece", value_text(n, NODE_PIECE));
	json_key_str(j, "where", value_text(n, NODE_WHERE));
	json_key_i64(j, "number", value_int(n, NODE_NUMBER));
	json_key_str(j, "kind", value_text(n, NODE_KIND));
	json_key_str(j, "what", value_text(n, NODE_WHAT));
	json_key_str(j, "object", value_text(n, NODE_OBJECT));
	for (size_t i = 0; c.is_known && i < COUNTS; i++) {
		json_key_i64(j, names[i], c.v[i]);
	}
	json_object_end(j);
}

static int show_json(const struct explained *x)
{
	static const char *const names[] = { "what", "objects", "size", "reads", "troubles" };
	const Omis_value *graph = part(x, INFO_GRAPH);
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	json_key_str(j, "dfg", x->dfg);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		json_key(j, names[i]);
		show_value_json(j, part(x, (enum info)i));
	}
	json_key_array(j, "nodes");
	for (size_t i = 0; graph && i < graph->n; i++)
		node_json(x, &graph->list[i], j);
	json_array_end(j);
	json_key(j, "links");
	show_value_json(j, part(x, INFO_LINKS));
	json_object_end(j);
	return show_doc_close(&d);
}

/* --- asking */

/* Writes each piece once. A piece that does not fit is written without its counts. */
static void write_pieces(const struct explained *x, char *out, size_t size)
{
	const Omis_value *list = part(x, INFO_GRAPH);
	const char *before = "";
	size_t n = 0;

	out[0] = 0;
	for (size_t i = 0; list && i < list->n; i++) {
		const char *piece = value_text(&list->list[i], NODE_PIECE);

		if (!piece[0] || str_eq(piece, before) || n + strlen(piece) + 2 > size)
			continue;
		n += (size_t)snprintf(out + n, size - n, "%s%s", n ? "," : "", piece);
		before = piece;
	}
}

static void ask_below(struct explained *x)
{
	char pieces[OBJECTS_TEXT_BYTES], text[OBJECTS_TEXT_BYTES + 64];

	write_pieces(x, pieces, sizeof(pieces));
	if (!pieces[0])
		return;
	snprintf(text, sizeof(text), ":omig_dfg_look([%s],%s)", pieces, x->dfg + 2);
	x->below = omis_request(text, NULL, NULL, 0);
}

/* A matrix of thousands of pairs is shown without the nodes of its graph. */
static int ask_mainsm(struct explained *x)
{
	Omis_value *size;
	int64_t nodes;
	int rc = session_ask_value(&size, ":dfg_look([%s],%u)", x->dfg, 1u << INFO_SIZE);

	if (rc != CMD_OK)
		return rc;
	nodes = value_int(value_at(size, 0), 4);
	omis_value_free(size);
	x->flags = nodes > NODES_SHOWN_MAX ? INFO_ALL & ~INFO_OF_NODES : INFO_ALL;
	if (x->flags != INFO_ALL)
		cmd_warn("its graph has %" PRId64
			 " nodes, and %d at the most are shown: what follows is without them",
			 nodes, NODES_SHOWN_MAX);
	return session_ask_value(&x->info, ":dfg_look([%s],%u)", x->dfg, x->flags);
}

static int explain(struct explained *x)
{
	int rc =
		session_is_plain(x->dfg) && str_has_prefix(x->dfg, "d_")
			? ask_mainsm(x)
			: cmd_fail(
				  CMD_NOTFOUND,
				  "a measurement is called d_ and a number: omig explain lists them");

	if (rc != CMD_OK)
		return rc;
	ask_below(x);
	if (x->dot) {
		rc = show_picture(x);
	} else if (x->common.json) {
		rc = show_json(x);
	} else {
		show_head(x);
		show_troubles(x);
		if (x->flags & INFO_OF_NODES)
			show_nodes(x);
		show_links(x);
		if (x->below)
			show_ways(x);
	}
	omis_reply_free(x->below);
	omis_value_free(x->info);
	return rc;
}

static int list_json(const Omis_value *v)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	show_value_json(j, v);
	return show_doc_close(&d);
}

static void list_text(const struct explained *x, const Omis_value *v)
{
	static const char *const heads[] = { "MEASUREMENT", "TOOL",  "METRIC",	 "UNIT",
					     "STATE",	    "SINCE", "EVERY MS", "BY" };
	static const size_t fields[] = { 0, 1, 3, 4, 5, 6, 7, 9 };
	struct table *t = table_new(8, heads, "lrllllrl");

	for (size_t i = 0; t && i < v->n; i++)
		for (size_t k = 0; k < 8; k++) {
			const Omis_value *f = value_at(&v->list[i], fields[k]);

			if (f && f->kind == OMIS_VALUE_INT)
				table_cell(t, "%" PRId64, f->i);
			else
				table_cell(t, "%s", f && f->s ? f->s : "");
		}
	print_table(x, t);
}

static int list(const struct explained *x)
{
	Omis_value *v;
	int rc = session_ask_value(&v, ":dfg_list()");

	if (rc != CMD_OK)
		return rc;
	if (x->common.json)
		rc = list_json(v);
	else
		list_text(x, v);
	omis_value_free(v);
	return rc;
}

int cmd_explain(int argc, char **argv)
{
	struct explained x = { .common = CMD_COMMON_INIT };
	const struct opt table[] = {
		CMD_OPTIONS(&x.common),
		OPTION("dot", 0, NULL, "draw the graph, as text for graphviz", OPT_FLAG, &x.dot),
		OPTION("output", 'o', "FILE",
		       "draw it into a .dot, .svg, .pdf, .png, .ps, .gif or .jpg file", OPT_STR,
		       &x.output),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig explain",
		.usage = "[OPTION...] [MEASUREMENT]",
		.summary =
			"shows how a running measurement is distributed (for debugging Omig); without one, lists them",
		.table = table,
	};
	int first, status = cmd_parse(&spec, argc, argv, &first);

	if (status >= 0)
		return status;
	if (argc - first > 1)
		return cmd_usage(&spec, "one measurement at most");
	x.dot = x.dot || x.output;
	if (x.dot && (x.common.json || argc == first))
		return cmd_usage(&spec, x.common.json ? "a picture is not JSON"
						      : "which measurement is drawn?");
	if (graphviz_check(x.output) != CMD_OK)
		return CMD_USAGE;
	term_open(&x.term, x.common.color);
	status = session_open(&x.common);
	if (status == CMD_OK)
		status = session_attach_all();
	x.dfg = argv[first];
	if (status == CMD_OK)
		status = x.dfg ? explain(&x) : list(&x);
	session_close();
	return status;
}
