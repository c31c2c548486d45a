/* SPDX-License-Identifier: Apache-2.0 */
/* The space-time diagram: a line for each process, an arrow for each message. */
#include "neko/cmd/neko_plot.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <math.h>
#include <stdio.h>

#define HEAD 56
#define FOOT 30
#define LEFT 70
#define LONG 910
#define PROCESSES_MAX 64 /* process lines that fit on a page */
/* more arrows would hide each other; --trace-from and --trace-until choose others */
#define ARROWS_MAX 240
#define EVENTS_MAX 400
#define LABEL_ROOM 76 /* width of a label in pixels */
#define NAMES_MAX 7 /* names with a colour of their own */

static const char *const colours[] = { "#1f6feb", "#d4580b", "#1a7f64", "#8250df",
				       "#9a6700", "#c81e7a", "#57606a" };

struct arrow {
	unsigned from, to;
	double sent, arrived; /* arrived: NaN if the message is lost */
	const char *type;
};

struct mark {
	unsigned process;
	double at, content;
	const char *what;
};

struct names {
	const char *name[NAMES_MAX];
	unsigned n;
};

struct space {
	struct arrow arrow[ARROWS_MAX];
	struct mark mark[EVENTS_MAX];
	unsigned narrow, nmark, nprocess;
	double from, to;
	double down_at[PROCESSES_MAX + 1]; /* time of the crash; INFINITY: none */
	struct names types, events;
	struct axis x;
	double top, step; /* positions of the process lines */
};

static double item(struct json_object *v, unsigned i)
{
	return results_number(results_item(v, i), NAN);
}

static const char *word(struct json_object *v, unsigned i)
{
	return results_text(results_item(v, i), "");
}

static bool is_process(double v)
{
	return v >= 1 && v <= PROCESSES_MAX && v == floor(v);
}

static void see(struct space *s, unsigned process, double at)
{
	if (process > s->nprocess)
		s->nprocess = process;
	s->from = fmin(s->from, at);
	s->to = fmax(s->to, at);
}

static void read_arrow(struct space *s, struct json_object *v)
{
	double from = item(v, 0), to = item(v, 1), sent = item(v, 2), arrived = item(v, 3);

	if (!is_process(from) || !is_process(to) || !isfinite(sent))
		return;
	s->arrow[s->narrow++] =
		(struct arrow){ (unsigned)from, (unsigned)to, sent, arrived, word(v, 4) };
	see(s, (unsigned)from, sent);
	see(s, (unsigned)to, isfinite(arrived) ? arrived : sent);
}

static void read_mark(struct space *s, struct json_object *v)
{
	double process = item(v, 0), at = item(v, 1);
	const char *what = word(v, 2);

	if (!is_process(process) || !isfinite(at) || (s->narrow && at > s->to))
		return;
	s->mark[s->nmark++] = (struct mark){ (unsigned)process, at, item(v, 3), what };
	see(s, (unsigned)process, at);
	if (str_eq(what, "crash"))
		s->down_at[(unsigned)process] = at;
}

/* Returns false if there is nothing to draw. */
static bool read_space(struct space *s, struct json_object *trace)
{
	struct json_object *messages = results_get(trace, "messages");
	struct json_object *events = results_get(trace, "events");

	s->from = INFINITY;
	s->to = -INFINITY;
	for (unsigned k = 0; k <= PROCESSES_MAX; k++)
		s->down_at[k] = INFINITY;
	for (size_t i = 0; i < results_count(messages) && s->narrow < ARROWS_MAX; i++)
		read_arrow(s, results_item(messages, i));
	for (size_t i = 0; i < results_count(events) && s->nmark < EVENTS_MAX; i++)
		read_mark(s, results_item(events, i));
	return s->nprocess > 0;
}

static double step_of(unsigned nprocess)
{
	return nprocess <= 8 ? 56 : nprocess <= 16 ? 36 : 22;
}

static double height(const struct space *s)
{
	return HEAD + (s->nprocess - 1) * step_of(s->nprocess) + FOOT + 20;
}

double plot_space_height(struct json_object *trace)
{
	struct space s = { 0 };

	return read_space(&s, trace) ? height(&s) : 0;
}

static double y_of(const struct space *s, unsigned process)
{
	return s->top + (process - 1) * s->step;
}

/* Returns a colour. Names beyond the limit have the same colour. */
static const char *colour_of(struct names *n, const char *name)
{
	for (unsigned i = 0; i < n->n; i++)
		if (str_eq(n->name[i], name))
			return colours[i];
	if (n->n < NAMES_MAX)
		n->name[n->n++] = name;
	return colours[n->n - 1];
}

static void draw_lines(struct buf *out, const struct space *s)
{
	char words[16];

	for (unsigned i = 1; i <= s->nprocess; i++) {
		double y = y_of(s, i), end = LEFT + LONG;

		if (isfinite(s->down_at[i])) {
			end = axis_place(&s->x, s->down_at[i]);
			buf_printf(out, "<path class=\"dead\" d=\"M%.1f %.1fH%d\"/>\n", end, y,
				   LEFT + LONG);
		}
		buf_printf(out, "<path class=\"life\" d=\"M%d %.1fH%.1f\"/>\n", LEFT, y, end);
		snprintf(words, sizeof(words), "%u", i);
		svg_text(out, LEFT - 10, y + 4, "text-anchor=\"end\"", words);
	}
}

struct point {
	double x, y;
};

/* Draws an arrow with a head of 6 pixels. A message of a process to itself is an arc. */
static void draw_way(struct buf *out, const char *colour, struct point from, struct point to)
{
	double x1 = from.x, y1 = from.y, x2 = to.x, y2 = to.y;
	double length = hypot(x2 - x1, y2 - y1), ux = length > 0 ? (x2 - x1) / length : 1,
	       uy = length > 0 ? (y2 - y1) / length : 0;

	if (y1 == y2) {
		buf_printf(out,
			   "<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\" stroke=\"%s\" "
			   "fill=\"none\"/>\n",
			   x1, y1, (x1 + x2) / 2, y1 - 16, x2, y2, colour);
		return;
	}
	buf_printf(out, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" fill=\"none\"/>", x1, y1,
		   x2, y2, colour);
	buf_printf(out, "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fZ\" fill=\"%s\"/>\n", x2, y2,
		   x2 - 7 * ux + 2.6 * uy, y2 - 7 * uy - 2.6 * ux, x2 - 7 * ux - 2.6 * uy,
		   y2 - 7 * uy + 2.6 * ux, colour);
}

/* Draws an arrow that ends half way with a cross: the place of the loss is unknown. */
static void draw_lost(struct buf *out, double x, double y, double end)
{
	double half = y + (end - y) * 0.45, right = x + 5;

	buf_printf(out,
		   "<path d=\"M%.1f %.1fL%.1f %.1fm-3 -3l6 6m0 -6l-6 6\" stroke=\"#c81e3a\" "
		   "fill=\"none\" "
		   "stroke-dasharray=\"none\"/>\n",
		   x, y, right, half);
}

static void draw_arrows(struct buf *out, struct space *s)
{
	for (unsigned i = 0; i < s->narrow; i++) {
		const struct arrow *a = &s->arrow[i];
		double x = axis_place(&s->x, a->sent), y = y_of(s, a->from), end = y_of(s, a->to);
		const char *colour = colour_of(&s->types, a->type);

		if (isfinite(a->arrived))
			draw_way(out, colour, (struct point){ x, y },
				 (struct point){ axis_place(&s->x, a->arrived), end });
		else
			draw_lost(out, x, y, end);
	}
}

static void draw_marks(struct buf *out, struct space *s)
{
	double labelled[PROCESSES_MAX + 1];

	for (unsigned i = 0; i <= PROCESSES_MAX; i++)
		labelled[i] = -INFINITY;
	for (unsigned i = 0; i < s->nmark; i++) {
		const struct mark *m = &s->mark[i];
		double x = axis_place(&s->x, m->at), y = y_of(s, m->process);

		buf_printf(
			out,
			"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\" stroke=\"#fff\"/>\n",
			x, y, colour_of(&s->events, m->what));
		if (x - labelled[m->process] < LABEL_ROOM)
			continue;
		labelled[m->process] = x;
		svg_text(out, x + 3, y - 7, "class=\"soft\"", m->what);
	}
}

static void draw_key(struct buf *out, const struct names *n, double x, double y, bool is_line)
{
	for (unsigned i = 0; i < n->n; i++) {
		if (is_line)
			buf_printf(out,
				   "<path d=\"M%.1f %.1fh18\" stroke=\"%s\" stroke-width=\"2\"/>",
				   x, y - 4, colours[i]);
		else
			buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>",
				   x + 9, y - 4, colours[i]);
		svg_text(out, x + 23, y, "class=\"soft\"", n->name[i]);
		x += 120;
	}
}

void plot_space(struct buf *out, struct json_object *trace, double top)
{
	struct space s = { 0 };

	if (!read_space(&s, trace))
		return;
	s.top = top + HEAD;
	s.step = step_of(s.nprocess);
	s.x = axis_linear(s.from, s.to, LEFT, LONG);
	svg_text(out, LEFT, top + 12, "class=\"name\"",
		 "messages of the first run over its time (s); red: lost");
	svg_ticks_x(out, &s.x, s.top - 14, y_of(&s, s.nprocess) + 10);
	draw_lines(out, &s);
	draw_arrows(out, &s);
	draw_marks(out, &s);
	draw_key(out, &s.types, LEFT, top + 30, true);
	draw_key(out, &s.events, LEFT + 360, top + 30, false);
}
