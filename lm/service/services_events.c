/* SPDX-License-Identifier: Apache-2.0 */
/* Types of events that processes have. */
#include "common/base/buf.h"
#include "common/base/limits.h"
#include "lm/instrument/events.h"
#include "lm/service/families.h"

static void write_type(struct omis_writer *w, const struct proc *p, unsigned number)
{
	const struct evtype *t = events_type(p, number);
	struct events_figures f;

	events_figures(p, number, &f);
	omis_write_list(w);
	omis_write_string(w, t->name);
	omis_write_string(w, evlevel_name(t->level));
	omis_write_list(w);
	for (unsigned i = 0; i < t->nfield; i++) {
		omis_write_string(w, t->field[i].name);
		omis_write_string(w, evkind_name((int)t->field[i].kind));
	}
	omis_write_list_end(w);
	OMIS_WRITE_INTS(w, f.interests, (int64_t)f.taken, (int64_t)f.lost);
	omis_write_list_end(w);
}

/* A process without a segment has no known types. */
static int add_types(struct service_call *c, const struct object *o)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	unsigned n = events_poll(o->proc), good = 0;

	for (unsigned i = 0; i < n; i++)
		good += events_type(o->proc, i) != NULL;
	omis_write_int(&w, good);
	for (unsigned i = 0; i < n; i++)
		if (events_type(o->proc, i))
			write_type(&w, o->proc, i);
	return call_add_values(c, o->token, &b);
}

static int serve_get_event_types(struct service_call *c)
{
	struct objects o = { 0 };
	int rc = call_resolve(c, 'p', &o);

	for (size_t i = 0; !rc && i < o.n; i++)
		rc = add_types(c, &o.v[i]);
	objects_done(&o);
	return rc;
}

const struct service events_services[] = {
	{ "proc_get_event_types", serve_get_event_types },
	{ NULL, NULL },
};
