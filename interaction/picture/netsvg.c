/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/lifeline/lifepage.h"
#include "eventlog/lifeline/lifewords.h"
#include "eventlog/lifeline/svgaxis.h"
#include "interaction/picture/netlayout.h"
#include "interaction/picture/netpicture.h"

#include <inttypes.h>

#define GUTTER 80 /* for times */
#define COLUMN 110
#define TOP 50
#define ROW 26 /* pixels between two times of equal spacing */
#define LINEAR 900 /* pixels of a linear scale */
#define TICKS 10
#define NAMES_MAX 2000 /* vertices; more names would cover one another */

static const char style[] =
	"text{font:11px sans-serif;fill:#1b1f24}.soft{fill:#59636e}.grid{stroke:#d8dee4}"
	".arc{stroke:#59636e;stroke-width:1}.msg{stroke:#1f6feb;stroke-width:1}"
	".wait{stroke:#8c959f;stroke-dasharray:4 3}.path{stroke:#d4580b;stroke-width:3}"
	"circle{fill:#fff;stroke:#1b1f24}.on{fill:#d4580b}";

struct drawing {
	struct buf *out;
	const struct netpicture *p;
	struct netlayout l;
	double high, scale; /* height of the picture; pixels of a ns, or of a rank of time */
};

static double x_of(const struct drawing *d, uint32_t v)
{
	uint32_t column = d->l.column[d->p->w->v[v].task];

	return GUTTER + (column + 0.5) * COLUMN;
}

static double y_of(const struct drawing *d, uint32_t v)
{
	const struct network *w = d->p->w;

	return TOP + d->scale * (d->p->is_equal ? (double)d->l.rank[v]
						: (double)(w->v[v].t - w->v[w->v0].t));
}

static void put_heads(const struct drawing *d)
{
	for (size_t i = 0; i < d->l.n; i++) {
		const struct netlayout_column *c = &d->l.head[i];
		double x = GUTTER + ((double)i + 0.5) * COLUMN;
		bool is_new = !i || c->node != c[-1].node;
		char text[32];

		if (c->node != NETWORK_NONE && is_new)
			svg_text(d->out, x, 16, "text-anchor=\"middle\"", d->p->node[c->node]);
		snprintf(text, sizeof(text), "sub-task %" PRIu64, network_id(d->p->w, c->first));
		svg_text(d->out, x, 32, "class=\"soft\" text-anchor=\"middle\"", text);
	}
}

/* Writes times at the left: round ones, or with equal spacing those of the vertices of the path. */
static void put_times(const struct drawing *d)
{
	const struct network *w = d->p->w;
	char text[LIFEWORDS_TIME_BYTES];
	double step = axis_step((double)netpath_response(w), TICKS);

	for (size_t i = 0; d->p->is_equal && i < d->p->a->path.n; i++) {
		uint32_t v = d->p->a->path.step[i].v;

		svg_text(d->out, GUTTER - 6, y_of(d, v) + 4, "class=\"soft\" text-anchor=\"end\"",
			 lifewords_time(text, w->v[v].t - w->v[w->v0].t));
	}
	for (int i = 0; !d->p->is_equal && i * step <= (double)netpath_response(w) && i < 30; i++) {
		double y = TOP + d->scale * i * step;

		buf_printf(d->out, "<path class=\"grid\" d=\"M%d %.1fH%zu\"/>\n", GUTTER, y,
			   GUTTER + d->l.n * COLUMN);
		svg_text(d->out, GUTTER - 6, y + 4, "class=\"soft\" text-anchor=\"end\"",
			 lifewords_time(text, (nsec_t)(i * step + 0.5)));
	}
}

static void put_arc(const struct drawing *d, uint32_t head, bool is_ending)
{
	const struct network *w = d->p->w;
	bool is_on = d->l.on_path[head] & (is_ending ? NETLAYOUT_ENDING : NETLAYOUT_OWN);
	struct network_arc a;
	const char *class;

	if (!network_arc(w, head, is_ending, &a))
		return;
	class = is_on ? "path" : a.blocks ? "wait" : netlayout_is_message(w, &a) ? "msg" : "arc";
	buf_printf(d->out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", class,
		   x_of(d, a.tail), y_of(d, a.tail), x_of(d, head), y_of(d, head));
}

static void put_vertex(const struct drawing *d, uint32_t v)
{
	const struct network *w = d->p->w;
	char name[NETWORK_NAME_BYTES], time[LIFEWORDS_TIME_BYTES];
	bool is_on = d->l.on_path[v] || v == w->v0;

	buf_printf(d->out, "<circle%s cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"><title>",
		   is_on ? " class=\"on\"" : "", x_of(d, v), y_of(d, v), w->n > NAMES_MAX ? 2 : 4);
	lifepage_put_text(d->out, network_name(w, v, name));
	buf_printf(d->out, ", %s, sub-task %" PRIu64 ", %s</title></circle>\n",
		   network_kind_name((enum network_kind)w->v[v].kind), network_id(w, w->v[v].task),
		   lifewords_time(time, w->v[v].t - w->v[w->v0].t));
	if (w->n <= NAMES_MAX)
		svg_text(d->out, x_of(d, v) + 7, y_of(d, v) + 4, "", network_name(w, v, name));
}

int netsvg_element(struct buf *out, const struct netpicture *p, struct err *e)
{
	struct drawing d = { .out = out, .p = p };
	int64_t response = netpath_response(p->w);
	int rc;

	if (p->w->n > NETPICTURE_VERTICES_MAX)
		return err_set(e, ERR_LIMIT,
			       "more than %d vertices: omig interaction filter leaves out some",
			       NETPICTURE_VERTICES_MAX);
	rc = netlayout_make(&d.l, p->w, &p->a->path, e);
	if (rc)
		return rc;
	d.high = p->is_equal ? (double)d.l.ranks * ROW : LINEAR;
	d.scale = p->is_equal ? ROW : response > 0 ? LINEAR / (double)response : 0;
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%.0f\" "
		   "role=\"img\">\n<title>Interaction ",
		   GUTTER + d.l.n * COLUMN + 40, d.high + TOP + 30);
	lifepage_put_text(out, p->name);
	buf_printf(out,
		   "</title>\n<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" "
		   "fill=\"#fff\"/>\n",
		   style);
	put_heads(&d);
	put_times(&d);
	for (uint32_t i = 0; i < p->w->n; i++) {
		put_arc(&d, i, false);
		put_arc(&d, i, true);
	}
	for (uint32_t i = 0; i < p->w->n; i++)
		put_vertex(&d, i);
	buf_puts(out, "</svg>\n");
	netlayout_done(&d.l);
	return out->failed ? err_set(e, ERR_LIMIT, "a picture of more than %u MiB",
				     NETPICTURE_MAX_BYTES >> 20)
			   : 0;
}

int netpicture_svg(struct buf *out, const struct netpicture *p, struct err *e)
{
	return netsvg_element(out, p, e);
}
