/* SPDX-License-Identifier: Apache-2.0 */
/* Networks for other programs: Graphviz, trace viewers, collectors of spans. */
#include "common/base/hash.h"
#include "common/base/str.h"
#include "common/json/json.h"
#include "eventlog/lifeline/lifewords.h"
#include "interaction/picture/netlayout.h"
#include "interaction/picture/netpicture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int end(const struct buf *out, int rc, struct err *e)
{
	return rc || out->failed ? err_set(e, ERR_LIMIT, "a file of more than %u MiB",
					   NETPICTURE_MAX_BYTES >> 20)
				 : 0;
}

/* --- Graphviz */

static void put_quoted(struct buf *out, const char *s)
{
	buf_putc(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_putc(out, '\\');
		buf_putc(out, (uint8_t)*s);
	}
	buf_putc(out, '"');
}

static void put_edge(struct buf *out, const struct network *w, const struct network_arc *a,
		     bool is_on)
{
	char time[LIFEWORDS_TIME_BYTES];

	buf_printf(out, "\tv%" PRIu32 " -> v%" PRIu32 " [label=\"%s\"%s%s%s];\n", a->tail, a->head,
		   lifewords_time(time, network_length(w, a)), a->blocks ? ", style=dashed" : "",
		   is_on ? ", penwidth=3, color=\"#d4580b\"" : "",
		   netlayout_is_message(w, a) ? ", constraint=true, arrowhead=vee" : "");
}

int netpicture_dot(struct buf *out, const struct netpicture *p, struct err *e)
{
	const struct network *w = p->w;
	struct netlayout l;
	int rc = netlayout_make(&l, w, &p->a->path, e);

	if (rc)
		return rc;
	buf_puts(out, "digraph ");
	put_quoted(out, *p->name ? p->name : "interaction");
	buf_puts(out, " {\n\tnode [shape=circle, fontsize=10];\n\tedge [fontsize=9];\n");
	for (uint32_t i = 0; i < w->n; i++) {
		char name[NETWORK_NAME_BYTES];

		buf_printf(out, "\tv%" PRIu32 " [label=", i);
		put_quoted(out, network_name(w, i, name));
		buf_printf(out, ", group=\"t%" PRIu32 "\"];\n", w->v[i].task);
	}
	for (uint32_t i = 0; i < w->n; i++)
		for (int k = 0; k < 2; k++) {
			struct network_arc a;

			if (network_arc(w, i, k, &a))
				put_edge(out, w, &a,
					 l.on_path[i] & (k ? NETLAYOUT_ENDING : NETLAYOUT_OWN));
		}
	buf_puts(out, "}\n");
	netlayout_done(&l);
	return end(out, 0, e);
}

/* --- trace events: times are microseconds since the source */

static void put_head(struct json *j, const struct network *w, uint32_t v, const char *phase,
		     const struct netlayout *l)
{
	const struct network_vertex *x = &w->v[v];

	json_object(j);
	json_key_str(j, "ph", phase);
	json_key_double(j, "ts", (double)(x->t - w->v[w->v0].t) / 1000);
	json_key_i64(j, "pid", x->node == NETWORK_NONE ? 0 : (int64_t)x->node);
	json_key_i64(j, "tid", l->column[x->task]);
}

/* An arc of a thread is a slice in its column. */
static void put_slice(struct json *j, const struct netpicture *p, const struct network_arc *a,
		      const struct netlayout *l)
{
	const struct network *w = p->w;
	struct buf use = BUF_INIT(NETUSE_MAX_BYTES);

	netuse_put(w->use, a->use, &use);
	put_head(j, w, a->tail, "X", l);
	json_key_double(j, "dur", (double)network_length(w, a) / 1000);
	json_key_str(j, "name", a->blocks ? "waits" : use.n ? buf_str(&use) : "no object");
	json_key_str(j, "cat", a->blocks ? "wait" : "arc");
	json_key_object(j, "args");
	json_key_u64(j, "subtask", network_id(w, a->task));
	json_object_end(j);
	json_object_end(j);
	buf_done(&use);
}

static void put_flow(struct json *j, const struct network *w, const struct network_arc *a,
		     const struct netlayout *l)
{
	for (int k = 0; k < 2; k++) {
		put_head(j, w, k ? a->head : a->tail, k ? "f" : "s", l);
		json_key_str(j, "name", "message");
		json_key_str(j, "cat", "message");
		json_key_u64(j, "id", (uint64_t)a->head * 2 + (a->task != w->v[a->head].task));
		if (k)
			json_key_str(j, "bp", "e");
		json_object_end(j);
	}
}

static void put_names(struct json *j, const struct netpicture *p, const struct netlayout *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct netlayout_column *c = &l->head[i];
		bool is_known = c->node != NETWORK_NONE;
		char text[32];

		snprintf(text, sizeof(text), "sub-task %" PRIu64, network_id(p->w, c->first));
		for (int k = 0; k < 2; k++) {
			json_object(j);
			json_key_str(j, "ph", "M");
			json_key_str(j, "name", k ? "thread_name" : "process_name");
			json_key_i64(j, "pid", is_known ? (int64_t)c->node : 0);
			json_key_u64(j, "tid", i);
			json_key_object(j, "args");
			json_key_str(j, "name", k ? text : is_known ? p->node[c->node] : p->name);
			json_object_end(j);
			json_object_end(j);
		}
	}
}

int netpicture_chrome(struct buf *out, const struct netpicture *p, struct err *e)
{
	const struct network *w = p->w;
	struct netlayout l;
	struct json j;
	int rc = netlayout_make(&l, w, &p->a->path, e);

	if (rc)
		return rc;
	json_init(&j, out);
	json_object(&j);
	json_key_str(&j, "displayTimeUnit", "ns");
	json_key_array(&j, "traceEvents");
	put_names(&j, p, &l);
	for (uint32_t i = 0; i < w->n; i++)
		for (int k = 0; k < 2; k++) {
			struct network_arc a;

			if (!network_arc(w, i, k, &a))
				continue;
			if (w->v[a.tail].task == a.task)
				put_slice(&j, p, &a, &l);
			if (netlayout_is_message(w, &a))
				put_flow(&j, w, &a, &l);
		}
	json_array_end(&j);
	json_object_end(&j);
	rc = json_end(&j);
	buf_putc(out, '\n');
	netlayout_done(&l);
	return end(out, rc, e);
}

/* --- spans: ids are hashes of the names, so that they are the same each time */

static void put_id(struct json *j, const char *key, uint64_t high, uint64_t low, bool is_trace)
{
	char text[40];

	if (is_trace)
		snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, high, low);
	else
		snprintf(text, sizeof(text), "%016" PRIx64, low);
	json_key_str(j, key, text);
}

static uint64_t span_id(const struct network *w, uint32_t task)
{
	uint64_t id = hash_mix64(network_id(w, task) + 1);

	return id ? id : 1;
}

static void put_time(struct json *j, const char *key, int64_t t)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, t);
	json_key_str(j, key, text);
}

/* Puts a link to each sub-task that ends at a join of this one. */
static void put_links(struct json *j, const struct network *w, uint32_t task, uint64_t trace)
{
	json_key_array(j, "links");
	for (uint32_t v = w->task[task].last; v != NETWORK_NONE && w->v[v].task == task;
	     v = w->v[v].tail)
		if (w->v[v].kind == NETWORK_JOIN) {
			json_object(j);
			put_id(j, "traceId", trace, ~trace, true);
			put_id(j, "spanId", 0, span_id(w, w->v[v].other), false);
			json_object_end(j);
		}
	json_array_end(j);
}

static void put_span(struct json *j, const struct network *w, uint32_t task, uint64_t trace)
{
	const struct network_task *t = &w->task[task];
	char name[32];

	snprintf(name, sizeof(name), "sub-task %" PRIu64, t->id);
	json_object(j);
	put_id(j, "traceId", trace, ~trace, true);
	put_id(j, "spanId", 0, span_id(w, task), false);
	if (w->v[t->creator].task != task)
		put_id(j, "parentSpanId", 0, span_id(w, w->v[t->creator].task), false);
	json_key_str(j, "name", name);
	put_time(j, "startTimeUnixNano", w->v[t->creator].t);
	put_time(j, "endTimeUnixNano", w->v[t->ender].t);
	put_links(j, w, task, trace);
	json_object_end(j);
}

int netpicture_otlp(struct buf *out, const struct netpicture *p, struct err *e)
{
	static const struct hash_key key = { 0x6f6d6967, 1991 };
	uint64_t trace = hash_sip24(&key, p->name, strlen(p->name)) | 1;
	struct json j;
	int rc;

	json_init(&j, out);
	json_object(&j);
	json_key_array(&j, "resourceSpans");
	json_object(&j);
	json_key_array(&j, "scopeSpans");
	json_object(&j);
	json_key_array(&j, "spans");
	for (uint32_t i = 0; i < p->w->ntask; i++)
		put_span(&j, p->w, i, trace);
	json_array_end(&j);
	json_object_end(&j);
	json_array_end(&j);
	json_object_end(&j);
	json_array_end(&j);
	json_object_end(&j);
	rc = json_end(&j);
	buf_putc(out, '\n');
	return end(out, rc, e);
}
