/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs in the language of graphviz, each a cluster of one drawing:
 *
 * - the template as in the text
 * - the template with common parts once
 * - the graph of chosen objects
 * - its pieces where they run
 */
#ifndef PMSL_DOT_H
#define PMSL_DOT_H

#include "pmsl/pmsl.h"

/* Begin and end the drawing; names are escaped. */
void dot_begin(struct buf *b, const char *title);
void dot_end(struct buf *b);

/* Text in a label or a name. */
void dot_put_escaped(struct buf *b, const char *s);

/* Writes a template; `id` distinguishes it from others of the drawing. */
void dot_template(struct buf *b, const struct dag *g, const char *id, const char *title);

/* Writes the graph of chosen objects, before it is cut. */
void dot_bound(struct buf *b, const struct bound *bound);

/* Writes the pieces, with sites around their nodes, and links as dashed edges. */
void dot_pieces(struct buf *b, const struct pieces *p, const struct world *w);

#endif
