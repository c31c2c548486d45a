/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/form/netthread.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/ring/region.h"
#include "eventlog/text/evout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The meaning of an event's name. */
struct netthread_name {
	enum netweave_kind kind; /* NETWEAVE_OTHER: the event has no meaning */
	bool is_end;
	char text[NAME_MAX_BYTES + 1]; /* name of the region or step */
};

void netthread_init(struct netthread *r, const char *at)
{
	*r = (struct netthread){ .at = at };
	smap_init(&r->names);
}

void netthread_done(struct netthread *r)
{
	for (struct smap_iter i = { 0 }; smap_next(&r->names, &i);)
		free(i.value);
	smap_done(&r->names);
}

/* --- fields */

static bool number_of(const struct event *ev, const char *field, int64_t *out)
{
	const struct evvalue *v = evattr_find(ev, field);
	char text[24];
	uint64_t u;

	if (v && v->kind == EV_INT64)
		*out = v->i64;
	else if (v && v->kind == EV_INT32)
		*out = v->i32;
	else if (v && v->kind == EV_STRING && v->n < sizeof(text)) {
		memcpy(text, v->s, v->n);
		text[v->n] = '\0';
		if (str_to_u64(text, 0, INT64_MAX, &u))
			return false;
		*out = (int64_t)u;
	} else {
		return false;
	}
	return true;
}

static void text_of(const struct event *ev, const char *field, char *out, size_t size)
{
	const struct evvalue *v = evattr_find(ev, field);

	out[0] = '\0';
	if (!v || v->kind != EV_STRING || v->n >= size || !str_is_name(v->s, v->n))
		return;
	memcpy(out, v->s, v->n);
	out[v->n] = '\0';
}

static int read_id(const struct event *ev, const char *field, uint64_t *out, struct err *e)
{
	int64_t id;

	if (!number_of(ev, field, &id) || id <= 0)
		return err_set(e, ERR_INVALID, "field %s is missing, or is not an id from 1 on",
			       field);
	*out = (uint64_t)id;
	return 0;
}

/* --- threads */

static bool is_label(const char *s)
{
	return *s && !s[strcspn(s, " ,+")];
}

/* Of the thread on the node of r. */
static uint64_t key_of(const struct netthread *r, int64_t pid, int64_t tid)
{
	static const struct hash_key of_threads;

	return hash_mix64(hash_sip13(&of_threads, r->node, strlen(r->node)) +
			  hash_mix64((uint64_t)pid << 32 | (uint32_t)tid));
}

void netthread_find(struct netthread *r, const struct event *ev)
{
	int64_t pid = 0, tid = 0, rank;
	char program[NETWEAVE_LABEL_BYTES];
	int n;

	text_of(ev, "HOST", r->node, sizeof(r->node));
	if (!*r->node)
		text_of(ev, "host", r->node, sizeof(r->node));
	text_of(ev, "job", r->job, sizeof(r->job));
	text_of(ev, "PROG", program, sizeof(program));
	number_of(ev, "pid", &pid);
	number_of(ev, "tid", &tid);
	r->thread.key = key_of(r, pid, tid);
	r->thread.job = r->job;
	n = 0;
	if (number_of(ev, "rank", &rank) && rank >= 0 && rank <= INT32_MAX)
		n = snprintf(r->thread.label, NETWEAVE_LABEL_BYTES, "rank%" PRId64, rank);
	if (!n)
		str_copy(r->thread.label, NETWEAVE_LABEL_BYTES,
			 is_label(program) ? program : "thread");
}

/* --- names */

static int put_name(struct netthread *r, const char *event, const struct netthread_name *as,
		    struct err *e)
{
	struct netthread_name *copy, *known = smap_find(&r->names, event);

	if (known) {
		if (known->kind == NETWEAVE_OTHER)
			*known = *as;
		return 0;
	}
	if (r->names.n == NETTHREAD_NAMES_MAX)
		return err_set(e, ERR_LIMIT, "more than %d names of events", NETTHREAD_NAMES_MAX);
	copy = malloc(sizeof(*copy));
	if (!copy)
		return err_nomem(e);
	*copy = *as;
	if (!smap_put(&r->names, event, copy, NULL))
		return 0;
	free(copy);
	return err_nomem(e);
}

/* Writes the name of a region, without the separators of objects. */
static int put_region(struct netthread *r, const struct region *g, struct err *e)
{
	bool is_at = r->at && (str_eq(r->at, g->name) || str_eq(r->at, g->begin));
	struct netthread_name as = { .kind = is_at ? NETWEAVE_BEGIN : NETWEAVE_REGION };
	bool has_end = !is_at || str_eq(r->at, g->name);
	int rc;

	if (!is_label(g->name) || !str_copy(as.text, sizeof(as.text), is_at ? r->at : g->name))
		return 0;
	rc = put_name(r, g->begin, &as, e);
	as.is_end = true;
	as.kind = is_at ? NETWEAVE_END : NETWEAVE_REGION;
	return rc || !has_end ? rc : put_name(r, g->end, &as, e);
}

/* NAME.start and NAME.end. */
static bool from_dotted(const char *event, struct region *out)
{
	static const char *const begins[] = { ".start", ".begin" };
	size_t n = strlen(event), k;

	for (size_t i = 0; i < ARRAY_LEN(begins); i++) {
		k = strlen(begins[i]);
		if (n <= k || n >= sizeof(out->begin) || !str_eq(event + n - k, begins[i]))
			continue;
		snprintf(out->name, sizeof(out->name), "%.*s", (int)(n - k), event);
		snprintf(out->begin, sizeof(out->begin), "%s", event);
		return snprintf(out->end, sizeof(out->end), "%.*s.end", (int)(n - k), event) <
		       (int)sizeof(out->end);
	}
	return false;
}

/* Adds the events of --step or --request: one event, or BEGIN..END. */
static int put_at(struct netthread *r, const char *event, struct err *e)
{
	const char *dots = strstr(r->at, "..");
	size_t n = dots ? (size_t)(dots - r->at) : strlen(r->at);
	struct netthread_name as = { .kind = NETWEAVE_BEGIN };
	bool is_begin = strlen(event) == n && !memcmp(event, r->at, n), is_end;
	int rc = 0;

	is_end = dots && str_eq(event, dots + 2);
	if (!is_begin && !is_end)
		return 0;
	snprintf(as.text, sizeof(as.text), "%.*s", (int)n, r->at);
	if (is_begin)
		rc = put_name(r, event, &as, e);
	as.kind = NETWEAVE_END;
	return rc || !dots ? rc : put_name(r, dots + 2, &as, e);
}

static int learn(struct netthread *r, const char *event, struct err *e)
{
	const struct netthread_name nothing = { .kind = NETWEAVE_OTHER };
	struct region g;
	int rc = r->at ? put_at(r, event, e) : 0;

	for (unsigned way = 0; way < REGION_WAYS && !rc; way++)
		if (region_from_begin(event, way, &g))
			rc = put_region(r, &g, e);
	if (!rc && from_dotted(event, &g))
		rc = put_region(r, &g, e);
	return rc ? rc : put_name(r, event, &nothing, e);
}

/* --- events */

/* Bytes of a stream, up to `end`. Ids of streams are hashes: any number. */
static int read_stream(struct netthread *r, const struct event *ev, struct err *e)
{
	struct netweave_event *out = &r->event;
	int64_t stream, end, v = 0;

	if (!number_of(ev, "stream", &stream) || !number_of(ev, "end", &end) || end < 0)
		return err_set(e, ERR_INVALID, "fields stream and end are missing");
	out->id = (uint64_t)stream;
	out->other = (uint64_t)end;
	out->is_unsent = number_of(ev, "unsent", &v) && v;
	return 0;
}

/* child: the process, whose first thread has the same number. */
static int read_child(struct netthread *r, const struct event *ev, struct err *e)
{
	int64_t child;

	if (!number_of(ev, "child", &child) || child <= 0 || child > INT32_MAX)
		return err_set(e, ERR_INVALID, "field child is missing, or is not a process");
	netthread_find(r, ev);
	r->event.other = key_of(r, child, child);
	return 0;
}

/* Of programs without MPI. */
static int read_process(struct netthread *r, const struct event *ev, const char *word,
			struct err *e)
{
	static const struct {
		const char *word;
		enum netweave_kind kind;
		int (*read)(struct netthread *r, const struct event *ev, struct err *e);
	} kinds[] = {
		{ "write", NETWEAVE_WRITE, read_stream }, { "read", NETWEAVE_READ, read_stream },
		{ "spawn", NETWEAVE_SPAWN, read_child },  { "reap", NETWEAVE_REAP, read_child },
		{ "exec", NETWEAVE_EXEC, NULL },	  { "exit", NETWEAVE_EXIT, NULL }
	};
	int64_t v = 0;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		int rc;

		if (!str_eq(word, kinds[i].word))
			continue;
		r->event.kind = kinds[i].kind;
		r->event.is_uncertain = number_of(ev, "uncertain", &v) && v;
		rc = kinds[i].read ? kinds[i].read(r, ev, e) : 0;
		return rc ? rc : 1;
	}
	return 0;
}

static int read_recorded(struct netthread *r, const struct event *ev, const char *word,
			 struct err *e)
{
	struct netweave_event *out = &r->event;
	int64_t v = 0, ranks = 0;
	int rc = 0;

	if (str_eq(word, "send")) {
		out->kind = NETWEAVE_SEND;
		rc = read_id(ev, "new", &out->id, e);
	} else if (str_eq(word, "sent")) {
		out->kind = NETWEAVE_SENT;
		rc = read_id(ev, "message", &out->id, e);
	} else if (str_eq(word, "receive")) {
		out->kind = NETWEAVE_RECEIVE;
		rc = read_id(ev, "with", &out->id, e);
	} else if (str_eq(word, "meet")) {
		out->kind = NETWEAVE_MEET;
		rc = read_id(ev, "call", &out->id, e);
		if (!rc && (!number_of(ev, "ranks", &ranks) || ranks < 1 ||
			    ranks > NETWEAVE_THREADS_MAX || !number_of(ev, "role", &v)))
			rc = err_set(e, ERR_INVALID, "fields ranks and role are missing");
		out->ranks = (int32_t)ranks;
		out->roles = (int32_t)v & (NETWEAVE_GIVES | NETWEAVE_TAKES);
		out->is_uncertain = v & NETTHREAD_UNCERTAIN;
	} else if (str_eq(word, "wait")) {
		out->kind = NETWEAVE_WAIT;
	} else {
		return read_process(r, ev, word, e);
	}
	if (!rc && number_of(ev, "uncertain", &v) && v)
		out->is_uncertain = true;
	return rc ? rc : 1;
}

static int read_other(struct netthread *r, const struct event *ev, struct err *e)
{
	const struct netthread_name *as = smap_find(&r->names, ev->type->name);
	int64_t number;
	int rc = as ? 0 : learn(r, ev->type->name, e);

	if (rc)
		return rc;
	as = smap_find(&r->names, ev->type->name);
	if (!as || as->kind == NETWEAVE_OTHER)
		return 0;
	r->event.kind = as->kind;
	r->event.is_end = as->is_end;
	r->event.name = as->text;
	r->event.n = strlen(as->text);
	r->event.has_number = number_of(ev, "vt", &number) && number >= 0;
	if (r->event.has_number)
		r->event.id = (uint64_t)number;
	return 1;
}

int netthread_read(struct netthread *r, const struct event *ev, struct err *e)
{
	static const char prefix[] = "interaction.";
	size_t n = strlen(prefix);
	int got;

	r->event = (struct netweave_event){ .kind = NETWEAVE_OTHER, .t = ev->wall_ns };
	got = strncmp(ev->type->name, prefix, n) ? read_other(r, ev, e)
						 : read_recorded(r, ev, ev->type->name + n, e);
	if (got == 1)
		netthread_find(r, ev);
	return got;
}
