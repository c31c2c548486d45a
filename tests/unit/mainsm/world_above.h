/* SPDX-License-Identifier: Apache-2.0 */
/* The tools of a world that a test plays. Part of world.h, which includes it. */
#ifndef TESTS_UNIT_MAINSM_WORLD_ABOVE_H
#define TESTS_UNIT_MAINSM_WORLD_ABOVE_H

#include "tests/unit/mainsm/world.h"

static inline int above_dial(void *arg, unsigned attempt, const struct chan_handler *h,
			     struct chan **out, struct err *e)
{
	struct above *a = arg;
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };

	return net_dial(a->ctx,
			&(struct net_target){ .host = "top", .port = a->w->port, .expect = &x }, h,
			out, e);
}

static inline void above_on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct above *a = arg;

	a->is_up = true;
	a->number = ack->tool;
}

static inline void above_on_down(void *arg, struct link *l, const struct err *why)
{
	struct above *a = arg;

	a->is_up = false;
	a->downs++;
	str_copy(a->why, sizeof(a->why), why->text);
}

static inline void above_on_retry(void *arg, struct link *l, const struct err *why, nsec_t in)
{
	str_copy(((struct above *)arg)->why, ERR_TEXT_BYTES, why->text);
}

static inline void above_on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct above *a = arg;
	struct reply *r;

	if (m->type == MSG_EVENTS && a->on_events)
		a->on_events(&m->events);
	if (m->type != MSG_REPLY)
		return;
	if (!a->last || a->last->id != m->reply.id || !m->reply.more) {
		reply_free(a->last);
		a->last = reply_new();
	}
	ck_assert_int_eq(wire_add_reply(a->last, &m->reply), 0);
	if (m->reply.more)
		return;
	a->replies++;
	a->kinds[m->reply.kind / 2]++;
	if (m->reply.kind && m->reply.kind != STATUS_CSR_DEFINED &&
	    a->nevent < sizeof(a->events) / sizeof(a->events[0]))
		a->events[a->nevent++] = m->reply.kind;
	r = reply_new();
	wire_add_reply(r, &m->reply);
	reply_free(a->of_kind[m->reply.kind / 2]);
	a->of_kind[m->reply.kind / 2] = r;
}

static inline void above_open_as(struct world *w, struct above *a, const struct identity *who)
{
	const char *name = who->host;
	const struct msg_hello hello = { .role = "tool", .host = name, .epoch = 77 };
	const struct link_conf conf = { .loop = w->loop,
					.rng = &a->rng,
					.handler = { .arg = a,
						     .on_up = above_on_up,
						     .on_msg = above_on_msg,
						     .on_down = above_on_down,
						     .on_retry = above_on_retry } };

	*a = (struct above){ .w = w, .next_id = 1 };
	world_dice(&a->rng, name);
	ck_assert_int_eq(mem_ctx_open(w->net, who, &a->ctx, NULL), 0);
	a->link = link_dial(&conf, &(struct link_dialer){ above_dial, a }, &hello);
	world_run(w, 300 * MS);
}

static inline void above_open(struct world *w, struct above *a, enum role role, const char *name)
{
	struct identity who = fake_identity(role, "", name);

	above_open_as(w, a, &who);
}

static inline void above_close(struct above *a)
{
	link_close(a->link, "the test is over");
	world_run(a->w, 10 * MS);
	net_ctx_free(a->ctx);
	reply_free(a->last);
	for (size_t i = 0; i < 16; i++)
		reply_free(a->of_kind[i]);
}

static inline uint64_t above_send(struct above *a, const char *text, nsec_t deadline)
{
	struct msg m = { .type = MSG_REQUEST };

	m.request = (struct msg_request){ .id = a->next_id++,
					  .text = { (const uint8_t *)text, strlen(text) },
					  .deadline_ns = deadline };
	ck_assert_int_eq(link_send(a->link, &m), 0);
	return m.request.id;
}

/* Sends and waits for the reply; NULL when none arrived in that time. */
static inline const struct reply *above_ask_for(struct above *a, const char *text, nsec_t deadline,
						nsec_t wait)
{
	uint64_t id = above_send(a, text, deadline);

	world_run(a->w, wait);
	return a->last && a->last->id == id ? a->last : NULL;
}

static inline const struct reply *above_ask(struct above *a, const char *text)
{
	const struct reply *r = above_ask_for(a, text, 0, 100 * MS);

	ck_assert_msg(r != NULL, "no reply to %s", text);
	return r;
}

/* The status of a request's only, or first bad, entry. */
static inline unsigned above_status(struct above *a, const char *text)
{
	return reply_status(above_ask(a, text));
}

static inline void above_attach_all(struct above *a)
{
	ck_assert_uint_eq(above_status(a, ":site_attach([]) node_attach([]) proc_attach([])"),
			  STATUS_OK);
}

/* The entry number i of that action; NULL. */
static inline const struct reply_entry *entry_of(const struct reply *r, uint32_t action, size_t i)
{
	for (size_t k = 0; k < r->nentry; k++)
		if (r->entry[k].action == action && i-- == 0)
			return &r->entry[k];
	return NULL;
}

#endif
