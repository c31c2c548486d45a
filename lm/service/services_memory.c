/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of processes, and the loaded modules. */
#include "lm/service/look.h"
#include "lm/service/families.h"

#include "common/base/array.h"
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

static void ask(struct tracer_msg *to, uint8_t type, const struct host_memory *m)
{
	const uint64_t v[] = { m->addr, m->block, m->stride, m->count };

	to->type = type;
	memcpy(to->value, v, sizeof(v));
	to->nvalue = ARRAY_LEN(v);
}

/* --- reading */

static int fill_read(struct service_call *c, struct tracer_msg *to, void **take, struct err *e)
{
	struct host_memory m = { .is_write = false };
	int rc = read_geometry(c, &m, e);

	if (!rc)
		rc = set_count(&m, call_int(c, 4), e);
	if (!rc)
		ask(to, TRACER_READ_MEMORY, &m);
	return rc;
}

static void write_list(struct omis_writer *w, const struct buf *bytes)
{
	omis_write_list(w);
	for (size_t i = 0; i < bytes->n; i++)
		omis_write_int(w, bytes->p[i]);
	omis_write_list_end(w);
}

static int add_bytes(struct service_call *c, const struct looked *o, bool is_binary)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);

	if (is_binary)
		omis_write_binary(&w, o->bytes.p, o->bytes.n);
	else
		write_list(&w, &o->bytes);
	return call_add_values(c, o->token.s, &b);
}

static int add_list(struct service_call *c, const struct looked *o)
{
	return add_bytes(c, o, false);
}

static int add_binary(struct service_call *c, const struct looked *o)
{
	return add_bytes(c, o, true);
}

static int serve_read_memory(struct service_call *c)
{
	static const struct look_spec spec = {
		.class = 'p', .max_bytes = MEMORY_CALL_MAX_BYTES, .fill = fill_read, .add = add_list
	};

	return look_serve(c, c->of, &spec);
}

static int serve_read_memory_bin(struct service_call *c)
{
	static const struct look_spec spec = { .class = 'p',
					       .max_bytes = MEMORY_CALL_MAX_BYTES,
					       .fill = fill_read,
					       .add = add_binary };

	return look_serve(c, c->of, &spec);
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

/* Reads the data to be written from the request. The caller frees *take. */
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

static int fill_write(struct service_call *c, struct tracer_msg *to, void **take, struct err *e)
{
	struct host_memory m = { .is_write = true };
	size_t n = 0;
	int rc = read_geometry(c, &m, e);

	if (!rc)
		rc = read_bytes(c, &m.bytes, &n, e);
	*take = m.bytes;
	if (!rc && n % m.block)
		return bad(e, "bytes are not a whole number of blocks");
	if (!rc)
		rc = set_count(&m, (int64_t)(n / m.block), e);
	if (rc)
		return rc;
	ask(to, TRACER_WRITE_MEMORY, &m);
	to->bytes = m.bytes;
	to->nbytes = bytes_of(&m);
	return 0;
}

static int add_done(struct service_call *c, const struct looked *o)
{
	return reply_add(c->reply, c->action, o->token.s, STATUS_OK, NULL);
}

static int serve_write_memory(struct service_call *c)
{
	static const struct look_spec spec = {
		.class = 'p', .max_bytes = 0, .fill = fill_write, .add = add_done
	};

	return look_serve(c, c->of, &spec);
}

/* --- modules */

static int fill_modules(struct service_call *c, struct tracer_msg *to, void **take, struct err *e)
{
	to->type = TRACER_MODULES;
	return 0;
}

static int add_modules(struct service_call *c, const struct looked *o)
{
	struct buf all = BUF_INIT(FRAME_MAX_BYTES / 2);
	int rc;

	buf_printf(&all, "%zu%s", o->nmodule, o->nmodule ? "," : "");
	buf_put(&all, o->modules.p, o->modules.n);
	rc = all.failed ? -ERR_NOMEM
			: reply_add_n(c->reply, c->action, o->token.s, STATUS_OK, buf_bytes(&all));
	buf_done(&all);
	return rc;
}

static int serve_loader_info(struct service_call *c)
{
	static const struct look_spec spec = {
		.class = 'p', .max_bytes = 0, .fill = fill_modules, .add = add_modules
	};

	return look_serve(c, c->of, &spec);
}

const struct service memory_services[] = {
	{ "proc_get_loader_info", serve_loader_info },
	{ "proc_read_memory", serve_read_memory },
	{ "proc_read_memory_bin", serve_read_memory_bin },
	{ "proc_write_memory", serve_write_memory },
	{ "proc_write_memory_bin", serve_write_memory },
	{ NULL, NULL },
};
