/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tools/simtool.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "common/link/link.h"
#include "common/net/net.h"
#include "sim/world/trace.h"
#include "tree/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ID_FIRST_FACTOR 1000000 /* separates the ids of different epochs */
/* longer than the time by which a slow link delays the next message of mainsm */
#define QUIET_NS (3 * NSEC_PER_SEC)

struct pending {
	uint64_t id;
	nsec_t due;
	char text[64]; /* beginning of the request, for reports */
};

struct simtool {
	struct simtool_conf conf;
	char name[32];
	struct net_ctx *ctx;
	struct link *link;
	struct rng rng;
	bool is_up;
	uint64_t next_id;
	struct reply *part; /* the parts of a reply so far; owned */
	struct pending pending[SIMTOOL_PENDING_MAX];
	size_t n;
	nsec_t silence; /* mainsm's silence at the last check */
};

static int dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		struct err *e)
{
	struct simtool *t = arg;
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };

	return net_dial(
		t->ctx,
		&(struct net_target){ .host = WORLD_TOP, .port = t->conf.w->port, .expect = &x }, h,
		out, e);
}

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct simtool *t = arg;

	t->is_up = true;
	t->conf.on_up(t->conf.arg);
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
	struct simtool *t = arg;

	t->is_up = false;
	t->n = 0;
	reply_free(t->part);
	t->part = NULL;
	t->conf.on_down(t->conf.arg);
}

static void answered(struct simtool *t, const struct reply *r)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->pending[i].id == r->id) {
			t->pending[i] = t->pending[--t->n];
			return;
		}
	world_break(t->conf.w,
		    "INV-1: tool %s: an answer to request %" PRIu64
		    ", which is not pending: answered twice?",
		    t->name, r->id);
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct simtool *t = arg;
	struct reply *r = t->part;

	if (m->type == MSG_EVENTS && t->conf.on_events)
		t->conf.on_events(t->conf.arg, &m->events);
	if (m->type != MSG_REPLY)
		return;
	if (!r)
		r = reply_new();
	if (!r || wire_add_reply(r, &m->reply)) {
		world_break(t->conf.w, "INV-1: tool %s: the parts of a reply do not fit", t->name);
		reply_free(r);
		t->part = NULL;
		return;
	}
	t->part = m->reply.more ? r : NULL;
	if (m->reply.more)
		return;
	log_info("sim", "%s receives id=%" PRIu64 " kind=%u missing=%zu (%s) first=%u %.80s",
		 t->name, r->id, r->kind, r->coverage.nmissing,
		 r->coverage.nmissing ? r->coverage.missing[0].reason : "",
		 r->nentry ? r->entry[0].status : 0, r->nentry ? r->entry[0].value : "");
	if (!r->kind || r->kind == STATUS_CSR_DEFINED)
		answered(t, r);
	t->conf.on_reply(t->conf.arg, r);
	reply_free(r);
}

int simtool_new(const struct simtool_conf *c, struct simtool **out, struct err *e)
{
	struct simtool *t = calloc(1, sizeof(*t));
	const struct identity who = world_identity(c->w, c->role, "", c->name);
	const struct msg_hello hello = { .role = "tool", .host = c->name, .epoch = c->epoch };
	struct link_conf conf = {
		.loop = c->loop ? c->loop : c->w->loop,
		.handler = { .on_up = on_up, .on_msg = on_msg, .on_down = on_down, .arg = t }
	};
	int rc;

	if (!t)
		return err_nomem(e);
	t->conf = *c;
	str_copy(t->name, sizeof(t->name), c->name);
	t->next_id = 1 + c->epoch * ID_FIRST_FACTOR;
	rng_init(&t->rng, rng_next(&c->w->dice));
	conf.rng = &t->rng;
	rc = mem_ctx_open(c->w->net, &who, &t->ctx, e);
	if (!rc) {
		t->link = link_dial(&conf, &(struct link_dialer){ dial, t }, &hello);
		rc = t->link ? 0 : err_nomem(e);
	}
	if (rc) {
		simtool_free(t);
		return rc;
	}
	*out = t;
	return 0;
}

void simtool_free(struct simtool *t)
{
	if (!t)
		return;
	link_close(t->link, "the tool has finished");
	net_ctx_free(t->ctx);
	reply_free(t->part);
	free(t);
}

bool simtool_is_up(const struct simtool *t)
{
	return t->is_up;
}

uint64_t simtool_next_id(struct simtool *t)
{
	return t->next_id++;
}

uint64_t simtool_ask(struct simtool *t, const struct simtool_ask *q)
{
	struct msg m = { .type = MSG_REQUEST };

	if (!t->is_up || t->n == SIMTOOL_PENDING_MAX)
		return 0;
	m.request = (struct msg_request){ .id = q->id ? q->id : t->next_id++,
					  .text = { (const uint8_t *)q->text, strlen(q->text) },
					  .deadline_ns = q->deadline,
					  .flags = q->flags };
	if (link_send(t->link, &m))
		return 0;
	log_info("sim", "%s asks id=%" PRIu64 " flags=%u %s", t->name, m.request.id, q->flags,
		 q->text);
	t->pending[t->n] =
		(struct pending){ m.request.id, loop_now(t->conf.w->loop) + q->deadline, "" };
	str_copy(t->pending[t->n++].text, sizeof(t->pending[0].text), q->text);
	return m.request.id;
}

void simtool_ack(struct simtool *t, const struct msg_events_ack *ack)
{
	const struct msg m = { .type = MSG_EVENTS_ACK, .events_ack = *ack };

	if (t->is_up)
		link_send(t->link, &m);
}

void simtool_stand(struct simtool *t, nsec_t time)
{
	for (size_t i = 0; i < t->n; i++)
		t->pending[i].due += time;
}

/*
 * A link may be cut, be repaired before it counts as lost, and be cut again. It delivers no answer
 * then, but no daemon is at fault. So the time of a past silence does not count. A link limits each
 * silence to six seconds, after which it ends.
 */
static void forgive_silence(struct simtool *t)
{
	struct link_stats s = { 0 };

	if (t->is_up)
		link_stats(t->link, &s);
	if (s.silence < t->silence && t->silence > QUIET_NS)
		simtool_stand(t, t->silence);
	t->silence = s.silence;
}

void simtool_check(struct simtool *t, nsec_t slow)
{
	nsec_t now = loop_now(t->conf.w->loop);

	forgive_silence(t);
	for (size_t i = 0; i < t->n; i++)
		if (now > t->pending[i].due + SIMTOOL_LATE_NS + slow)
			world_break(t->conf.w,
				    "INV-1: tool %s: request %" PRIu64
				    " (%s) has no answer %" PRId64
				    " ms after its deadline, but the link is up",
				    t->name, t->pending[i].id, t->pending[i].text,
				    (now - t->pending[i].due) / NSEC_PER_MSEC);
}
