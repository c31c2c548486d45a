/* SPDX-License-Identifier: Apache-2.0 */
/* Services on trace buffers. */
#include "common/base/buf.h"
#include "common/base/limits.h"
#include "lm/service/families.h"
#include "lm/instrument/tracebuf.h"

static struct tracebufs *tracebufs_of(const struct service_call *c)
{
	const struct tool_objects *of = c->of;

	return of->tracebufs;
}

static int add_proc(struct service_call *c, struct proc *p, struct err *e)
{
	struct tracebuf *b;
	int rc;

	if (!p->held)
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	rc = tracebufs_get(tracebufs_of(c), call_text(c, 1), c->tool, &b, e);
	return rc ? rc : tracebuf_add_proc(b, p, e);
}

int tracebuf_create(struct service_call *c)
{
	struct tracebuf *b;
	struct err e = { 0 };
	int rc = tracebufs_get(tracebufs_of(c), call_text(c, 1), c->tool, &b, &e);

	if (rc)
		return reply_add_error(c->reply, c->action, "", status_from_err(rc), "%s", e.text);
	return call_each_proc(c, add_proc);
}

/*
 * Appends a record. After a restart of the lm, events that are still enabled create their buffer
 * again.
 */
static int append(struct service_call *c, struct err *e)
{
	struct tracebuf *b = tracebufs_find(tracebufs_of(c), call_text(c, 0), c->tool);
	int rc;

	if (c->is_proc_gone || (!c->proc && !b))
		return err_set(e, ERR_NOTFOUND,
			       c->proc || b ? "the process of the event is forgotten"
					    : "there is no such object");
	rc = tracebufs_get(tracebufs_of(c), call_text(c, 0), c->tool, &b, e);
	return rc ? rc : tracebuf_append(b, c->proc, &c->call->param[1], 3, e);
}

static int serve_tracebuf_append(struct service_call *c)
{
	struct err e = { 0 };
	int rc = append(c, &e);

	call_count_object(c);
	if (rc)
		return call_add_failure(c, call_text(c, 0), rc, &e);
	return reply_add(c->reply, c->action, call_text(c, 0), STATUS_OK, NULL);
}

static size_t parts_of(const struct tracebuf *b)
{
	size_t n = 0;

	while (tracebuf_proc_at(b, n))
		n++;
	return n;
}

static int read_part(struct service_call *c, struct tracebuf *b, size_t i, size_t bytes)
{
	struct buf text = BUF_INIT(TRACE_PART_MAX_BYTES + TRACE_RECORD_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&text);

	omis_write_token(&w, tracebuf_token(b));
	tracebuf_take(b, i, call_int(c, 1), bytes, &w);
	return call_add_values(c, tracebuf_proc_at(b, i)->token.s, &text);
}

static int read_one(struct service_call *c, struct tracebuf *b, size_t share)
{
	size_t n = parts_of(b), bytes = n ? share / n : 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++)
		rc = read_part(c, b, i, bytes);
	return rc;
}

/* Calls fn for each known buffer of the list. Unknown buffers get an entry, unless `quiet`. */
static int each_buffer(struct service_call *c, bool quiet,
		       int (*fn)(struct service_call *, struct tracebuf *, size_t share))
{
	const struct omis_value *list = &c->call->param[0];
	int got = 0;

	c->reply->coverage.asked += (uint32_t)list->list.n;
	c->reply->coverage.answered += (uint32_t)list->list.n;
	for (size_t i = 0; got >= 0 && i < list->list.n; i++) {
		const char *token = omis_value_text(&list->list.v[i], NULL);
		struct tracebuf *b = token ? tracebufs_find(tracebufs_of(c), token, c->tool) : NULL;

		if (b)
			got = fn(c, b, TRACE_READ_MAX_BYTES / list->list.n);
		else if (!quiet)
			got = reply_add_error(c->reply, c->action, token ? token : "",
					      STATUS_UNKNOWN_OBJECT, "there is no such object");
	}
	return got;
}

static int serve_tracebuf_read(struct service_call *c)
{
	if (call_int(c, 1) < 0)
		return reply_add_error(c->reply, c->action, "", STATUS_PARAMETER_ERROR,
				       "max is a number of records");
	reply_add_time(c->reply, call_now(c), call_now(c));
	return each_buffer(c, false, read_one);
}

static int delete_one(struct service_call *c, struct tracebuf *b, size_t share)
{
	tracebufs_delete(tracebufs_of(c), b);
	return 0;
}

static int serve_tracebuf_delete(struct service_call *c)
{
	return each_buffer(c, true, delete_one);
}

const struct service tracebuf_services[] = {
	{ "trace_buffer_append", serve_tracebuf_append },
	{ "trace_buffer_delete", serve_tracebuf_delete },
	{ "trace_buffer_read", serve_tracebuf_read },
	{ NULL, NULL },
};
