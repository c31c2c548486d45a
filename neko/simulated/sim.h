/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated world: all processes run in one thread and in virtual time. With one C library, a
 * seed gives the same run to the bit; logarithms may differ in another library.
 */
#ifndef NEKO_SIMULATED_SIM_H
#define NEKO_SIMULATED_SIM_H

#include "neko/core/event.h"
#include "neko/core/limits.h"
#include "neko/simulated/simnet.h"

struct sim;

/* Makes m processes without layers. Fails with ERR_INVALID, ERR_NOMEM. */
int sim_new(uint32_t m, uint64_t seed, struct sim **out, struct err *e);

/* Ends the run first. Does not call handlers and traces again. NULL is accepted. */
void sim_free(struct sim *s);

/* Networks are numbered in the order of adding, from 0. Fails with ERR_LIMIT, ERR_NOMEM. */
int sim_add_net(struct sim *s, const struct simnet_conf *conf, struct err *e);

/* Returns NULL for an id outside of 1..m. */
struct neko_process *sim_process(struct sim *s, uint32_t id);

/* Makes the handler receive all further events. h is copied. */
void sim_set_handler(struct sim *s, const struct neko_handler *h);

enum sim_step_kind { SIM_SENT, SIM_LOST, SIM_DELIVERED };

struct sim_step {
	enum sim_step_kind kind;
	nsec_t at;
	uint32_t to;
	const char *net, *type;
	const struct neko_msg *msg;
};

/*
 * Sets a function that is called for each message when it is sent, lost or delivered. NULL: none.
 */
void sim_set_trace(struct sim *s, void (*fn)(void *arg, const struct sim_step *t), void *arg);

/*
 * Crashes the process at that time: it sends and receives nothing later. Fails with ERR_INVALID,
 * ERR_NOMEM.
 */
int sim_crash(struct sim *s, uint32_t id, nsec_t at);

/* Sets the stack size of active layers; before the run. */
void sim_set_stack(struct sim *s, size_t bytes);

/* takes less than a second, so that the caller can check its clock */
#define SIM_PAUSE_EVENTS 1000000

enum sim_end {
	SIM_STOPPED, /* the stop rule of the handler was fulfilled */
	SIM_LEFT, /* a layer called neko_stop() */
	SIM_TIME_OVER, /* the time `until` was reached */
	SIM_NOTHING_LEFT, /* no event is left */
	SIM_PAUSED, /* after SIM_PAUSE_EVENTS: the caller may continue, or do other work */
};

/*
 * Runs up to that time, at most NEKO_TIME_MAX; a later call continues. Fails with ERR_NOMEM, and
 * with ERR_LIMIT for a loop in which no time passes, or a stack overflow. The text names the layer.
 */
int sim_run(struct sim *s, nsec_t until, enum sim_end *out, struct err *e);

/*
 * Makes each wait of an active layer return -ERR_CLOSED. Returns how many layers did not return
 * after that.
 */
unsigned sim_end_run(struct sim *s);

nsec_t sim_now(const struct sim *s);

/* Copies the names of message types that layers have declared; NULL for others. */
void sim_type_names(const struct sim *s, const char *out[NEKO_TYPES_MAX]);

struct sim_counts {
	uint64_t events, sent, delivered;
};

const struct sim_counts *sim_counts(const struct sim *s);

/* Returns a hash of all events in their order. It is equal for two runs with one seed. */
uint64_t sim_hash(const struct sim *s);

#endif
