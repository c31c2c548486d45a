/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks with a shared line: a message is sent when the line is free, and then to all its
 * destinations.
 */
#include "neko/simulated/sim_internal.h"

/*
 * Queues the event of a line, unless one is queued at the time of its next step or earlier. An
 * early event has no effect.
 */
static int arm(struct sim *s, uint32_t net)
{
	nsec_t next = medium_next(simnet_medium(s->net[net]));
	const struct event v = { next, s->seq + 1, NULL, SIM_MEDIUM, net };

	if (next >= s->armed_at[net] || next > NEKO_TIME_MAX)
		return 0;
	s->seq++;
	if (events_add(&s->queue, &v))
		return sim_fail(s, ERR_NOMEM, "out of memory for a network");
	s->armed_at[net] = next;
	return 0;
}

static void report_all(struct sim *s, enum sim_step_kind kind, const struct neko_msg *m)
{
	for (uint32_t i = 0; s->trace && i < m->nto; i++)
		sim_trace(s, kind, m, world_destination(m, i));
}

int sim_medium_send(struct sim *s, struct neko_msg *m)
{
	struct medium *line = simnet_medium(s->net[m->net]);
	int rc;

	s->counts.sent += m->nto;
	report_all(s, SIM_SENT, m);
	if (!m->nto)
		return 0;
	rc = medium_put(line, s->now, m->from, m->n, m);
	if (rc == -ERR_LIMIT) {
		simnet_count_dropped(s->net[m->net], m->nto);
		report_all(s, SIM_LOST, m);
		return 0;
	}
	if (rc)
		return sim_fail(s, ERR_NOMEM, "out of memory for a message");
	m->refs++;
	return arm(s, m->net);
}

static int arrive(struct sim *s, struct neko_msg *m, uint32_t to)
{
	struct simnet *n = s->net[m->net];
	struct event v = { s->now + medium_way(simnet_medium(n), m->from, to), ++s->seq, m,
			   SIM_MESSAGE, to };

	if (!simnet_delivers(n, s->now, m->from, to)) {
		if (s->trace)
			sim_trace(s, SIM_LOST, m, to);
		return 0;
	}
	if (events_add(&s->queue, &v))
		return sim_fail(s, ERR_NOMEM, "out of memory for a message");
	m->refs++;
	return 0;
}

static void hand_out(struct sim *s, const struct medium_frame *f)
{
	struct neko_msg *m = f->what;

	if (f->is_given_up) {
		simnet_count_dropped(s->net[m->net], m->nto);
		report_all(s, SIM_LOST, m);
	}
	for (uint32_t i = 0; !f->is_given_up && i < m->nto; i++)
		if (arrive(s, m, world_destination(m, i)))
			break;
	world_msg_unref(&s->world, m);
}

void sim_medium_due(struct sim *s, const struct event *v)
{
	struct medium *line = simnet_medium(s->net[v->to]);
	struct medium_frame f;

	if (v->at == s->armed_at[v->to])
		s->armed_at[v->to] = NEKO_NEVER;
	while (medium_next(line) <= s->now)
		if (medium_step(line, &f))
			hand_out(s, &f);
	arm(s, v->to);
}

static void forget(void *arg, void *what)
{
	struct sim *s = arg;

	world_msg_unref(&s->world, what);
}

void sim_medium_drop(struct sim *s)
{
	for (unsigned i = 0; i < s->world.nnet; i++)
		simnet_free_medium(s->net[i], forget, s);
}
