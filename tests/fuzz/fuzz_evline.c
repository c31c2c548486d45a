/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text logs; the first byte selects the form. An accepted line is an event that can be written in
 * every form.
 */
#include "eventlog/evwrite.h"
#include "eventlog/text/evline.h"
#include "eventlog/text/evout.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

/* XML and Lite return as many fields as they received. */
static void and_back(const struct event *ev, enum evout_form out, enum evline_form in)
{
	static struct evline *again;
	struct evout o;
	struct err e = { 0 };

	if (!again)
		again = evline_new(EVWORDS_AUTO);
	evout_begin(&o, out);
	buf_clear(&o.b);
	evout_event(&o, ev);
	if (!again || o.b.failed || evline_read(again, in, (const char *)o.b.p, o.b.n - 1, &e) != 1)
		abort();
	if (again->event.wall_ns != ev->wall_ns ||
	    again->type.nfield + again->type.nconst != ev->type->nfield + ev->type->nconst)
		abort();
	evout_done(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static struct evline *line;
	const struct event *ev;
	struct evwrite w;
	struct evout o;
	struct err e = { 0 };

	if (!line)
		line = evline_new(EVWORDS_AUTO);
	if (!line || !n ||
	    evline_read(line, (enum evline_form)(*p % EVLINE_NFORMS), (const char *)p + 1, n - 1,
			&e) != 1)
		return 0;
	ev = &line->event;
	evwrite_init(&w, 1, false, 0);
	if (!evwrite_define(&w, 1, ev->type, &e) && evwrite_event(&w, 1, ev, &e))
		abort();
	evwrite_done(&w);
	for (int form = 0; form < EVOUT_NFORMS; form++) {
		evout_begin(&o, (enum evout_form)form);
		evout_event(&o, ev);
		evout_end(&o);
		if (o.b.failed)
			abort();
		evout_done(&o);
	}
	and_back(ev, EVOUT_XML, EVLINE_XML);
	return 0;
}
