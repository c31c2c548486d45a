/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated world: all processes on one thread, and virtual time. A seed gives the same run to
 * the bit with one C library; logarithms may differ in another one.
 */
#ifndef NEKO_SIMULATED_SIM_H
#define NEKO_SIMULATED_SIM_H

#include "neko/core/event.h"
#include "neko/core/limits.h"
#include "neko/simulated/simnet.h"

struct sim;

/* Makes m processes without layers. ERR_INVALID, ERR_NOMEM. */
int sim_new(uint32_t m, uint64_t seed, struct sim **out, struct err *e);

/* Ends the run first. Handlers and traces are not called again. NULL is fine. */
void sim_free(struct sim *s);

/* Networks are numbered in the order of adding, from 0. ERR_LIMIT, ERR_NOMEM. */
int sim_add_net(struct sim *s, const struct simnet_conf *conf, struct err *e);

/* NULL: not of 1..m. */
struct neko_process *sim_process(struct sim *s, uint32_t id);

/* h is copied. The handler receives all events from now on. */
void sim_set_handler(struct sim *s, const struct neko_handler *h);

enum sim_step_kind { SIM_SENT, SIM_LOST, SIM_DELIVERED };

struct sim_step {
	enum sim_step_kind kind;
	nsec_t at;
	uint32_t to;
	const char *net, *type;
	const struct neko_msg *msg;
};

/* Called for each message as it is sent, lost and delivered. NULL: none. */
void sim_set_trace(struct sim *s, void (*fn)(void *arg, const struct sim_step *t), void *arg);

/* From this time on the process does and receives nothing. -ERR_INVALID, -ERR_NOMEM. */
int sim_crash(struct sim *s, uint32_t id, nsec_t at);

/* Sets the stack size of active layers; before the run. */
void sim_set_stack(struct sim *s, size_t bytes);

#define SIM_PAUSE_EVENTS 1000000 /* less than a second: the caller can check its clock */

enum sim_end {
	SIM_STOPPED, /* the handler's rule was fulfilled */
	SIM_LEFT, /* a layer called neko_stop() */
	SIM_TIME_OVER, /* `until` */
	SIM_NOTHING_LEFT, /* no event is left */
	SIM_PAUSED, /* after a million events: call again, or do other work */
};

/*
 * Runs up to that time, NEKO_TIME_MAX at most; a later call continues. ERR_NOMEM. ERR_LIMIT: a loop
 * without any time passing, or a stack is too small; the text names the layer.
 */
int sim_run(struct sim *s, nsec_t until, enum sim_end *out, struct err *e);

/*
 * Each wait of an active layer returns -ERR_CLOSED now. Returns how many layers did not return
 * then.
 */
unsigned sim_end_run(struct sim *s);

nsec_t sim_now(const struct sim *s);

/* Copies the names of the types of messages that layers declared; NULL: not declared. */
void sim_type_names(const struct sim *s, const char *out[NEKO_TYPES_MAX]);

struct sim_counts {
	uint64_t events, sent, delivered;
};

const struct sim_counts *sim_counts(const struct sim *s);

/* Returns a hash of all events in their order: equal for two runs of one seed. */
uint64_t sim_hash(const struct sim *s);

#endif
