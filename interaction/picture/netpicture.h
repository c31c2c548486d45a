/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of one analysed network, in the forms of papers, browsers and trace viewers. */
#ifndef INTERACTION_PICTURE_NETPICTURE_H
#define INTERACTION_PICTURE_NETPICTURE_H

#include "common/base/buf.h"
#include "interaction/netanalysis.h"

/* A browser opens an SVG of 20 MB. Larger networks are filtered first, or go to a trace viewer. */
#define NETPICTURE_VERTICES_MAX 50000
#define NETPICTURE_MAX_BYTES (1u << 30)

struct netpicture {
	const char *name; /* of the interaction; "" */
	const struct network *w;
	const struct netanalysis *a;
	const char *const *node; /* names of nodes */
	const char *words; /* the verdict in sentences, for pages; "" */
	bool is_equal; /* equal spacing: the order of times, not their lengths */
};

/* Each appends a whole file. ERR_LIMIT: too many vertices, or bytes; ERR_NOMEM. */

/* Columns are threads, time runs downwards; the path is bold, B-arcs are dashed. */
int netpicture_svg(struct buf *out, const struct netpicture *p, struct err *e);
/* One file without scripts: words, a bar of the path's time by objects in use, and the SVG. */
int netpicture_html(struct buf *out, const struct netpicture *p, struct err *e);
/* The language of Graphviz. */
int netpicture_dot(struct buf *out, const struct netpicture *p, struct err *e);
/* Trace events with flow arrows, for Perfetto and its like. */
int netpicture_chrome(struct buf *out, const struct netpicture *p, struct err *e);
/* An ExportTraceServiceRequest: a span for each sub-task, links at joins. */
int netpicture_otlp(struct buf *out, const struct netpicture *p, struct err *e);

/* --- for this room: the drawing alone, as an <svg> element */
int netsvg_element(struct buf *out, const struct netpicture *p, struct err *e);

#endif
