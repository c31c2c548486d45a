/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tools/echo.h"

#include "proto/frame.h"
#include "proto/msg.h"

#include <stdlib.h>

struct echo {
	struct cluster *c;
	struct mem_tap tap;
	bool is_on;
};

static bool is_batch(const uint8_t *p, size_t n)
{
	return n >= FRAME_HEADER_BYTES && p[FRAME_HEADER_BYTES - 1] == MSG_FLOW_BATCH;
}

static void on_send(void *arg, struct chan *c, const uint8_t *p, size_t n)
{
	for (size_t at = 0, one; at < n && (one = frame_bytes(p + at, n - at)); at += one) {
		mem_tap_send(c, p + at, one);
		if (is_batch(p + at, one))
			mem_tap_send(c, p + at, one);
	}
}

static int set_taps(struct echo *e, const struct mem_tap *tap)
{
	struct mem_net *net = e->c->w->net;
	int rc = 0;

	for (unsigned i = 0; !rc && i < e->c->conf.hosts; i++)
		rc = mem_net_set_tap(net, simnode_name(e->c->node[i]), tap);
	for (unsigned i = 0; !rc && i < e->c->sms; i++)
		rc = mem_net_set_tap(net, simsite_host(e->c->site[i]), tap);
	return rc;
}

int echo_new(struct cluster *c, struct echo **out)
{
	struct echo *e = calloc(1, sizeof(*e));

	if (!e)
		return -ERR_NOMEM;
	*e = (struct echo){ .c = c, .tap = { .on_send = on_send, .arg = e }, .is_on = !c->rogue };
	*out = e;
	return e->is_on ? set_taps(e, &e->tap) : 0;
}

void echo_stop(struct echo *e)
{
	if (e && e->is_on)
		set_taps(e, NULL);
	if (e)
		e->is_on = false;
}

void echo_free(struct echo *e)
{
	echo_stop(e);
	free(e);
}
