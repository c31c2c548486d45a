/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of shared objects: each decides when a message arrives. */
#include "common/base/hash.h"
#include "neko/simulated/sim_internal.h"

static nsec_t later(const struct sim *s, nsec_t at)
{
	return at > s->now ? at : s->now;
}

static nsec_t now(const struct neko_net *n)
{
	return ((const struct sim *)n->owner)->now;
}

static void arrive(struct neko_net *n, struct neko_msg *m, uint32_t to, nsec_t at)
{
	struct sim *s = n->owner;
	const struct event v = { later(s, at), s->seq + 1, m, SIM_MESSAGE, to };

	if (!world_process(&s->world, to)) {
		sim_fail(s, ERR_INVALID, "network %s: there is no process %u", n->name, to);
		return;
	}
	s->seq++;
	if (events_add(&s->queue, &v))
		sim_fail(s, ERR_NOMEM, "out of memory for a message");
	else
		m->refs++;
}

static void lose(struct neko_net *n, struct neko_msg *m, uint32_t to)
{
	struct sim *s = n->owner;

	if (s->trace)
		sim_trace(s, SIM_LOST, m, to);
}

static void wake(struct neko_net *n, nsec_t at, uint64_t what)
{
	struct sim *s = n->owner;
	const struct event v = { later(s, at), s->seq + 1, (void *)(uintptr_t)what, SIM_OWN,
				 n->number };

	s->seq++;
	if (events_add(&s->queue, &v))
		sim_fail(s, ERR_NOMEM, "out of memory for a network");
}

static void unref(struct neko_net *n, struct neko_msg *m)
{
	world_msg_unref(&((struct sim *)n->owner)->world, m);
}

static const struct net_world sim_world = {
	.now = now, .arrive = arrive, .lose = lose, .wake = wake, .unref = unref
};

int sim_own_new(struct sim *s, const struct simnet_conf *conf, unsigned i, struct err *e)
{
	const struct net_conf c = { .ops = conf->own,
				    .world = &sim_world,
				    .owner = s,
				    .name = simnet_name(s->net[i]),
				    .setup = conf->setup,
				    .m = s->world.nprocess,
				    .number = (uint8_t)i,
				    .seed = hash_mix64(s->seed + 2) ^ hash_mix64(i + 1) };
	int rc = net_check_simulated(conf->own, conf->name, e);

	return rc ? rc : net_new(&c, &s->own[i], e);
}

/* Losses and partitions of the configuration apply before the network's own. */
void sim_own_send(struct sim *s, struct neko_msg *m, uint32_t to)
{
	s->counts.sent++;
	if (s->trace)
		sim_trace(s, SIM_SENT, m, to);
	if (simnet_delivers(s->net[m->net], s->now, m->from, to))
		s->own[m->net]->ops->send(s->own[m->net], m, to);
	else if (s->trace)
		sim_trace(s, SIM_LOST, m, to);
}

void sim_own_due(struct sim *s, const struct event *v)
{
	struct neko_net *n = s->own[v->to];

	n->ops->wake(n, (uintptr_t)v->what);
}

void sim_own_drop(struct sim *s)
{
	for (unsigned i = 0; i < s->world.nnet; i++) {
		net_free(s->own[i]);
		s->own[i] = NULL;
	}
}
