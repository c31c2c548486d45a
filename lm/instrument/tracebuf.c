/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/instrument/tracebuf.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/limits.h"
#include "common/container/map.h"
#include "common/omis/text/token.h"
#include "lm/proc/proc.h"

#include <stdlib.h>
#include <string.h>

struct part {
	struct proc *proc;
	struct buf text; /* records, each with its length in front */
	uint64_t first; /* number of the oldest record */
	uint64_t n, dropped;
	bool is_full; /* a record was dropped since the last read */
};

struct tracebuf {
	struct tracebufs *owner;
	struct token token;
	uint32_t tool;
	struct part **part; /* in the order of making */
	size_t n, cap;
};

struct tracebufs {
	struct procs *procs;
	struct procs_listener listener;
	struct smap all; /* token -> struct tracebuf, owned */
	size_t bytes; /* bytes of all records */
	uint64_t dropped;
};

static struct part *find_part(const struct tracebuf *b, const struct proc *p)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->part[i]->proc == p)
			return b->part[i];
	return NULL;
}

static void part_free(struct tracebufs *s, struct part *part)
{
	s->bytes -= part->text.n;
	buf_done(&part->text);
	free(part);
}

static void forget_proc(struct tracebuf *b, const struct proc *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->n; i++) {
		if (b->part[i]->proc == p)
			part_free(b->owner, b->part[i]);
		else
			b->part[kept++] = b->part[i];
	}
	b->n = kept;
}

/* Records of an ended process are readable as long as the process is known. */
static void on_proc(void *arg, struct proc *p, enum proc_event what)
{
	struct tracebufs *s = arg;
	struct smap_iter i = { 0 };

	while (what == PROC_FORGOTTEN && smap_next(&s->all, &i))
		forget_proc(i.value, p);
}

struct tracebufs *tracebufs_new(struct procs *procs)
{
	struct tracebufs *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->procs = procs;
	smap_init(&s->all);
	s->listener = (struct procs_listener){ .on_proc = on_proc, .arg = s };
	procs_listen(procs, &s->listener);
	return s;
}

static void tracebuf_free(struct tracebuf *b)
{
	for (size_t i = 0; i < b->n; i++)
		part_free(b->owner, b->part[i]);
	free(b->part);
	free(b);
}

void tracebufs_free(struct tracebufs *s)
{
	struct smap_iter i = { 0 };

	if (!s)
		return;
	while (smap_next(&s->all, &i))
		tracebuf_free(i.value);
	smap_done(&s->all);
	procs_unlisten(&s->listener);
	free(s);
}

struct tracebuf *tracebufs_find(struct tracebufs *s, const char *token, uint32_t tool)
{
	struct tracebuf *b = smap_find(&s->all, token);

	return b && b->tool == tool ? b : NULL;
}

static int make(struct tracebufs *s, const char *token, uint32_t tool, struct tracebuf **out,
		struct err *e)
{
	struct token_parts parts;
	struct tracebuf *b;

	if (token_parse(token, strlen(token), &parts) || parts.kind != TOKEN_TRACE_BUFFER)
		return err_set(e, ERR_INVALID, "this is not a trace buffer");
	if (s->all.n >= TRACE_BUFFERS_MAX)
		return err_set(e, ERR_LIMIT, "there are %d trace buffers already",
			       TRACE_BUFFERS_MAX);
	b = calloc(1, sizeof(*b));
	if (!b)
		return err_nomem(e);
	b->owner = s;
	b->tool = tool;
	token_print(&b->token, &parts);
	if (smap_put(&s->all, token, b, NULL)) {
		free(b);
		return err_nomem(e);
	}
	*out = b;
	return 0;
}

int tracebufs_get(struct tracebufs *s, const char *token, uint32_t tool, struct tracebuf **out,
		  struct err *e)
{
	struct tracebuf *b = smap_find(&s->all, token);

	if (!b)
		return make(s, token, tool, out, e);
	if (b->tool != tool)
		return err_set(e, ERR_DENIED, "the trace buffer belongs to another tool");
	*out = b;
	return 0;
}

const char *tracebuf_token(const struct tracebuf *b)
{
	return b->token.s;
}

void tracebufs_delete(struct tracebufs *s, struct tracebuf *b)
{
	smap_del(&s->all, b->token.s);
	tracebuf_free(b);
}

void tracebufs_tool_gone(struct tracebufs *s, uint32_t tool)
{
	struct smap_iter i = { 0 };

	while (smap_next(&s->all, &i)) {
		struct tracebuf *b = i.value;

		if (b->tool == tool)
			tracebufs_delete(s, b);
	}
}

static int get_part(struct tracebuf *b, struct proc *p, struct part **out, struct err *e)
{
	struct part *part = find_part(b, p);
	int rc = 0;

	*out = part;
	if (part)
		return 0;
	rc = array_grow(&b->part, &b->cap, b->n + 1, sizeof(struct part *),
			PROCS_MAX + PROCS_ENDED_MAX);
	part = rc ? NULL : calloc(1, sizeof(*part));
	if (!part)
		return err_nomem(e);
	part->proc = p;
	buf_init(&part->text, TRACE_PART_MAX_BYTES);
	b->part[b->n++] = part;
	*out = part;
	return 0;
}

int tracebuf_add_proc(struct tracebuf *b, struct proc *p, struct err *e)
{
	struct part *part;

	return get_part(b, p, &part, e);
}

static int drop(struct tracebuf *b, struct part *part, bool is_too_long, struct err *e)
{
	bool was_full = part->is_full;

	part->dropped++;
	b->owner->dropped++;
	part->is_full = true;
	if (was_full)
		return 0;
	return is_too_long ? err_set(e, ERR_LIMIT, "a record is %d bytes at most",
				     TRACE_RECORD_MAX_BYTES)
			   : err_set(e, ERR_NOMEM, "the trace buffer is full");
}

/* Each record is preceded by its length: a binary value may contain any byte. */
static int put(struct tracebuf *b, struct part *part, const struct buf *record, struct err *e)
{
	struct tracebufs *s = b->owner;
	size_t n = record->n + sizeof(uint32_t);

	if (record->failed)
		return drop(b, part, true, e);
	if (s->bytes + n > TRACE_ALL_MAX_BYTES || part->text.n + n > TRACE_PART_MAX_BYTES ||
	    buf_reserve(&part->text, n))
		return drop(b, part, false, e);
	buf_put_u32le(&part->text, (uint32_t)record->n);
	buf_put(&part->text, record->p, record->n);
	s->bytes += n;
	part->n++;
	return 0;
}

static int put_in_all(struct tracebuf *b, const struct buf *record, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < b->n; i++) {
		int failed = put(b, b->part[i], record, e);

		rc = rc ? rc : failed;
	}
	return rc;
}

static void print(struct buf *out, const struct omis_value *record, size_t n)
{
	struct omis_writer w = OMIS_WRITER(out);

	omis_write_list(&w);
	for (size_t i = 0; i < n; i++)
		omis_write_value(&w, &record[i]);
	omis_write_list_end(&w);
}

int tracebuf_append(struct tracebuf *b, struct proc *p, const struct omis_value *record, size_t n,
		    struct err *e)
{
	struct buf text = BUF_INIT(TRACE_RECORD_MAX_BYTES);
	struct part *part = NULL;
	int rc = p ? get_part(b, p, &part, e) : 0;

	if (rc)
		return rc;
	print(&text, record, n);
	rc = part ? put(b, part, &text, e) : put_in_all(b, &text, e);
	buf_done(&text);
	return rc;
}

const struct proc *tracebuf_proc_at(const struct tracebuf *b, size_t i)
{
	return i < b->n ? b->part[i]->proc : NULL;
}

static uint32_t length_at(const struct buf *b, size_t at)
{
	const uint8_t *p = (const uint8_t *)b->p + at;

	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Returns how many of the oldest records fit, and their size. */
static uint64_t reach(const struct part *part, int64_t max, size_t bytes, size_t *end)
{
	uint64_t n = 0;

	*end = 0;
	while (n < part->n && (int64_t)n < max && (n == 0 || *end < bytes)) {
		*end += sizeof(uint32_t) + length_at(&part->text, *end);
		n++;
	}
	return n;
}

void tracebuf_take(struct tracebuf *b, size_t i, int64_t max, size_t bytes, struct omis_writer *w)
{
	struct part *part = b->part[i];
	size_t end, at = 0;
	uint64_t n = reach(part, max, bytes, &end);

	omis_write_int(w, (int64_t)part->first);
	omis_write_int(w, (int64_t)(part->n - n));
	omis_write_int(w, (int64_t)part->dropped);
	while (at < end) {
		uint32_t len = length_at(&part->text, at);

		buf_putc(w->b, ',');
		buf_put(w->b, part->text.p + at + sizeof(len), len);
		at += sizeof(len) + len;
	}
	if (w->b->failed)
		return;
	buf_drop_front(&part->text, end);
	b->owner->bytes -= end;
	part->first += n;
	part->n -= n;
	part->is_full = false;
}

void tracebufs_stats(const struct tracebufs *s, struct tracebuf_stats *out)
{
	*out = (struct tracebuf_stats){ s->all.n, s->bytes, s->dropped };
}
