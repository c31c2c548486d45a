/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between lm and lm-trace: an accepted message is written unchanged. */
#include "common/tracer/tracer_msg.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static struct tracer_msg m;
	static struct buf again = BUF_INIT(TRACER_MSG_MAX_BYTES);
	struct err e = { 0 };

	if (n > TRACER_MSG_MAX_BYTES)
		return 0;
	if (tracer_msg_decode(&m, p, n, &e)) {
		if (e.code != ERR_PROTO)
			abort();
		return 0;
	}
	buf_clear(&again);
	if (tracer_msg_encode(&again, &m) || again.n != n || memcmp(again.p, p, n))
		abort();
	return 0;
}
