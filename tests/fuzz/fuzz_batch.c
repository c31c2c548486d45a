/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: accepted input is written and read again unchanged. */
#include "common/base/limits.h"
#include "common/flow/batch/batch.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static struct flow_batch_room room, other;
	static struct buf first = BUF_INIT(16 * FRAME_MAX_BYTES),
			  second = BUF_INIT(16 * FRAME_MAX_BYTES);
	struct flow_batch b, again;
	struct err e = { 0 };

	if (n > FRAME_MAX_BYTES)
		return 0;
	if (flow_batch_decode(&room, p, n, &b, &e)) {
		if (e.code != ERR_PROTO && e.code != ERR_LIMIT)
			abort();
		return 0;
	}
	buf_clear(&first);
	buf_clear(&second);
	flow_batch_encode(&first, &b);
	if (flow_batch_decode(&other, first.p, first.n, &again, &e))
		abort();
	flow_batch_encode(&second, &again);
	if (first.n != second.n || memcmp(first.p, second.p, first.n))
		abort();
	return 0;
}
