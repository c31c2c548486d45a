/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lm-look: started by an lm, with the socket to it as standard input. It handles one request after
 * the other; the lm kills it if one hangs. It ends with the lm.
 */
#include "common/loop/loop.h"
#include "lm/helper/helper_line.h"
#include "lm/helper/look_do.h"
#include "lm/host/host_linux.h"

#include <stdio.h>

static bool is_for_us(const struct tracer_msg *m)
{
	return m->type >= TRACER_READ_MEMORY && m->type <= TRACER_FILE;
}

int main(void)
{
	static uint8_t in[TRACER_MSG_MAX_BYTES];
	static struct tracer_msg m;
	struct loop *loop = loop_new();
	struct host *host = NULL;
	struct err e = { 0 };
	size_t n;
	int got = helper_line_open(&e);

	if (!got)
		got = loop ? host_linux_open("/", loop, &host, &e) : err_nomem(&e);
	if (got)
		fprintf(stderr, "lm-look: %s\n", e.text);
	while (!got && (n = helper_line_next(in, sizeof(in))) > 0) {
		got = tracer_msg_decode(&m, in, n, &e);
		if (!got && !is_for_us(&m))
			got = -ERR_PROTO;
		if (!got)
			look_do(host, &m, helper_line_answer, NULL);
	}
	host_free(host);
	loop_free(loop);
	return got < 0;
}
