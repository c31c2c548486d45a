/* SPDX-License-Identifier: Apache-2.0 */
/* A page without scripts, whose content policy permits no loading. */
#include "eventlog/lifeline/lifepage.h"
#include "eventlog/lifeline/lifewords.h"
#include "interaction/picture/netpicture.h"

#include <inttypes.h>

#define BAR_WIDE 900
#define COLOURS 8

static const char *const colour[COLOURS] = { "#d4580b", "#1f6feb", "#1a7f64", "#8250df",
					     "#bf8700", "#c81e3a", "#0a7ea4", "#59636e" };

/* Returns the place of a use among those with most time, for its colour. */
static size_t rank_of(const struct netspent *s, uint32_t shape)
{
	size_t i = 0;

	while (i < s->nuse && i < COLOURS && s->use[i].of != shape)
		i++;
	return i < COLOURS - 1 ? i : COLOURS - 1;
}

static void put_piece(struct buf *out, const struct netpicture *p, const struct network_arc *a,
		      double scale)
{
	const struct network *w = p->w;
	char time[LIFEWORDS_TIME_BYTES];
	struct buf use = BUF_INIT(NETUSE_MAX_BYTES);

	netuse_put(w->use, a->use, &use);
	buf_printf(out, "<rect x=\"%.2f\" width=\"%.2f\" height=\"34\" fill=\"%s\"><title>%s: ",
		   (double)(w->v[a->tail].t - w->v[w->v0].t) * scale,
		   (double)network_length(w, a) * scale,
		   colour[rank_of(&p->a->spent, netuse_shape(w->use, a->use))],
		   lifewords_time(time, network_length(w, a)));
	lifepage_put_text(out, use.n ? buf_str(&use) : "no object");
	buf_puts(out, "</title></rect>\n");
	buf_done(&use);
}

static void put_bar(struct buf *out, const struct netpicture *p)
{
	int64_t response = netpath_response(p->w);
	double scale = response > 0 ? BAR_WIDE / (double)response : 0;

	buf_printf(out,
		   "<svg width=\"%d\" height=\"34\" role=\"img\">\n"
		   "<title>time of the path by objects in use</title>\n",
		   BAR_WIDE);
	for (size_t i = 1; i < p->a->path.n; i++) {
		struct network_arc a;

		network_arc(p->w, p->a->path.step[i].v, p->a->path.step[i].is_ending, &a);
		if (network_length(p->w, &a) > 0)
			put_piece(out, p, &a, scale);
	}
	buf_puts(out, "</svg>\n");
}

static void put_table(struct buf *out, const struct netpicture *p)
{
	const struct netspent *s = &p->a->spent;
	struct buf use = BUF_INIT(NETUSE_MAX_BYTES);

	buf_puts(out, "<table><tr><th></th><th>in use</th><th>time</th><th>share</th></tr>\n");
	for (size_t i = 0; i < s->nuse && i < 20; i++) {
		char time[LIFEWORDS_TIME_BYTES];

		buf_clear(&use);
		netuse_put(p->w->use, s->use[i].of, &use);
		buf_printf(out,
			   "<tr><td><svg width=\"12\" height=\"12\"><rect width=\"12\" "
			   "height=\"12\" fill=\"%s\"/></svg></td><td>",
			   colour[i < COLOURS - 1 ? i : COLOURS - 1]);
		lifepage_put_text(out, use.n ? buf_str(&use) : "no object");
		buf_printf(out, "</td><td>%s</td><td>%.1f %%</td></tr>\n",
			   lifewords_time(time, s->use[i].ns),
			   p->a->path.length > 0
				   ? (double)s->use[i].ns * 100 / (double)p->a->path.length
				   : 0.0);
	}
	buf_puts(out, "</table>\n");
	buf_done(&use);
}

static void put_words(struct buf *out, const char *words)
{
	struct buf text = BUF_INIT(1u << 20);

	for (const char *s = words; *s; s++) {
		if (*s != '\n') {
			buf_putc(&text, (uint8_t)*s);
			continue;
		}
		buf_puts(out, "<p>");
		lifepage_put_text(out, buf_str(&text));
		buf_puts(out, "</p>\n");
		buf_clear(&text);
	}
	buf_done(&text);
}

int netpicture_html(struct buf *out, const struct netpicture *p, struct err *e)
{
	buf_puts(out,
		 "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		 "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
		 "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Interaction ");
	lifepage_put_text(out, p->name);
	buf_puts(out, "</title>\n<style>body{font:14px sans-serif;margin:1em;color:#1b1f24;"
		      "background:#fff}td,th{padding:2px 10px;text-align:right}"
		      "td:nth-child(2),th:nth-child(2){text-align:left}.view{overflow:auto}"
		      "</style>\n</head>\n<body>\n<h1>Interaction ");
	lifepage_put_text(out, p->name);
	buf_puts(out, "</h1>\n");
	put_words(out, p->words);
	put_bar(out, p);
	put_table(out, p);
	buf_puts(out, "<p>Time runs downwards. Orange: the critical path. Blue: messages. "
		      "Dashed: a sub-task waits for another one.</p>\n<div class=\"view\">\n");
	if (netsvg_element(out, p, e))
		return -ERR_LIMIT;
	buf_puts(out, "</div>\n</body>\n</html>\n");
	return out->failed ? err_set(e, ERR_LIMIT, "a page of more than %u MiB",
				     NETPICTURE_MAX_BYTES >> 20)
			   : 0;
}
