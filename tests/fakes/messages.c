/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fakes/messages.h"

#include "common/base/buf.h"
#include "proto/frame.h"

#include <check.h>

void messages_add(struct messages *s, const struct msg *m)
{
	struct buf b = BUF_INIT(2 * FRAME_MAX_BYTES);

	ck_assert_uint_lt(s->n, MESSAGES_MAX);
	ck_assert_int_eq(msg_put(&b, m), 0);
	ck_assert_int_eq(msg_get(m->type, b.p + FRAME_HEADER_BYTES, b.n - FRAME_HEADER_BYTES,
				 &s->m[s->n++], NULL),
			 0);
	buf_done(&b);
}

const struct msg *messages_next(struct messages *s, uint8_t type)
{
	while (s->seen < s->n)
		if (s->m[s->seen++]->type == type)
			return s->m[s->seen - 1];
	return NULL;
}

void messages_skip(struct messages *s)
{
	s->seen = s->n;
}

void messages_done(struct messages *s)
{
	while (s->n)
		msg_free(s->m[--s->n]);
	s->seen = 0;
}
