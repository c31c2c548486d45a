/* SPDX-License-Identifier: Apache-2.0 */
/* The fake lms. */
#include "tests/unit/sm/world.h"

#include <stdio.h>
#include <stdlib.h>

static struct leaf *leaf_of(struct fake_branch *b)
{
	return b->of;
}

static void on_up(struct fake_branch *b, const struct msg_hello_ack *ack)
{
	struct leaf *l = leaf_of(b);

	ck_assert_uint_eq(ack->node, l->number);
	ck_assert_str_eq(ack->site, "a");
	lm_snapshot(l);
}

static void on_other(struct fake_branch *b, const struct msg *m)
{
	struct leaf *l = leaf_of(b);

	switch (m->type) {
	case MSG_ENROL_ACK:
		ck_assert_ptr_nonnull(strstr(m->enrol_ack.error, "ask mainsm"));
		l->enrol_acks++;
		break;
	case MSG_FLOW_LOAD:
	case MSG_FLOW_READ:
	case MSG_FLOW_END:
	case MSG_EVENTS_OPEN:
	case MSG_EVENTS_ACK:
	case MSG_EVENTS_END:
		messages_add(&l->flows, m);
		break;
	case MSG_STOP:
		if (l->says_bye)
			lm_stop(l->w, (size_t)(l - l->w->lm));
		break;
	default:
		ck_abort_msg("the sm sent %s", msg_type_name(m->type));
	}
}

void lm_set(struct world *w, size_t i, const char *site, const char *host, uint32_t number)
{
	struct leaf *l = &w->lm[i];
	const struct identity id = fake_identity(ROLE_LM, site, host);

	*l = (struct leaf){ .w = w, .number = number, .epoch = 1, .procs = 2 };
	fake_branch_init(&l->b, w->loop, w->net, &id);
	l->b.to = "sm-a";
	l->b.port = &w->conf.port;
	l->b.wall = WORLD_WALL + number;
	l->b.on_up = on_up;
	l->b.on_other = on_other;
	l->b.of = l;
}

void lm_start(struct world *w, size_t i)
{
	struct leaf *l = &w->lm[i];

	fake_branch_dial(&l->b, &(struct msg_hello){ .role = "lm",
						     .site = l->b.id.site,
						     .host = l->b.host,
						     .node = l->number,
						     .epoch = l->epoch });
}

static void climb_up(void *arg, uint32_t node, bool is_other)
{
	struct leaf *l = arg;

	l->b.link = parent_current_link(l->parent);
	fake_branch_on_up(&l->b,
			  &(struct msg_hello_ack){ .node = node, .site = "a", .redirect = "" });
}

static void climb_down(void *arg, const struct err *why)
{
	struct leaf *l = arg;

	fake_branch_on_down(&l->b, why);
	l->b.link = NULL;
}

static void climb_msg(void *arg, const struct msg *m)
{
	fake_branch_on_msg(&((struct leaf *)arg)->b, m);
}

static void climb_trouble(void *arg, const struct err *why, nsec_t retry_in)
{
	fake_branch_on_retry(&((struct leaf *)arg)->b, why);
}

static void climb_writable(void *arg)
{
}

void lm_climb(struct world *w, size_t i)
{
	struct leaf *l = &w->lm[i];
	struct connstr conn = { .nhost = 1, .port = TOP_PORT };
	struct parent_conf c = { .loop = w->loop,
				 .rng = &w->rng,
				 .conn = &conn,
				 .host = l->b.host,
				 .epoch = l->epoch,
				 .node = l->number,
				 .software = "omig test",
				 .on_up = climb_up,
				 .on_down = climb_down,
				 .on_msg = climb_msg,
				 .on_writable = climb_writable,
				 .on_trouble = climb_trouble,
				 .arg = l };

	str_copy(conn.host[0], sizeof(conn.host[0]), "top");
	fake_branch_open(&l->b);
	c.ctx = l->b.ctx;
	l->parent = parent_new(&c);
	ck_assert_ptr_nonnull(l->parent);
}

void lm_stop(struct world *w, size_t i)
{
	struct leaf *l = &w->lm[i];

	if (!l->parent)
		fake_branch_close(&l->b);
	parent_free(l->parent);
	l->parent = NULL;
	l->b.link = NULL;
	l->b.is_up = false;
}

void lm_free(struct world *w, size_t i)
{
	lm_stop(w, i);
	world_run(w, MS);
	fake_branch_done(&w->lm[i].b);
}

void lm_send(struct leaf *l, const struct msg *m)
{
	fake_branch_send(&l->b, m);
}

void lm_report(struct leaf *l, bool full, const struct msg_object *o, size_t n)
{
	fake_branch_report(&l->b, l->number, full, o, n);
}

void lm_snapshot(struct leaf *l)
{
	struct msg_object *o = calloc(2 * l->procs + 1, sizeof(*o));
	char(*token)[TOKEN_BYTES] = calloc(2 * l->procs + 1, TOKEN_BYTES);
	char node[TOKEN_BYTES];

	snprintf(node, sizeof(node), "n_%u", l->number);
	o[0] = (struct msg_object){ .token = node, .parent = "", .name = l->b.host, .rank = -1 };
	for (size_t i = 0; i < l->procs; i++) {
		token_print_process((struct token *)token[2 * i], l->number, (uint32_t)i + 1);
		token_print_thread((struct token *)token[2 * i + 1], l->number, (uint32_t)i + 1);
		o[2 * i + 1] = (struct msg_object){
			.token = token[2 * i], .parent = node, .name = "heat", .rank = (int32_t)i
		};
		o[2 * i + 2] = (struct msg_object){ .token = token[2 * i + 1],
						    .parent = token[2 * i],
						    .name = "main",
						    .rank = -1 };
	}
	lm_report(l, true, o, 2 * l->procs + 1);
	free(o);
	free(token);
}

void lm_trigger(struct leaf *l, const char *csr, const char *thread)
{
	static uint64_t seq;
	char node[TOKEN_BYTES];
	const struct msg m = { .type = MSG_TRIGGERED,
			       .triggered = { .csr = csr,
					      .tool = 3,
					      .seq = ++seq,
					      .time_ns = WORLD_WALL,
					      .node = node,
					      .thread = thread } };

	snprintf(node, sizeof(node), "n_%u", l->number);
	link_send(l->b.link, &m);
}

void lm_reply(struct leaf *l, uint64_t id, uint32_t action, const char *objects)
{
	fake_branch_reply(&l->b, id, action, objects, "666");
}

void lms_start(struct world *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		lm_start(w, i);
	world_run(w, 50 * MS);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(w->lm[i].b.is_up, "lm %zu: %s", i, w->lm[i].b.why);
}

void lm_cut(struct world *w, size_t i, bool cut)
{
	const struct mem_link how = { .delay = MS / 10, .cut = cut };

	ck_assert_int_eq(mem_net_set_link(w->net, w->lm[i].b.host, "sm-a", &how), 0);
}
