/* SPDX-License-Identifier: Apache-2.0 */
#include "common/tracer/tracer_msg.h"

#include "common/base/array.h"
#include "common/base/cur.h"

#include <string.h>

/* Permitted parts of each kind. A process: 0 = none, 1 = required, 2 = with one of its threads. */
static const struct shape {
	uint8_t type;
	uint8_t process;
	uint32_t what_max;
	uint16_t values_min, values_max, texts_min, texts_max;
} shapes[] = {
	{ TRACER_BACKTRACE, 2, 1, 1, 1, 0, 0 },
	{ TRACER_READ_REGS, 2, TRACER_REGS_FP, 2, 2, 0, 0 },
	{ TRACER_WRITE_REGS, 2, TRACER_REGS_FP, 2, TRACER_VALUES_MAX, 0, 0 },
	{ TRACER_GOTO, 2, 0, 1, 1, 0, 0 },
	{ TRACER_CALL, 2, 0, 1, 1, 0, 0 },
	{ TRACER_CREATE, 0, 0, 3, 3, 1, TRACER_TEXTS_MAX },
	{ TRACER_LET_GO, 1, 0, 0, 0, 0, 0 },
	{ TRACER_WATCH, 1, TRACER_WATCH_ALL, 1 + TRACER_SYSCALL_WORDS, 1 + TRACER_SYSCALL_WORDS, 0,
	  0 },
	{ TRACER_SOURCE, 0, 0, 1, TRACER_VALUES_MAX, 1, 1 },
	{ TRACER_ENTER, 1, TRACER_ENTER_LEAVE, 0, 0, 4, 4 },
	{ TRACER_FUNCTION_ON, 1, 0, 6, 6, 1, 1 },
	{ TRACER_FUNCTION_OFF, 1, 0, 6, 6, 1, 1 },
	{ TRACER_FUNCTION_FIND, 1, 0, 0, 0, 1, 1 },
	{ TRACER_READ_MEMORY, 1, 0, 4, 4, 0, 0 },
	{ TRACER_WRITE_MEMORY, 1, 0, 4, 4, 0, 0 },
	{ TRACER_MODULES, 1, 0, 0, 0, 0, 0 },
	{ TRACER_FILE, 0, 0, 2, 2, 1, 1 },
	{ TRACER_PLUGIN_ABOUT, 0, 0, 0, 0, 0, 0 },
	{ TRACER_PLUGIN_CALL, 0, 0, 0, 0, 1, 1 },
	{ TRACER_FRAMES, 2, 1, 0, TRACER_FRAMES_PART *TRACER_FRAME_VALUES, 0,
	  TRACER_FRAMES_PART *TRACER_FRAME_TEXTS },
	{ TRACER_REGS, 2, TRACER_REGS_FP, 0, TRACER_VALUES_MAX, 0, 0 },
	{ TRACER_DONE, 0, 0, 0, 0, 0, 0 },
	{ TRACER_CREATED, 1, 0, 0, 0, 0, 0 },
	{ TRACER_FAILED, 0, ERR_NCODES - 1, 0, 1, 1, 1 },
	{ TRACER_EVENT, 2, TRACER_WATCH_ALL, 2, 8, 0, 0 },
	{ TRACER_WATCH_ENDED, 1, 0, 0, 1, 1, 1 },
	{ TRACER_BYTES, 0, 1, 0, 0, 0, 0 },
	{ TRACER_MODULE, 0, 0, 6, 6, 1, 1 },
	{ TRACER_ENTERED, 1, 0, 4, 4, 1, 1 },
	{ TRACER_FUNCTION, 0, 0, 4, 4, 0, 0 },
};

static bool has_bytes(uint8_t type)
{
	return type == TRACER_WRITE_MEMORY || type == TRACER_BYTES || type == TRACER_SOURCE ||
	       type == TRACER_PLUGIN_CALL;
}

static const struct shape *shape_of(uint8_t type)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		if (shapes[i].type == type)
			return &shapes[i];
	return NULL;
}

/* True if all blocks are below 2^63, and one message can hold them. */
static bool is_geometry(const struct tracer_msg *m)
{
	uint64_t addr = m->value[0], block = m->value[1], stride = m->value[2], n = m->value[3];

	if (!n || n > TRACER_BYTES_MAX || !block || block > TRACER_BYTES_MAX / n ||
	    stride < block || addr > INT64_MAX || stride > (INT64_MAX - addr) / n)
		return false;
	return m->type == TRACER_READ_MEMORY || m->nbytes == n * block;
}

static bool counts_agree(const struct tracer_msg *m)
{
	uint64_t n = 1;

	switch (m->type) {
	case TRACER_CREATE:
		if (m->value[2] > TRACER_STREAMS_MAX)
			return false;
		for (size_t i = 0; i < 3; i++) {
			if (m->value[i] >= TRACER_TEXTS_MAX)
				return false;
			n += m->value[i];
		}
		return n == m->ntext;
	case TRACER_FRAMES:
		return m->nvalue % TRACER_FRAME_VALUES == 0 &&
		       m->nvalue / TRACER_FRAME_VALUES * TRACER_FRAME_TEXTS == m->ntext;
	case TRACER_FAILED: /* ERR_OK is not a failure */
		return m->what != ERR_OK;
	case TRACER_EVENT: /* one at a time */
		return m->what && !(m->what & (m->what - 1));
	case TRACER_READ_MEMORY:
	case TRACER_WRITE_MEMORY:
		return is_geometry(m);
	default:
		return true;
	}
}

static bool fits(const struct tracer_msg *m)
{
	const struct shape *s = shape_of(m->type);

	if (!s || m->what > s->what_max || m->nvalue < s->values_min || m->nvalue > s->values_max ||
	    m->ntext < s->texts_min || m->ntext > s->texts_max)
		return false;
	if (has_bytes(m->type) ? m->nbytes > TRACER_BYTES_MAX : m->nbytes > 0)
		return false;
	if (s->process && m->pid <= 1)
		return false;
	if (s->process == 2 && m->tid <= 1)
		return false;
	return counts_agree(m);
}

int tracer_msg_encode(struct buf *b, const struct tracer_msg *m)
{
	if (!fits(m))
		return -ERR_PROTO;
	buf_putc(b, m->type);
	buf_put_u32le(b, m->id);
	buf_put_u32le(b, (uint32_t)m->pid);
	buf_put_u32le(b, (uint32_t)m->tid);
	buf_put_u64le(b, m->start);
	buf_put_u32le(b, m->what);
	buf_put_u16le(b, (uint16_t)m->nvalue);
	buf_put_u16le(b, (uint16_t)m->ntext);
	for (size_t i = 0; i < m->nvalue; i++)
		buf_put_u64le(b, m->value[i]);
	for (size_t i = 0; i < m->ntext; i++) {
		size_t n = strlen(m->text[i]);

		buf_put_u32le(b, (uint32_t)n);
		buf_put(b, m->text[i], n + 1);
	}
	if (has_bytes(m->type)) {
		buf_put_u32le(b, (uint32_t)m->nbytes);
		buf_put(b, m->bytes, m->nbytes);
	}
	if (b->failed)
		return b->n >= b->max / 2 ? -ERR_LIMIT : -ERR_NOMEM;
	return 0;
}

static const char *read_text(struct cur *c)
{
	uint32_t n = cur_u32le(c);
	const uint8_t *p = n < TRACER_MSG_MAX_BYTES ? cur_bytes(c, (size_t)n + 1) : NULL;

	if (!p || p[n] || memchr(p, 0, n)) {
		c->failed = true;
		return "";
	}
	return (const char *)p;
}

static void read_bytes(struct tracer_msg *out, struct cur *c)
{
	uint32_t n = has_bytes(out->type) ? cur_u32le(c) : 0;

	out->nbytes = n <= TRACER_BYTES_MAX ? n : 0;
	out->bytes = cur_bytes(c, out->nbytes);
	if (n != out->nbytes)
		c->failed = true;
}

int tracer_msg_decode(struct tracer_msg *out, const void *p, size_t n, struct err *e)
{
	struct cur c;

	cur_init(&c, p, n);
	out->type = cur_u8(&c);
	out->id = cur_u32le(&c);
	out->pid = (int32_t)cur_u32le(&c);
	out->tid = (int32_t)cur_u32le(&c);
	out->start = cur_u64le(&c);
	out->what = cur_u32le(&c);
	out->nvalue = cur_u16le(&c);
	out->ntext = cur_u16le(&c);
	if (c.failed || out->nvalue > TRACER_VALUES_MAX || out->ntext > TRACER_TEXTS_MAX)
		return err_set(e, ERR_PROTO, "a message of %zu bytes makes no sense", n);
	for (size_t i = 0; i < out->nvalue; i++)
		out->value[i] = cur_u64le(&c);
	for (size_t i = 0; i < out->ntext && !c.failed; i++)
		out->text[i] = read_text(&c);
	read_bytes(out, &c);
	if (!cur_is_done(&c) || !fits(out))
		return err_set(e, ERR_PROTO, "a message of kind %u makes no sense",
			       (unsigned)out->type);
	return 0;
}
