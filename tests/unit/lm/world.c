/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/lm/world.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/text/token.h"
#include "lm/attach/registration.h"
#include "lm/lm_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIN "aaaaaaaaaaaaaaaaaaaaaaaaaa"

static struct identity identity_of(enum role role, const char *site, const char *host)
{
	struct identity id = { .role = role, .wall_not_after = INT64_MAX };

	str_copy(id.site, sizeof(id.site), site);
	str_copy(id.host, sizeof(id.host), host);
	memset(id.serial, host[0], sizeof(id.serial));
	return id;
}

/* --- above */

static int on_hello(void *arg, struct link *l, const struct msg_hello *h, struct msg_hello_ack *ack,
		    struct err *why)
{
	struct above *a = arg;

	a->hellos++;
	if (a->refuse)
		return err_set(why, ERR_DENIED, "%s", a->refuse);
	ack->node = WORLD_NODE;
	ack->name = "n_7";
	ack->site = "site";
	ack->redirect = a->redirect ? a->redirect : "";
	ack->parents = a->parents ? a->parents : "";
	ack->retry_ms = 300;
	return 0;
}

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	((struct above *)arg)->link = l;
}

/* A message is valid in its callback only: stores it as a frame, decoded again. */
static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct buf b = BUF_INIT(2 * FRAME_MAX_BYTES);
	struct above *a = arg;

	ck_assert_uint_lt(a->n, WORLD_MSGS);
	ck_assert_int_eq(msg_put(&b, m), 0);
	ck_assert_int_eq(msg_get(m->type, b.p + 5, b.n - 5, &a->msg[a->n++], NULL), 0);
	buf_done(&b);
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
	((struct above *)arg)->link = NULL;
}

static void on_accept(void *arg, struct chan *c)
{
	struct above *a = arg;
	struct link_conf conf = { .loop = a->world->loop,
				  .rng = &a->world->rng,
				  .timebase = &a->time,
				  .epoch = a->epoch,
				  .handler = { .on_hello = on_hello,
					       .on_up = on_up,
					       .on_msg = on_msg,
					       .on_down = on_down,
					       .arg = a } };

	ck_assert_ptr_nonnull(link_accept(&conf, &c));
}

void above_listen(struct above *a, enum role role, const char *host, uint16_t *port)
{
	const struct identity id = identity_of(role, role == ROLE_SM ? "site" : "", host);
	const struct net_listen_conf lc = { .roles = ROLE_BIT(ROLE_LM), .port = *port };
	const struct net_accept accept = { .on_accept = on_accept, .arg = a };
	struct err e = { 0 };

	timebase_init_root(&a->time, loop_now(a->world->loop), INT64_C(1700000000) * SEC);
	ck_assert_msg(mem_ctx_open(a->world->net, &id, &a->ctx, &e) == 0, "%s", e.text);
	ck_assert_msg(net_listen(a->ctx, &lc, &accept, &a->listener, &e) == 0, "%s", e.text);
	*port = net_listener_port(a->listener);
}

void above_close(struct above *a)
{
	if (!a->ctx)
		return;
	net_listener_close(a->listener);
	link_close(a->link, "the daemon above ends");
	a->link = NULL;
	loop_advance(a->world->loop, 10 * SEC);
	net_ctx_free(a->ctx);
	a->ctx = NULL;
	for (size_t i = 0; i < a->n; i++)
		msg_free(a->msg[i]);
	a->n = a->seen = 0;
}

void above_send(struct above *a, const struct msg *m)
{
	ck_assert_ptr_nonnull(a->link);
	ck_assert_int_eq(link_send(a->link, m), 0);
}

const struct msg *above_next(struct above *a, uint8_t type)
{
	while (a->seen < a->n)
		if (a->msg[a->seen++]->type == type)
			return a->msg[a->seen - 1];
	return NULL;
}

void above_skip_all(struct above *a)
{
	a->seen = a->n;
}

/* --- the lm */

static void on_end(void *arg, const char *reason)
{
	struct world *w = arg;

	str_copy(w->end_reason, sizeof(w->end_reason), reason);
}

void world_start_lm(struct world *w)
{
	const struct lm_conf c = { .loop = w->loop,
				   .rng = &w->rng,
				   .timebase = &w->time,
				   .host = &w->host.host,
				   .epoch = 42,
				   .host_name = "leaf",
				   .memfd = w->host.memfd,
				   .socket = w->socket,
				   .journal = w->journal,
				   .audit = w->audit,
				   .baselines = w->baselines,
				   .done = w->done,
				   .spool = w->spool,
				   .tracer = w->tracer,
				   .files = "/proc/some /proc/gone",
				   .uid = getuid(),
				   .may_manipulate = w->may_manipulate,
				   .linger = w->linger,
				   .on_end = on_end,
				   .arg = w };
	struct connstr conn = { .host = { "top" }, .nhost = 1, .port = w->port, .pin = PIN };
	struct err e = { 0 };

	ck_assert_msg(lm_open(&c, &w->lm, &e) == 0, "%s", e.text);
	ck_assert_int_eq(lm_connect(w->lm, w->ctx, &conn), 0);
	world_run(w, 500 * MS);
}

void world_crash_lm(struct world *w)
{
	struct lm *m = w->lm;

	/* A dead process sends no bye and releases no stopped process. */
	w->lm = NULL;
	m->conf.journal = NULL;
	lm_free(m);
	world_run(w, 100 * MS);
}

void world_open(struct world *w)
{
	const struct identity self = identity_of(ROLE_LM, "site", "leaf");

	*w = (struct world){ .loop = loop_new_virtual(), .may_manipulate = true, .next_id = 1 };
	w->net = mem_net_new(w->loop, 1);
	rng_init(&w->rng, 1);
	timebase_init(&w->time, loop_now(w->loop), INT64_C(1600000000) * SEC);
	fake_host_init(&w->host);
	w->mainsm.world = w->sm.world = w;
	w->mainsm.epoch = w->sm.epoch = 5;
	ck_assert_int_eq(mem_net_set_link(w->net, NULL, NULL, &(struct mem_link){ .delay = MS }),
			 0);
	ck_assert_int_eq(mem_ctx_open(w->net, &self, &w->ctx, NULL), 0);
	above_listen(&w->mainsm, ROLE_MAINSM, "top", &w->port);
	above_listen(&w->sm, ROLE_SM, "mid", &w->sm_port);
	snprintf(w->sm_addr, sizeof(w->sm_addr), "mid:%u", w->sm_port);
	world_start_lm(w);
}

void world_close(struct world *w)
{
	lm_free(w->lm);
	loop_advance(w->loop, SEC);
	above_close(&w->mainsm);
	above_close(&w->sm);
	net_ctx_free(w->ctx);
	loop_turn(w->loop);
	mem_net_free(w->net);
	loop_free(w->loop);
	ck_assert_uint_eq(w->host.open, 0);
}

void world_run(struct world *w, nsec_t by)
{
	loop_turn(w->loop);
	loop_advance(w->loop, by);
}

/* --- asking */

static struct above *parent(struct world *w)
{
	return w->sm.link ? &w->sm : &w->mainsm;
}

const struct msg_reply *world_ask_as(struct world *w, uint32_t tool, const char *identity,
				     const char *text)
{
	struct msg m = { .type = MSG_REQUEST,
			 .request = { .id = w->next_id++,
				      .tool = tool,
				      .identity = identity,
				      .right = OMIS_ADMIN,
				      .deadline_ns = 2 * SEC,
				      .flags = w->as.flags,
				      .op_epoch = w->as.op_epoch,
				      .op = w->as.op,
				      .text = { (const uint8_t *)text, strlen(text) } } };
	const struct msg *got;

	above_skip_all(parent(w));
	above_send(parent(w), &m);
	for (int i = 0; i < 300; i++) {
		world_run(w, 10 * MS);
		got = above_next(parent(w), MSG_REPLY);
		if (got && got->reply.id == m.request.id)
			return &got->reply;
	}
	ck_abort_msg("no reply to %s", text);
	return NULL;
}

const struct msg_reply *world_ask(struct world *w, const char *identity, const char *text)
{
	return world_ask_as(w, 1, identity, text);
}

const struct msg_entry *reply_entry_of(const struct msg_reply *r, const char *object)
{
	for (size_t i = 0; i < r->nentry; i++)
		if (!object || !strcmp(r->entry[i].objects, object))
			return &r->entry[i];
	return NULL;
}

const char *entry_text(const struct msg_entry *e)
{
	static char text[FRAME_MAX_BYTES];

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_lt(e->value.n, sizeof(text));
	memcpy(text, e->value.n ? (const char *)e->value.p : "", e->value.n);
	text[e->value.n] = 0;
	return text;
}

const char *world_token(struct world *w, int32_t pid)
{
	list_each (i, procs_all(w->lm->procs)) {
		const struct proc *p = list_entry(i, struct proc, link);

		if (p->pid == pid)
			return p->token.s;
	}
	return "";
}

void world_add_rank(struct world *w, struct fake_segment *s, int32_t pid, int32_t rank, char *token)
{
	world_add_rank_with(
		w, s, &(struct fake_rank){ .pid = pid, .rank = rank, .tid = (uint32_t)pid }, token);
}

void world_add_rank_with(struct world *w, struct fake_segment *s, const struct fake_rank *r,
			 char *token)
{
	struct fake_proc *p = fake_proc_add(&w->host, r->pid, "heat");

	fake_segment_open_with(s, r);
	p->memfd = s->fd;
	ck_assert_int_eq(registration_segment(w->lm->registration, fcntl(s->fd, F_DUPFD_CLOEXEC, 3),
					      r->pid, false),
			 0);
	world_run(w, 20 * MS);
	if (token)
		str_copy(token, TOKEN_BYTES, world_token(w, r->pid));
}

const struct msg_arm_ack *world_arm(struct world *w, const char *csr, const char *text,
				    uint32_t prefix, bool reply)
{
	struct msg m = { .type = MSG_ARM,
			 .arm = { .csr = csr,
				  .tool = 1,
				  .identity = MANIPULATOR,
				  .version = 3,
				  .text = { (const uint8_t *)text, strlen(text) },
				  .local_prefix = prefix,
				  .reply = reply } };
	const struct msg *got;

	above_send(parent(w), &m);
	world_run(w, 20 * MS);
	got = above_next(parent(w), MSG_ARM_ACK);
	ck_assert_ptr_nonnull(got);
	ck_assert_uint_eq(got->arm_ack.version, 3);
	return &got->arm_ack;
}
