/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/rogues/roguetool.h"

#include "common/base/array.h"
#include "common/link/link.h"
#include "common/net/net.h"
#include "proto/msg.h"
#include "sim/rogues/rogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE_NS (100 * NSEC_PER_MSEC) /* mean time between two requests */
#define GUESS_MAX 40 /* largest guessed number of a request or measurement of another tool */
#define ASKS_MAX 50 /* requests at once */
#define TEXT_BYTES 256

struct roguetool {
	struct cluster *cluster;
	struct rng *dice;
	struct rng rng; /* for the delays of the link */
	struct net_ctx *ctx;
	struct link *link;
	struct loop_timer *timer;
};

static uint64_t below(struct roguetool *t, uint64_t n)
{
	return rng_below(t->dice, n);
}

static int dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		struct err *e)
{
	struct roguetool *t = arg;
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };

	return net_dial(t->ctx,
			&(struct net_target){
				.host = WORLD_TOP, .port = t->cluster->w->port, .expect = &x },
			h, out, e);
}

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
}

/* Returns any process whose token a tool has received; "" if there is none. */
static const char *any_process(struct roguetool *t)
{
	const struct simproc *p =
		cluster_rank(t->cluster, (int64_t)below(t, (uint64_t)t->cluster->conf.hosts *
								   CLUSTER_RANKS_MAX));

	return p ? p->token : "";
}

/*
 * %p: a process. %c and %d: a conditional request and a measurement, perhaps of another tool. %n: a
 * host.
 */
static const char *const requests[] = {
	":site_attach([]) node_attach([]) proc_attach([])",
	":proc_send_signal([%p],10)",
	":proc_send_signal([],10)",
	":{proc_send_signal([%p],9)}",
	":thread_stop([])",
	":thread_suspend([%p])",
	":{thread_stop([]) thread_suspend([])}",
	":csr_delete([%c])",
	":csr_disable([%c])",
	":csr_enable([%c])",
	":csr_delete([])",
	":dfg_delete([%d])",
	":dfg_read([%d])",
	":dfg_delete([])",
	":dfg_start([%d])",
	":omig_cert_token(\"lm\",31536000,0)",
	":omig_cert_token(\"tool-admin\",31536000,0)",
	":omig_stop()",
	":proc_detach([])",
	":proc_get_info([],513)",
	":{node_get_info([],1)}",
	":proc_get_info([%p,%p,%p],513)",
	"thread_has_started_lib_call([],\"MPI_Send\"): thread_suspend([]) print([$proc,$par1,$par8])",
	"thread_has_started_lib_call([],\"MPI_Send\"): proc_send_signal([%p],10)",
	"thread_has_started_lib_call([],\"MPI_Send\"): print([$proc,$par1,$par8])",
	":dfg_create([],\"\",\"Send_volume\",[\"every_ms\",10,\"mode\",\"start\"])",
	":proc_send_signal([p_0_aaaaaa],10)",
	":print([((((((((((((((((((((((((((((((",
	":thread_continue([%p]) thread_resume([%p])",
	":user_event_raise([e_1],[])"
};

static void write_request(struct roguetool *t, const char *w, char out[TEXT_BYTES])
{
	size_t n = 0;

	for (; *w && n + 40 < TEXT_BYTES; w++) {
		if (*w != '%')
			out[n++] = *w;
		else if (*++w == 'p')
			n += (size_t)snprintf(out + n, TEXT_BYTES - n, "%s", any_process(t));
		else
			n += (size_t)snprintf(out + n, TEXT_BYTES - n, "%c_%u", *w,
					      1 + (unsigned)below(t, GUESS_MAX));
	}
	out[n] = 0;
}

/* Sends requests with fields that only daemons may set, and with ids of other epochs. */
static void ask(struct roguetool *t)
{
	char text[TEXT_BYTES];
	struct msg m = { .type = MSG_REQUEST };

	write_request(t, requests[below(t, ARRAY_LEN(requests))], text);
	m.request = (struct msg_request){ .id = below(t, 2) ? below(t, GUESS_MAX)
							    : 1000000 + below(t, GUESS_MAX),
					  .tool = (uint32_t)below(t, 5),
					  .identity = below(t, 2) ? "omig:tool-admin//t0" : "",
					  .right = (uint32_t)below(t, 5),
					  .deadline_ns = (int64_t)below(t, 2 * NSEC_PER_SEC),
					  .text = { (const uint8_t *)text, strlen(text) },
					  .flags = (uint32_t)below(t, 2),
					  .depth = (uint32_t)below(t, 3),
					  .csr = below(t, 4) ? "" : "c_1",
					  .op_epoch = below(t, 3),
					  .op = below(t, GUESS_MAX) };
	link_send(t->link, &m);
}

static void on_timer(void *arg)
{
	struct roguetool *t = arg;
	struct msg cancel = { .type = MSG_CANCEL };

	for (uint64_t n = below(t, 20) ? 1 : below(t, ASKS_MAX); n; n--)
		ask(t);
	cancel.cancel.id = below(t, 1000000 + GUESS_MAX);
	if (below(t, 3) == 0)
		link_send(t->link, &cancel);
	loop_timer_arm(t->timer, 1 + (nsec_t)below(t, 2 * PAUSE_NS));
}

int roguetool_new(struct cluster *c, struct rng *dice, struct roguetool **out, struct err *e)
{
	struct roguetool *t = calloc(1, sizeof(*t));
	const struct identity who = world_identity(c->w, ROLE_TOOL_OBSERVE, "", ROGUE_TOOL);
	const struct msg_hello hello = { .role = "tool", .host = ROGUE_TOOL, .epoch = 1 };
	struct link_conf conf = { .handler = {
					  .on_up = on_up, .on_msg = on_msg, .on_down = on_down } };

	if (!t)
		return err_nomem(e);
	*t = (struct roguetool){ .cluster = c, .dice = dice };
	rng_init(&t->rng, rng_next(dice));
	conf.rng = &t->rng;
	conf.loop = c->w->loop;
	if (!mem_ctx_open(c->w->net, &who, &t->ctx, e))
		t->link = link_dial(&conf, &(struct link_dialer){ dial, t }, &hello);
	t->timer = loop_timer_new(c->w->loop, on_timer, t);
	if (!t->link || !t->timer) {
		roguetool_free(t);
		return err_nomem(e);
	}
	loop_timer_arm(t->timer, PAUSE_NS);
	*out = t;
	return 0;
}

void roguetool_free(struct roguetool *t)
{
	if (!t)
		return;
	link_close(t->link, "the tool has finished");
	net_ctx_free(t->ctx);
	loop_timer_free(t->timer);
	free(t);
}
