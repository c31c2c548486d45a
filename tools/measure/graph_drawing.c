/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/measure/graph_drawing.h"

#include "common/base/str.h"
#include "pmsl/dot.h"

#include <inttypes.h>
#include <string.h>

/* Fields of a node, as dfg_get_info has them. */
enum { PIECE, WHERE, NUMBER, KIND, WHAT, OBJECT, DOMAIN, LINE, COL, INPUTS };

static const Omis_value *node_at(const struct graph_drawing *d, size_t i)
{
	return &d->graph->list[i];
}

static bool is_kind(const Omis_value *node, const char *kind)
{
	return str_eq(omis_list_text(node, KIND), kind);
}

/*
 * True for both ends of a link: dashed edges show links, so the drawing omits their names, which
 * are numbers.
 */
static bool is_link(const Omis_value *node)
{
	return is_kind(node, "link_in") || is_kind(node, "link_out");
}

/* Data providers are houses, and links are round. */
static const char *shape_of(const Omis_value *node)
{
	return is_kind(node, "input") ? "house" : is_link(node) ? "box, style=rounded" : "box";
}

static void put_name(struct buf *b, const struct graph_drawing *d, const char *token)
{
	struct buf name = BUF_INIT(4096);

	object_names_put(d->names, &name, token, strlen(token));
	dot_put_escaped(b, buf_str(&name));
	buf_done(&name);
}

static void put_id(struct buf *b, const Omis_value *node)
{
	buf_puts(b, "\"");
	dot_put_escaped(b, omis_list_text(node, PIECE));
	buf_printf(b, "/%" PRId64 "\"", omis_list_int(node, NUMBER));
}

static void put_counts(struct buf *b, const struct graph_counts *c)
{
	if (!c->is_known) {
		buf_puts(b, "\\nin -, out -");
		return;
	}
	buf_printf(b, "\\nin %" PRId64 ", out %" PRId64, c->in, c->out);
	if (c->lost)
		buf_printf(b, ", lost %" PRId64, c->lost);
}

static void put_node(struct buf *b, const struct graph_drawing *d, const Omis_value *node)
{
	struct graph_counts c = d->counts(d->arg, node);
	const char *what = is_link(node) ? "" : omis_list_text(node, WHAT),
		   *object = omis_list_text(node, OBJECT);

	buf_puts(b, "\t\t");
	put_id(b, node);
	buf_printf(b, " [shape=%s, label=\"%s", shape_of(node), omis_list_text(node, KIND));
	buf_puts(b, what[0] ? " " : "");
	dot_put_escaped(b, what);
	buf_puts(b, object[0] ? "\\n" : "");
	put_name(b, d, object);
	put_counts(b, &c);
	buf_puts(b, "\"];\n");
}

/* Edges go from a node to its inputs and are drawn backwards, so that the result is above. */
static void put_edges(struct buf *b, const Omis_value *node)
{
	const Omis_value *in = omis_list_at(node, INPUTS);

	for (size_t k = 0; in && in->kind == OMIS_VALUE_LIST && k < in->n; k++) {
		buf_puts(b, "\t");
		put_id(b, node);
		buf_puts(b, " -> \"");
		dot_put_escaped(b, omis_list_text(node, PIECE));
		buf_printf(b, "/%" PRId64 "\";\n", omis_list_int(in, k));
	}
}

/* --- pieces; the nodes of a piece are adjacent in the list */

static void put_piece(struct buf *b, const struct graph_drawing *d, size_t first, size_t end)
{
	const char *where = omis_list_text(node_at(d, first), WHERE);

	buf_printf(b, "\tsubgraph \"cluster_%zu\" {\n\tlabel=\"", first);
	put_name(b, d, where);
	buf_puts(b, "\";\n");
	for (size_t i = first; i < end; i++)
		put_node(b, d, node_at(d, i));
	buf_puts(b, "\t}\n");
	for (size_t i = first; i < end; i++)
		put_edges(b, node_at(d, i));
}

static bool is_same_piece(const Omis_value *a, const Omis_value *b)
{
	return str_eq(omis_list_text(a, PIECE), omis_list_text(b, PIECE)) &&
	       str_eq(omis_list_text(a, WHERE), omis_list_text(b, WHERE));
}

static void put_pieces(struct buf *b, const struct graph_drawing *d)
{
	size_t first = 0;

	for (size_t i = 1; i <= d->graph->n; i++)
		if (i == d->graph->n || !is_same_piece(node_at(d, first), node_at(d, i))) {
			put_piece(b, d, first, i);
			first = i;
		}
}

/* Draws edges from the link to each link_in of the same name, in any piece. */
static void put_link(struct buf *b, const struct graph_drawing *d, const Omis_value *out)
{
	for (size_t i = 0; i < d->graph->n; i++) {
		const Omis_value *in = node_at(d, i);

		if (!is_kind(in, "link_in") ||
		    !str_eq(omis_list_text(in, WHAT), omis_list_text(out, WHAT)))
			continue;
		buf_puts(b, "\t");
		put_id(b, in);
		buf_puts(b, " -> ");
		put_id(b, out);
		buf_puts(b, " [style=dashed];\n");
	}
}

/* Draws the requester, which reads every output. */
static void put_requester(struct buf *b, const struct graph_drawing *d)
{
	buf_printf(b,
		   "\trequester [shape=invhouse, label=\"tool %" PRId64 "\\n%" PRId64
		   " reads\"];\n",
		   d->tool, d->reads);
	for (size_t i = 0; i < d->graph->n; i++)
		if (is_kind(node_at(d, i), "result")) {
			buf_puts(b, "\trequester -> ");
			put_id(b, node_at(d, i));
			buf_puts(b, ";\n");
		}
}

void graph_drawing_put(struct buf *b, const struct graph_drawing *d)
{
	struct buf title = BUF_INIT(4096);

	buf_printf(&title, "%s: %s", d->dfg, d->metric);
	dot_begin(b, buf_str(&title));
	buf_done(&title);
	put_requester(b, d);
	put_pieces(b, d);
	for (size_t i = 0; i < d->graph->n; i++)
		if (is_kind(node_at(d, i), "link_out"))
			put_link(b, d, node_at(d, i));
	dot_end(b);
}
