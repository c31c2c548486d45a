/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/events/monitor_out.h"

#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/ring/event_link.h"
#include "common/ring/ring.h"
#include "common/ring/seg.h"
#include "eventlog/text/evtypes.h"
#include "eventlog/text/evwords.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* time without room after which the receiver reports that its destination fails */
#define WAIT_NS (500 * NSEC_PER_MSEC)
#define REST_NS NSEC_PER_MSEC
#define NEW_TYPE_NS (500 * NSEC_PER_MSEC) /* time for some rounds of an lm */
#define NEW_TYPES_MAX_NS (20 * NSEC_PER_SEC) /* a sender may have any number of types */
#define MORE_MAX_BYTES 512

/*
 * Constants of a received event become fields, because each value of a constant would make another
 * type. Constants without a separate field are in origin.more: a rank of the sender is not a rank
 * of this monitor.
 */
enum { ORIGIN_HOST, ORIGIN_PROGRAM, ORIGIN_PID, ORIGIN_MORE, ORIGIN_TIME, NORIGIN };
static const struct evfield origins[NORIGIN] = {
	{ "origin.host", EV_STRING }, { "origin.program", EV_STRING }, { "origin.pid", EV_STRING },
	{ "origin.more", EV_STRING }, { "origin.time_ns", EV_INT64 },
};
static const struct {
	const char *name;
	int at;
} known[] = {
	{ "HOST", ORIGIN_HOST },
	{ "PROG", ORIGIN_PROGRAM },
	{ "PID", ORIGIN_PID },
	{ "pid", ORIGIN_PID },
};

struct monitor_out {
	struct evtypes types;
	struct evread *read; /* reader of the block that is being put; NULL: none */
	bool is_waiting; /* `event` is the next one to put */
	unsigned number;
	struct buf record;
	struct evtype form;
	struct evfield field[EV_FIELDS_MAX];
	struct evvalue value[EV_FIELDS_MAX], origin[NORIGIN];
	char numeral[NORIGIN][24]; /* texts of origins that are numbers */
	struct buf more;
	nsec_t waited; /* total time of waits for new types */
	/* by the number of evtypes - 1: the number in the library, or -1 */
	int announced[SEG_EVENTS];
	enum ticks_source ticks;
	struct monitor_out_counts counts;
};

/* --- the library in this process */

static const struct event_link *the_link;
static __typeof__(omig_app_event_try) *try_event;

static void on_ready(const struct event_link *link)
{
	__atomic_store_n(&the_link, link, __ATOMIC_RELEASE);
}

bool monitor_out_is_watched(void)
{
	return dlsym(RTLD_DEFAULT, "omig_app_event_try") != NULL;
}

static int join(struct err *e)
{
	static const struct event_side side = { EVENT_LINK_VERSION, on_ready };
	__typeof__(omig_app_events_join) *fn;
	void *found = dlsym(RTLD_DEFAULT, "omig_app_events_join");

	memcpy(&fn, &found, sizeof(fn));
	found = dlsym(RTLD_DEFAULT, "omig_app_event_try");
	memcpy(&try_event, &found, sizeof(try_event));
	if (!the_link && fn && try_event)
		fn(&side);
	if (!the_link)
		return err_set(e, ERR_UNSUPPORTED,
			       "this receiver is not watched: no monitor, or OMIG_DISABLE is set");
	return 0;
}

int monitor_out_open(struct monitor_out **out, struct err *e)
{
	struct monitor_out *m;
	int rc = join(e);

	if (rc)
		return rc;
	m = calloc(1, sizeof(*m));
	if (!m)
		return err_nomem(e);
	evtypes_init(&m->types);
	m->types.max = SEG_EVENTS;
	buf_init(&m->record, EV_RECORD_MAX_BYTES);
	buf_init(&m->more, MORE_MAX_BYTES);
	m->ticks = ticks_source_best();
	*out = m;
	return 0;
}

void monitor_out_close(struct monitor_out *m)
{
	if (!m)
		return;
	evread_free(m->read);
	evtypes_done(&m->types);
	buf_done(&m->record);
	buf_done(&m->more);
	free(m);
}

/* --- an event, with its origin as fields */

static int origin_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(known[i].name, name))
			return known[i].at;
	return -1;
}

static void take_origin(struct monitor_out *m, int at, const struct evvalue *v)
{
	struct evvalue *to = &m->origin[at];
	char *text = m->numeral[at];
	int n;

	if (v->kind == EV_STRING) {
		*to = *v;
	} else if (v->kind == EV_INT32 || v->kind == EV_INT64) {
		n = snprintf(text, sizeof(m->numeral[at]), "%lld",
			     v->kind == EV_INT32 ? (long long)v->i32 : (long long)v->i64);
		*to = (struct evvalue){ .kind = EV_STRING, .n = (uint32_t)n, .s = text };
	}
}

/* Constants without room are cut. */
static void take_more(struct monitor_out *m, const struct evconst *c)
{
	if (m->more.n)
		buf_putc(&m->more, ' ');
	evwords_put_name(&m->more, c->name);
	buf_putc(&m->more, '=');
	evwords_put_value(&m->more, &c->value);
	m->more.failed = false;
}

static void take_constants(struct monitor_out *m, const struct evtype *t)
{
	for (unsigned i = 0; t && i < t->nconst; i++) {
		int at = origin_of(t->constant[i].name);

		if (at >= 0)
			take_origin(m, at, &t->constant[i].value);
		else
			take_more(m, &t->constant[i]);
	}
}

static void add_field(struct monitor_out *m, const struct evfield *f, const struct evvalue *v)
{
	m->field[m->form.nfield] = *f;
	m->value[m->form.nfield++] = *v;
}

/* Takes the origin from fields, where lines of text have it. */
static void take_fields(struct monitor_out *m, const struct event *ev)
{
	for (unsigned i = 0; i < ev->type->nfield; i++) {
		int at = origin_of(ev->type->field[i].name);

		if (at >= 0)
			take_origin(m, at, &ev->value[i]);
		else
			add_field(m, &ev->type->field[i], &ev->value[i]);
	}
}

/* False: it has too many fields. */
static bool make_form(struct monitor_out *m, const struct event *ev)
{
	const struct evtype *t = ev->type;

	if (t->nfield + NORIGIN > EV_FIELDS_MAX)
		return false;
	m->form = (struct evtype){ .name = t->name, .level = t->level, .field = m->field };
	for (unsigned i = 0; i < NORIGIN; i++)
		m->origin[i] = (struct evvalue){ .kind = origins[i].kind, .s = "" };
	buf_clear(&m->more);
	m->origin[ORIGIN_TIME].i64 = ev->wall_ns;
	take_constants(m, ev->stream_type);
	take_constants(m, t);
	take_fields(m, ev);
	m->origin[ORIGIN_MORE].n = (uint32_t)m->more.n;
	m->origin[ORIGIN_MORE].s = m->more.n ? (const char *)m->more.p : "";
	for (unsigned i = 0; i < NORIGIN; i++)
		add_field(m, &origins[i], &m->origin[i]);
	return true;
}

/*
 * The lm searches for new types at intervals; after that a subscription gets the events of the
 * type.
 */
static void wait_for_request(struct monitor_out *m, int number)
{
	const struct timespec rest = { .tv_nsec = REST_NS };
	nsec_t began = clock_mono(), until = began + NEW_TYPE_NS;

	if (number < 0 || m->waited >= NEW_TYPES_MAX_NS)
		return;
	while (!__atomic_load_n(&the_link->word[number], __ATOMIC_ACQUIRE) && clock_mono() < until)
		nanosleep(&rest, NULL);
	m->waited += clock_mono() - began;
}

/* *out: the number of the type in the library; negative: the library has no room for the type. */
static int number_of(struct monitor_out *m, int *out, struct err *e)
{
	const struct event ev = { .type = &m->form };
	unsigned number;
	bool is_new;
	int rc = evtypes_number(&m->types, &ev, &number, &is_new, NULL);

	*out = -1;
	if (rc)
		return rc == -ERR_NOMEM ? err_nomem(e) : 0;
	if (is_new) {
		m->announced[number - 1] =
			the_link->announce(m->types.scratch.p, m->types.scratch.n);
		wait_for_request(m, m->announced[number - 1]);
	}
	*out = m->announced[number - 1];
	return 0;
}

static void write_record(struct monitor_out *m)
{
	uint8_t head[EV_RECORD_HEAD_BYTES] = { 0 };
	uint64_t ticks;
	nsec_t ns;
	uint16_t n;

	buf_clear(&m->record);
	ticks_sample(m->ticks, &ticks, &ns);
	memcpy(head + 4, &ticks, sizeof(ticks));
	buf_put(&m->record, head, sizeof(head));
	evtype_put_values(&m->record, m->value, m->form.nfield, false);
	buf_put(&m->record, head, -m->record.n & 3);
	n = (uint16_t)m->record.n;
	memcpy(m->record.p + 2, &n, sizeof(n));
}

/* --- into the ring */

static int put_waiting(struct monitor_out *m, struct err *e)
{
	const struct timespec rest = { .tv_nsec = REST_NS };
	nsec_t until = clock_mono() + WAIT_NS;

	while (!try_event(m->number, m->record.p, m->record.n)) {
		if (clock_mono() >= until)
			return err_set(e, ERR_TIMEOUT,
				       "the lm of this host, or a subscription, takes no events");
		nanosleep(&rest, NULL);
	}
	m->is_waiting = false;
	return 0;
}

static int put_event(struct monitor_out *m, const struct event *ev, struct err *e)
{
	int number = -1, rc = make_form(m, ev) ? number_of(m, &number, e) : 0;

	if (rc)
		return rc;
	if (number < 0 || !evtype_record_bytes(&m->form, m->value, m->form.nfield)) {
		m->counts.left_out++;
		return 0;
	}
	if (!__atomic_load_n(&the_link->word[number], __ATOMIC_ACQUIRE)) {
		m->counts.unrequested++;
		return 0;
	}
	write_record(m);
	if (m->record.failed || m->record.n > RING_EVENT_MAX_BYTES - sizeof(uint64_t)) {
		m->record.failed = false;
		m->counts.left_out++;
		return 0;
	}
	m->number = (unsigned)number;
	m->is_waiting = true;
	return put_waiting(m, e);
}

int monitor_out_block(struct monitor_out *m, const uint8_t *p, const struct evblock *head,
		      struct err *e)
{
	struct event ev;
	size_t used;
	int rc = 0;

	if (!m->read) {
		m->read = evread_new();
		if (!m->read || evread_push(m->read, p, head->bytes, true, &used) < 0)
			rc = err_nomem(e);
	}
	if (!rc && m->is_waiting)
		rc = put_waiting(m, e);
	while (!rc && evread_next(m->read, &ev))
		rc = put_event(m, &ev, e);
	if (rc == -ERR_TIMEOUT)
		return rc;
	evread_free(m->read);
	m->read = NULL;
	return rc;
}

int monitor_out_lost(struct monitor_out *m, uint64_t events, struct err *e)
{
	static const struct evfield field = { "events", EV_INT64 };
	static const struct evtype type = {
		.name = "received.lost", .level = EV_WARN, .nfield = 1, .field = &field
	};
	const struct evvalue value = { .kind = EV_INT64, .i64 = (int64_t)events };
	const struct event ev = { .type = &type, .value = &value, .wall_ns = clock_wall() };

	return m->is_waiting ? put_waiting(m, e) : put_event(m, &ev, e);
}

void monitor_out_counts(const struct monitor_out *m, struct monitor_out_counts *out)
{
	*out = m->counts;
}
