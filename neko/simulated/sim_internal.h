/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NEKO_SIMULATED_SIM_INTERNAL_H
#define NEKO_SIMULATED_SIM_INTERNAL_H

#include "neko/simulated/coro.h"
#include "neko/simulated/events.h"
#include "neko/simulated/sim.h"
#include "neko/simulated/simstack.h"
#include "neko/core/net.h"
#include "neko/core/world.h"

enum sim_kind { SIM_MESSAGE, SIM_WAKE, SIM_CRASH, SIM_MEDIUM, SIM_OWN };

/*
 * The coroutine of an active layer. At most one event of the queue is its timer. A later wait
 * leaves that timer in place: a thousand receives with a message each cost one event.
 */
struct flow {
	struct coro *coro;
	struct neko_layer *layer;
	struct flow *next_ready; /* in sim.ready, once */
	nsec_t wake_at; /* NEKO_NEVER: by a message only */
	uint64_t wake_seq; /* the place of wake_at among equal times */
	nsec_t queued_at;
	uint64_t queued_seq; /* 0: no event is queued; events with other numbers are stale */
	bool is_waiting, is_for_message, is_ready, is_timed_out;
	unsigned closed; /* times it was closed */
	unsigned polls; /* polls in the current turn */
};

struct sim {
	struct neko_world world; /* first: identifies a sim by these ops */
	nsec_t now;
	uint64_t seed, seq, hash;
	struct events queue;
	uint64_t nstale;
	struct simnet *net[NEKO_NETS_MAX];
	struct neko_net *own[NEKO_NETS_MAX]; /* owned: those of shared objects; NULL for others */
	nsec_t armed_at[NEKO_NETS_MAX]; /* the event of a shared line; NEKO_NEVER: none */
	struct coro_stacks *stacks;
	size_t stack_bytes;
	struct flow *flows, *ready, *ready_last; /* flows: owned, of active layers, by process */
	size_t nflow;
	const struct flow *running; /* running flow */
	struct simstack *watch; /* owned; NULL: no memory, then it dies without a message */
	struct neko_handler handler;
	void (*trace)(void *, const struct sim_step *);
	void *trace_arg;
	struct sim_counts counts;
	struct err failure; /* error that ends the run */
	uint64_t same_time; /* events without time passing */
	bool is_started, is_stopped, is_closing;
	bool is_left; /* stopped, and by a layer */
};

/* Active layers. */
int sim_flows_start(struct sim *s);
void sim_flows_free(struct sim *s);
int sim_flow_wait(struct neko_layer *l, nsec_t until, bool for_message);
void sim_flow_arrived(struct neko_layer *l);
void sim_flow_timer(struct sim *s, const struct event *v);
void sim_run_ready(struct sim *s);
unsigned sim_flows_close(struct sim *s);

/* Networks with a shared line. */
int sim_medium_send(struct sim *s, struct neko_msg *m);
void sim_medium_due(struct sim *s, const struct event *v);
void sim_medium_drop(struct sim *s);

void sim_trace(struct sim *s, enum sim_step_kind kind, const struct neko_msg *m, uint32_t to);

int sim_fail(struct sim *s, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static inline struct sim *sim_of(struct neko_world *w)
{
	return (struct sim *)(void *)w;
}

/* Networks of shared objects: simown.c. */
int sim_own_new(struct sim *s, const struct simnet_conf *conf, unsigned i, struct err *e);
void sim_own_send(struct sim *s, struct neko_msg *m, uint32_t to);
void sim_own_due(struct sim *s, const struct event *v);
void sim_own_drop(struct sim *s);

#endif
