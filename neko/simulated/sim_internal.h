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
 * The coroutine of an active layer. At most one queued event is its timer. A wait until a later
 * time leaves that event in place: a thousand receives of messages cost one event.
 */
struct flow {
	struct coro *coro;
	struct neko_layer *layer;
	struct flow *next_ready; /* next in sim.ready, which contains a flow at most once */
	nsec_t wake_at; /* NEKO_NEVER: only a message wakes it */
	uint64_t wake_seq; /* order of wake_at among equal times */
	nsec_t queued_at;
	uint64_t queued_seq; /* 0: no event is queued; events with other numbers are stale */
	bool is_waiting, is_for_message, is_ready, is_timed_out;
	unsigned closed; /* how often it was closed */
	unsigned polls; /* polls in the current turn */
};

struct sim {
	struct neko_world world; /* must be the first member; a sim is identified by its ops */
	nsec_t now;
	uint64_t seed, seq, hash;
	struct events queue;
	uint64_t nstale;
	struct simnet *net[NEKO_NETS_MAX];
	/* owned; networks of shared objects, NULL for others */
	struct neko_net *own[NEKO_NETS_MAX];
	/* time of the queued event of a shared line; NEKO_NEVER: none */
	nsec_t armed_at[NEKO_NETS_MAX];
	struct coro_stacks *stacks;
	size_t stack_bytes;
	/* flows: owned, one for each active layer, by process */
	struct flow *flows, *ready, *ready_last;
	size_t nflow;
	const struct flow *running; /* running flow */
	/* owned; NULL without memory: a stack overflow is not reported then */
	struct simstack *watch;
	struct neko_handler handler;
	void (*trace)(void *, const struct sim_step *);
	void *trace_arg;
	struct sim_counts counts;
	struct err failure; /* the error that ends the run */
	uint64_t same_time; /* events at the present time */
	bool is_started, is_stopped, is_closing;
	bool is_left; /* stopped by a layer */
};

/* Active layers: simflow.c. */
int sim_flows_start(struct sim *s);
void sim_flows_free(struct sim *s);
int sim_flow_wait(struct neko_layer *l, nsec_t until, bool for_message);
void sim_flow_arrived(struct neko_layer *l);
void sim_flow_timer(struct sim *s, const struct event *v);
void sim_run_ready(struct sim *s);
unsigned sim_flows_close(struct sim *s);

/* Networks with a shared line: simmedium.c. */
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
