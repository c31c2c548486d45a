/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guard and decoder. First byte: the type, the rest: a payload. Accepted input decodes within its
 * budget, and encodes to bytes that decode and encode to themselves.
 */
#include "common/base/limits.h"
#include "proto/frame.h"
#include "proto/internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct msg *get(const struct buf *frame)
{
	struct msg *m = NULL;
	struct err e = { 0 };

	if (frame_bytes(frame->p, frame->n) != frame->n)
		abort();
	if (msg_get(frame->p[4], frame->p + FRAME_HEADER_BYTES, frame->n - FRAME_HEADER_BYTES, &m,
		    &e))
		abort();
	return m;
}

static void check_again(const struct msg *m)
{
	struct buf one = BUF_INIT(2 * FRAME_MAX_BYTES), two = BUF_INIT(2 * FRAME_MAX_BYTES);
	struct msg *again;

	if (msg_put(&one, m))
		abort();
	again = get(&one);
	if (msg_put(&two, again) || one.n != two.n || memcmp(one.p, two.p, one.n) != 0)
		abort();
	msg_free(again);
	buf_done(&one);
	buf_done(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guard_cost cost;
	struct msg *m = NULL;
	struct err e = { 0 };
	const struct shape *s;
	int guard, rc;

	if (!size)
		return 0;
	s = shape_of(data[0]);
	guard = s ? guard_check(s, data + 1, size - 1, &cost, &e) : -ERR_PROTO;
	rc = msg_get(data[0], data + 1, size - 1, &m, &e);
	if (rc != guard || !m != !!rc)
		abort();
	if (rc) {
		if (!e.text[0])
			abort();
		return 0;
	}
	if (cost.heap_bytes > DECODE_HEAP_MAX_BYTES || cost.elements > PROTO_ELEMENTS_MAX)
		abort();
	check_again(m);
	msg_free(m);
	return 0;
}
