/* SPDX-License-Identifier: Apache-2.0 */
/* JSON lines, Chrome's trace events, OTLP's logs. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/json/json.h"
#include "eventlog/text/evout.h"
#include "eventlog/text/evwords.h"

#include <math.h>

/*
 * Writes a value. Values without a JSON form become strings: "nan", "inf"; bytes that are not UTF-8
 * become C escapes.
 */
static void put_value(struct json *j, const struct evvalue *v)
{
	struct buf b = BUF_INIT(EVOUT_MAX_BYTES);
	double d = v->kind == EV_FLOAT ? (double)v->f32 : v->f64;

	if (v->kind == EV_INT32 || v->kind == EV_INT64) {
		json_i64(j, v->kind == EV_INT32 ? v->i32 : v->i64);
	} else if (v->kind == EV_DOUBLE && isfinite(d)) {
		json_double(j, d);
	} else if (v->kind == EV_FLOAT && isfinite(d)) {
		char text[STR_DOUBLE_BYTES];

		/* Writes 0.1f as 0.1, not as 0.10000000149011612. */
		str_to_double(str_from_float(text, v->f32), -HUGE_VAL, HUGE_VAL, &d);
		json_double(j, d);
	} else if (v->kind == EV_STRING && str_is_utf8(v->s, v->n)) {
		json_str_n(j, v->s, v->n);
	} else {
		if (v->kind == EV_STRING)
			evwords_put_escaped(&b, v->s, v->n);
		else
			evwords_put_number(&b, v);
		json_str_n(j, b.p, b.n);
	}
	buf_done(&b);
}

static void put_name(struct json *j, const char *name)
{
	struct buf b = BUF_INIT(EVOUT_MAX_BYTES);

	if (str_is_utf8(name, strlen(name))) {
		json_key(j, name);
	} else {
		evwords_put_escaped(&b, name, strlen(name));
		json_key(j, buf_str(&b));
	}
	buf_done(&b);
}

static void put_attrs(struct json *j, const struct event *ev)
{
	struct evattr_iter i = { .ev = ev };
	struct evattr a;

	json_object(j);
	while (evattr_next(&i, &a)) {
		put_name(j, a.name);
		put_value(j, a.value);
	}
	json_object_end(j);
}

static void put_key_text(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_str_n(j, s, strlen(s));
}

/* --- an object per line */

static void put_line(struct evout *o, const struct event *ev)
{
	struct json j;
	char time[EVWORDS_TIME_BYTES], stream[20];

	json_init(&j, &o->b);
	json_object(&j);
	json_key(&j, "ts");
	json_str_n(&j, time, evwords_time_iso(time, ev->wall_ns));
	put_key_text(&j, "event", ev->type->name);
	if (ev->type->level)
		put_key_text(&j, "level", evlevel_name(ev->type->level));
	snprintf(stream, sizeof(stream), "%016llx", (unsigned long long)ev->stream);
	put_key_text(&j, "stream", stream);
	json_key_u64(&j, "number", ev->number);
	json_key(&j, "fields");
	put_attrs(&j, ev);
	json_object_end(&j);
	o->b.failed |= json_end(&j) != 0;
	buf_putc(&o->b, '\n');
}

/* --- Chrome: spans for names in .start and .end with an id; marks for other events */

/* Returns the phase of the event, and the length of the name of its span. */
static const char *phase_of(const char *name, size_t *n)
{
	static const char *const ends[] = { ".start", ".end" };

	*n = strlen(name);
	for (unsigned i = 0; i < ARRAY_LEN(ends); i++) {
		size_t len = strlen(ends[i]);

		if (*n > len && str_eq(name + *n - len, ends[i])) {
			*n -= len;
			return i ? "e" : "b";
		}
	}
	return "i";
}

static void put_where(struct json *j, const struct event *ev)
{
	static const char *const names[] = { "pid", "tid" };

	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		const struct evvalue *v = evattr_find(ev, names[i]);

		json_key(j, names[i]);
		if (v && v->kind == EV_INT32)
			json_i64(j, v->i32);
		else /* streams stay separate, with or without a description */
			json_u64(j, ev->stream & 0x7fffffff);
	}
}

static void put_id(struct json *j, const struct evvalue *v)
{
	struct buf b = BUF_INIT(EVOUT_MAX_BYTES);

	if (v->kind == EV_STRING)
		evwords_put_escaped(&b, v->s, v->n);
	else
		evwords_put_number(&b, v);
	json_key(j, "id");
	json_str_n(j, b.p, b.n);
	buf_done(&b);
}

/*
 * Writes microseconds since the first event, with three digits of nanoseconds. Since 1970 they
 * would not fit a double.
 */
static void put_micros(struct evout *o, struct json *j, nsec_t wall)
{
	json_key_double(j, "ts", (double)((uint64_t)wall - (uint64_t)o->start) / 1e3);
}

static void put_chrome(struct evout *o, const struct event *ev)
{
	const struct evvalue *id = evattr_find_id(ev);
	struct json j;
	size_t n;
	const char *phase = phase_of(ev->type->name, &n);

	if (phase[0] != 'i' && !id)
		phase = phase[0] == 'b' ? "B" : "E";
	buf_puts(&o->b, o->n ? ",\n" : "\n");
	json_init(&j, &o->b);
	json_object(&j);
	json_key(&j, "name");
	json_str_n(&j, ev->type->name, n);
	put_key_text(&j, "cat", "event");
	put_key_text(&j, "ph", phase);
	if (phase[0] == 'i')
		put_key_text(&j, "s", "t");
	else if (id)
		put_id(&j, id);
	put_micros(o, &j, ev->wall_ns);
	put_where(&j, ev);
	json_key(&j, "args");
	put_attrs(&j, ev);
	json_object_end(&j);
	o->b.failed |= json_end(&j) != 0;
}

/* --- OTLP: the log records of one stream in one request */

static void put_any(struct json *j, const struct evvalue *v)
{
	char text[24];

	json_key_object(j, "value");
	/* 64-bit numbers are strings in the JSON of protobuf */
	if (v->kind == EV_INT32 || v->kind == EV_INT64) {
		snprintf(text, sizeof(text), "%lld",
			 (long long)(v->kind == EV_INT32 ? v->i32 : v->i64));
		put_key_text(j, "intValue", text);
	} else if (v->kind == EV_STRING) {
		json_key(j, "stringValue");
		put_value(j, v);
	} else {
		double d = v->kind == EV_FLOAT ? (double)v->f32 : v->f64;

		json_key(j, "doubleValue");
		if (isfinite(d))
			put_value(j, v);
		else
			json_str(j, isnan(d) ? "NaN" : d > 0 ? "Infinity" : "-Infinity");
	}
	json_object_end(j);
}

static void put_otlp_attrs(struct json *j, const struct event *ev)
{
	struct evattr_iter i = { .ev = ev };
	struct evattr a;

	json_array(j);
	while (evattr_next(&i, &a)) {
		json_object(j);
		put_key_text(j, "key", a.name);
		put_any(j, a.value);
		json_object_end(j);
	}
	json_array_end(j);
}

#define OTLP_HEAD                                                                               \
	"{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":\"omig.stream\",\"value\":" \
	"{\"stringValue\":\"%016llx\"}}]},\"scopeLogs\":[{\"scope\":{\"name\":\"omig\"},\"logRecords\":["
#define OTLP_TAIL "]}]}]}\n"
#define OTLP_RECORDS 1000 /* records per request: collectors refuse more than some MiB */

static void put_otlp(struct evout *o, const struct event *ev)
{
	/* OpenTelemetry's numbers of FATAL ERROR WARN INFO DEBUG TRACE TRACE TRACE */
	static const unsigned severity[EV_NLEVELS] = { 0, 21, 17, 13, 9, 5, 1, 1, 1 };
	bool is_first = !o->n || o->stream != ev->stream || o->n % OTLP_RECORDS == 0;
	char time[24];
	struct json j;

	if (is_first && o->n)
		buf_puts(&o->b, OTLP_TAIL);
	if (is_first)
		buf_printf(&o->b, OTLP_HEAD, (unsigned long long)ev->stream);
	else
		buf_putc(&o->b, ',');
	json_init(&j, &o->b);
	json_object(&j);
	snprintf(time, sizeof(time), "%llu",
		 (unsigned long long)(ev->wall_ns > 0 ? ev->wall_ns : 0));
	put_key_text(&j, "timeUnixNano", time);
	if (ev->type->level) {
		json_key_u64(&j, "severityNumber", severity[ev->type->level]);
		put_key_text(&j, "severityText", evlevel_name(ev->type->level));
	}
	put_key_text(&j, "eventName", ev->type->name);
	json_key(&j, "attributes");
	put_otlp_attrs(&j, ev);
	json_object_end(&j);
	o->b.failed |= json_end(&j) != 0;
}

/* --- all JSON formats */

void evout_json_begin(struct evout *o)
{
	if (o->form == EVOUT_CHROME)
		buf_puts(&o->b, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void evout_json_event(struct evout *o, const struct event *ev)
{
	if (o->form == EVOUT_JSON)
		put_line(o, ev);
	else if (o->form == EVOUT_CHROME)
		put_chrome(o, ev);
	else
		put_otlp(o, ev);
}

void evout_json_end(struct evout *o)
{
	char time[EVWORDS_TIME_BYTES];

	if (o->form == EVOUT_CHROME) {
		size_t n = evwords_time_iso(time, o->start);

		buf_printf(&o->b, "\n],\"otherData\":{\"start\":\"%.*s\"}}\n", (int)n, time);
	} else if (o->form == EVOUT_OTLP && o->n) {
		buf_puts(&o->b, OTLP_TAIL);
	}
}
