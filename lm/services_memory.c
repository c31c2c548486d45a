/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of processes, and what is loaded there. */
#include "lm/services.h"

#include "common/base/buf.h"
#include "common/base/limits.h"

#include <stdlib.h>
#include <string.h>

static int bad(struct err *e, const char *what)
{
	return err_set(e, ERR_INVALID, "%s", what);
}

/* addr, blocklength, stride; count is set by the caller. */
static int read_geometry(const struct service_call *c, struct host_memory *m, struct err *e)
{
	int64_t addr = call_int(c, 1), block = call_int(c, 2), stride = call_int(c, 3);

	if (addr < 0)
		return bad(e, "addr is not below 2^63");
	if (block < 1 || block > MEMORY_CALL_MAX_BYTES)
		return err_set(e, ERR_INVALID, "blocklength is 1 to %d", MEMORY_CALL_MAX_BYTES);
	if (stride < block)
		return bad(e, "stride is at least blocklength");
	m->addr = (uint64_t)addr;
	m->block = (size_t)block;
	m->stride = (size_t)stride;
	return 0;
}

static int set_count(struct host_memory *m, int64_t count, struct err *e)
{
	uint64_t room = INT64_MAX - m->addr;

	if (count < 1 || count > MEMORY_BLOCKS_MAX ||
	    (uint64_t)count * m->block > MEMORY_CALL_MAX_BYTES)
		return err_set(e, ERR_INVALID, "1 to %d blocks, of %d bytes in all, are one call",
			       MEMORY_BLOCKS_MAX, MEMORY_CALL_MAX_BYTES);
	if (m->stride > room / (uint64_t)count)
		return bad(e, "the last block is beyond 2^63");
	m->count = (size_t)count;
	return 0;
}

static size_t bytes_of(const struct host_memory *m)
{
	return m->block * m->count;
}

static int move(struct proc *p, struct host_memory *m, struct err *e)
{
	return p->held ? host_proc_memory(p->held, m, e)
		       : err_set(e, ERR_NOTFOUND, "the process has ended");
}

/* --- reading */

static void write_bytes(struct buf *b, const struct host_memory *m, bool is_binary)
{
	struct omis_writer w = OMIS_WRITER(b);

	if (is_binary) {
		omis_write_binary(&w, m->bytes, bytes_of(m));
		return;
	}
	omis_write_list(&w);
	for (size_t i = 0; i < bytes_of(m); i++)
		omis_write_int(&w, m->bytes[i]);
	omis_write_list_end(&w);
}

static int read_one(struct service_call *c, struct proc *p, struct host_memory *m, bool is_binary)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct err e = { 0 };
	int rc = move(p, m, &e);

	if (rc < 0)
		return call_add_failure(c, p->token.s, rc, &e);
	write_bytes(&b, m, is_binary);
	rc = b.failed ? -ERR_NOMEM
		      : reply_add_n(c->reply, c->action, p->token.s, STATUS_OK, b.p, b.n);
	buf_done(&b);
	return rc;
}

static int read_all(struct service_call *c, struct host_memory *m, bool is_binary)
{
	struct objects o = { 0 };
	int rc;

	rc = objects_expand(c->env->procs, &c->call->param[0], 'p', &o, c->reply, c->action);
	for (size_t i = 0; rc == 0 && i < o.n; i++)
		rc = read_one(c, o.v[i].proc, m, is_binary);
	reply_add_time(c->reply, call_now(c), call_now(c));
	objects_done(&o);
	return rc;
}

static int read_memory(struct service_call *c, bool is_binary)
{
	struct host_memory m = { .is_write = false };
	struct err e = { 0 };
	int rc = read_geometry(c, &m, &e);

	if (rc == 0)
		rc = set_count(&m, call_int(c, 4), &e);
	if (rc < 0)
		return call_add_failure(c, "", rc, &e);
	m.bytes = malloc(bytes_of(&m));
	rc = m.bytes ? read_all(c, &m, is_binary) : -ERR_NOMEM;
	free(m.bytes);
	return rc;
}

int serve_read_memory(struct service_call *c)
{
	return read_memory(c, false);
}

int serve_read_memory_bin(struct service_call *c)
{
	return read_memory(c, true);
}

/* --- writing */

static int bytes_from_list(const struct omis_value *v, uint8_t *out, struct err *e)
{
	for (size_t i = 0; i < v->list.n; i++) {
		int64_t byte = -1;

		omis_value_i64(&v->list.v[i], &byte);
		if (byte < 0 || byte > UINT8_MAX)
			return bad(e, "bytes are 0 to 255");
		out[i] = (uint8_t)byte;
	}
	return 0;
}

/* What is to be written, as it stands in the request. *take is freed by the caller. */
static int read_bytes(const struct service_call *c, uint8_t **take, size_t *n, struct err *e)
{
	const struct omis_value *v = &c->call->param[4];
	const char *binary = omis_value_text(v, n);

	if (!binary)
		*n = v->list.n;
	if (!*n || *n > MEMORY_CALL_MAX_BYTES)
		return err_set(e, ERR_INVALID, "1 to %d bytes are one call", MEMORY_CALL_MAX_BYTES);
	*take = malloc(*n);
	if (!*take)
		return err_nomem(e);
	if (!binary)
		return bytes_from_list(v, *take, e);
	memcpy(*take, binary, *n);
	return 0;
}

static int read_writing(const struct service_call *c, struct host_memory *m, struct err *e)
{
	size_t n = 0;
	int rc = read_geometry(c, m, e);

	if (rc == 0)
		rc = read_bytes(c, &m->bytes, &n, e);
	if (rc < 0)
		return rc;
	if (n % m->block)
		return bad(e, "bytes are no whole number of blocks");
	return set_count(m, (int64_t)(n / m->block), e);
}

/* All of it is there before any of it is written: what is not mapped is told with nothing changed. */
static int write_one(struct service_call *c, struct proc *p, struct err *e)
{
	struct host_memory *m = c->arg, probe = *m;
	int rc;

	probe.is_write = false;
	probe.bytes = malloc(bytes_of(m));
	rc = probe.bytes ? move(p, &probe, e) : err_nomem(e);
	free(probe.bytes);
	if (rc < 0)
		return rc;
	rc = move(p, m, e);
	c->is_half_done = rc < 0 && m->done > 0;
	return rc;
}

int serve_write_memory(struct service_call *c)
{
	struct host_memory m = { .is_write = true };
	struct err e = { 0 };
	int rc = read_writing(c, &m, &e);

	c->arg = &m;
	rc = rc < 0 ? call_add_failure(c, "", rc, &e) : call_each_proc(c, write_one);
	free(m.bytes);
	return rc;
}

/* --- modules */

struct listing {
	struct buf b;
	struct omis_writer w;
	int64_t n;
};

static void write_module(void *arg, const struct host_module *m)
{
	struct listing *l = arg;

	l->n++;
	omis_write_list(&l->w);
	omis_write_string_n(&l->w, m->path, m->npath);
	omis_write_string(&l->w, ""); /* of an archive: nothing is loaded out of one here */
	omis_write_int(&l->w, (int64_t)m->code_start);
	omis_write_int(&l->w, (int64_t)m->code_len);
	omis_write_int(&l->w, (int64_t)m->data_start);
	omis_write_int(&l->w, (int64_t)m->data_len);
	omis_write_int(&l->w, (int64_t)m->bss_start);
	omis_write_int(&l->w, (int64_t)m->bss_len);
	omis_write_list_end(&l->w);
}

static int add_modules(struct service_call *c, const struct proc *p, struct listing *l)
{
	struct buf all = BUF_INIT(FRAME_MAX_BYTES / 2);
	int rc;

	buf_printf(&all, "%lld%s", (long long)l->n, l->n ? "," : "");
	buf_put(&all, l->b.p, l->b.n);
	rc = all.failed || l->b.failed
		     ? reply_add_error(c->reply, c->action, p->token.s, STATUS_OS_ERROR,
				       "its list of modules is longer than a reply")
		     : reply_add_n(c->reply, c->action, p->token.s, STATUS_OK, all.p, all.n);
	buf_done(&all);
	return rc;
}

static int list_modules(struct service_call *c, const struct proc *p)
{
	struct listing l = { .b = BUF_INIT(FRAME_MAX_BYTES / 2) };
	struct err e = { 0 };
	int rc;

	l.w = OMIS_WRITER(&l.b);
	rc = p->held ? host_proc_modules(p->held, write_module, &l, &e)
		     : err_set(&e, ERR_NOTFOUND, "the process has ended");
	rc = rc < 0 ? call_add_failure(c, p->token.s, rc, &e) : add_modules(c, p, &l);
	buf_done(&l.b);
	return rc;
}

int serve_loader_info(struct service_call *c)
{
	struct objects o = { 0 };
	int rc;

	rc = objects_expand(c->env->procs, &c->call->param[0], 'p', &o, c->reply, c->action);
	for (size_t i = 0; rc == 0 && i < o.n; i++)
		rc = list_modules(c, o.v[i].proc);
	reply_add_time(c->reply, call_now(c), call_now(c));
	objects_done(&o);
	return rc;
}
