/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that lm-look executes, or an lm without one. */
#include "lm/helper/look_do.h"

#include "common/base/array.h"
#include "common/base/limits.h"

#include <stdlib.h>
#include <string.h>

struct looking_now {
	const struct tracer_msg *asked;
	void (*fn)(void *arg, const struct tracer_msg *m);
	void *arg;
	struct tracer_msg answer;
};

static void say(struct looking_now *l)
{
	l->answer.id = l->asked->id;
	l->fn(l->arg, &l->answer);
	l->answer.nvalue = l->answer.ntext = l->answer.nbytes = 0;
	l->answer.what = 0;
}

static void say_failed(struct looking_now *l, int rc, const struct err *e, size_t done)
{
	l->answer.type = TRACER_FAILED;
	l->answer.what = (uint32_t)-rc;
	l->answer.value[l->answer.nvalue++] = done;
	l->answer.text[l->answer.ntext++] = e->text;
	say(l);
}

static void say_bytes(struct looking_now *l, const uint8_t *p, size_t n)
{
	size_t part;

	do {
		part = n < TRACER_BYTES_MAX ? n : TRACER_BYTES_MAX;
		l->answer.type = TRACER_BYTES;
		l->answer.bytes = p;
		l->answer.nbytes = part;
		l->answer.what = part < n;
		say(l);
		p += part;
		n -= part;
	} while (n);
}

static void say_module(void *arg, const struct host_module *m)
{
	struct looking_now *l = arg;
	char *path = strndup(m->path,
			     m->npath < TRACER_NAME_MAX_BYTES ? m->npath : TRACER_NAME_MAX_BYTES);
	const uint64_t v[] = { m->code_start, m->code_len,  m->data_start,
			       m->data_len,   m->bss_start, m->bss_len };

	if (!path)
		return;
	l->answer.type = TRACER_MODULE;
	memcpy(l->answer.value, v, sizeof(v));
	l->answer.nvalue = ARRAY_LEN(v);
	l->answer.text[l->answer.ntext++] = path;
	say(l);
	free(path);
}

static void say_done(struct looking_now *l)
{
	l->answer.type = TRACER_DONE;
	say(l);
}

static struct host_memory memory_of(const struct tracer_msg *m)
{
	return (struct host_memory){ .addr = m->value[0],
				     .block = (size_t)m->value[1],
				     .stride = (size_t)m->value[2],
				     .count = (size_t)m->value[3] };
}

static int read_memory(struct looking_now *l, struct host_proc *p, struct err *e)
{
	struct host_memory m = memory_of(l->asked);
	int rc;

	m.bytes = malloc(m.block * m.count);
	rc = m.bytes ? host_proc_memory(p, &m, e) : err_nomem(e);
	if (!rc)
		say_bytes(l, m.bytes, m.block * m.count);
	free(m.bytes);
	return rc;
}

/*
 * Reads everything before it writes: if a part is not mapped, the error occurs before any change.
 */
static int write_memory(struct looking_now *l, struct host_proc *p, size_t *done, struct err *e)
{
	struct host_memory m = memory_of(l->asked);
	uint8_t *bytes = malloc(m.block * m.count);
	int rc;

	m.bytes = bytes;
	rc = bytes ? host_proc_memory(p, &m, e) : err_nomem(e);
	if (!rc) {
		memcpy(bytes, l->asked->bytes, m.block * m.count);
		m.is_write = true;
		rc = host_proc_memory(p, &m, e);
		*done = m.done;
	}
	if (!rc)
		say_done(l);
	free(bytes);
	return rc;
}

static int list_modules(struct looking_now *l, struct host_proc *p, struct err *e)
{
	int rc = host_proc_modules(p, say_module, l, e);

	if (!rc)
		say_done(l);
	return rc;
}

static int poll_process(struct host *h, struct looking_now *l, size_t *done, struct err *e)
{
	struct host_proc *p = NULL;
	int rc = host_proc_open(h, l->asked->pid, &p, e);

	if (rc == -ERR_NOTFOUND || (!rc && p->start != l->asked->start))
		rc = err_set(e, ERR_NOTFOUND, "the process has ended");
	else if (!rc && l->asked->type == TRACER_READ_MEMORY)
		rc = read_memory(l, p, e);
	else if (!rc && l->asked->type == TRACER_WRITE_MEMORY)
		rc = write_memory(l, p, done, e);
	else if (!rc)
		rc = list_modules(l, p, e);
	if (p)
		host_proc_close(p);
	return rc;
}

static int read_file(struct host *h, struct looking_now *l, struct err *e)
{
	struct host_file f = { .path = l->asked->text[0],
			       .offset = (int64_t)l->asked->value[0],
			       .max = (size_t)l->asked->value[1] };
	struct buf b = BUF_INIT(FILE_LISTING_MAX_BYTES + 1);
	int rc;

	if (f.offset < 0 || f.max > b.max)
		return err_set(e, ERR_INVALID, "that is not part of a file");
	rc = host_file(h, &f, &b, e);
	if (!rc)
		say_bytes(l, b.p, b.n);
	buf_done(&b);
	return rc;
}

void look_do(struct host *h, const struct tracer_msg *m,
	     void (*fn)(void *, const struct tracer_msg *), void *arg)
{
	struct looking_now *l = calloc(1, sizeof(*l));
	struct err e = { 0 };
	size_t done = 0;
	int rc;

	if (!l)
		return; /* the caller detects the missing answer */
	l->asked = m;
	l->fn = fn;
	l->arg = arg;
	rc = m->type == TRACER_FILE ? read_file(h, l, &e) : poll_process(h, l, &done, &e);
	if (rc)
		say_failed(l, rc, &e, done);
	free(l);
}
