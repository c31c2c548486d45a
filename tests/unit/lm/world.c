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

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	messages_add(&((struct above *)arg)->got, m);
}

void above_listen(struct world *w, struct above *a, enum role role, const char *host,
		  uint16_t *port)
{
	const struct identity id = fake_identity(role, role == ROLE_SM ? "site" : "", host);

	timebase_init_root(&a->time, loop_now(w->loop), INT64_C(1700000000) * SEC);
	a->up = (struct upper){ .loop = w->loop,
				.rng = &w->rng,
				.time = &a->time,
				.epoch = a->up.epoch ? a->up.epoch : 5,
				.on_hello = on_hello,
				.on_msg = on_msg,
				.arg = a };
	upper_listen(&a->up, w->net, &id, port);
}

void above_close(struct above *a)
{
	if (!a->up.ctx)
		return;
	upper_close(&a->up, 10 * SEC);
	messages_done(&a->got);
}

void above_send(struct above *a, const struct msg *m)
{
	ck_assert_ptr_nonnull(a->up.link);
	ck_assert_int_eq(link_send(a->up.link, m), 0);
}

const struct msg *above_next(struct above *a, uint8_t type)
{
	return messages_next(&a->got, type);
}

void above_skip_all(struct above *a)
{
	messages_skip(&a->got);
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
	const struct identity self = fake_identity(ROLE_LM, "site", "leaf");

	*w = (struct world){ .loop = loop_new_virtual(), .may_manipulate = true, .next_id = 1 };
	w->net = mem_net_new(w->loop, 1);
	rng_init(&w->rng, 1);
	timebase_init(&w->time, loop_now(w->loop), INT64_C(1600000000) * SEC);
	fake_host_init(&w->host);
	ck_assert_int_eq(mem_net_set_link(w->net, NULL, NULL, &(struct mem_link){ .delay = MS }),
			 0);
	ck_assert_int_eq(mem_ctx_open(w->net, &self, &w->ctx, NULL), 0);
	above_listen(w, &w->mainsm, ROLE_MAINSM, "top", &w->port);
	above_listen(w, &w->sm, ROLE_SM, "mid", &w->sm_port);
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
	return w->sm.up.link ? &w->sm : &w->mainsm;
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
