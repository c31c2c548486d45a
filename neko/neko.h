/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a distributed algorithm sees. It consists of processes 1..m; a process is a
 * stack of layers, on top of networks. A layer sends to the layer below and
 * delivers to the one above. A passive layer is called; an active one has a flow
 * of control of its own (`run`) and a queue, from which it receives.
 *
 * The same source runs in a simulation and on real networks. In both only one
 * layer of a process runs at a time: between two waits (receive, sleep)
 * nothing else of the process happens. Times are the run's: 0 is its beginning.
 */
#ifndef NEKO_NEKO_H
#define NEKO_NEKO_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "neko/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct neko_process;
struct neko_layer;

#define NEKO_NEVER INT64_MAX
#define NEKO_OTHERS UINT32_MAX /* the one destination: all processes but the sender, of which no list is kept */

/* Counted, and nobody changes it once it was sent. Read the fields freely. */
struct neko_msg {
	nsec_t sent_at; /* by the sender's clock; 0 before */
	uint32_t from;
	uint32_t to; /* the first destination: the only one of a unicast; NEKO_OTHERS */
	uint32_t nto;
	uint32_t refs;
	uint32_t n; /* bytes of the content */
	uint16_t type;
	uint8_t net; /* 0 is the first network */
	bool is_pooled;
	uint32_t *
		all; /* the nto destinations of a multicast, behind the content; NULL of a unicast and to NEKO_OTHERS */
	uint8_t content[];
};

/* A type of messages: a number that no other layer of the run gives another name. */
struct neko_type {
	uint16_t number;
	const char *name; /* lives as long as the program */
};

/* One kind of layers. Ends with what is NULL by default. */
struct neko_layer_ops {
	const char *name;
	size_t bytes; /* of its state: zero at first, freed by itself */
	/* What it declares, sends and receives; of other types deliver() is not called, they go up. */
	const struct neko_type *types; /* ends with a NULL name; NULL: all */
	/* The flow of control of an active layer. Returns when a wait says -ERR_CLOSED. */
	void (*run)(struct neko_layer *l);
	/* NULL: into the queue of an active layer, up from a passive one. m is the caller's. */
	void (*deliver)(struct neko_layer *l, struct neko_msg *m);
	/* NULL: down. m is the caller's. */
	int (*send)(struct neko_layer *l, struct neko_msg *m);
	void (*done)(struct neko_layer *l); /* at the end of the run; the state is still there */
};

/* --- processes */

uint32_t neko_id(const struct neko_process *p);
uint32_t neko_count(const struct neko_process *p); /* m */
uint32_t neko_nets(const struct neko_process *p); /* numbers of networks are below */

/* Puts a layer on top. Only before the run. *out is its state, NULL for no bytes; out may be NULL. */
int neko_push(struct neko_process *p, const struct neko_layer_ops *ops, void *out, struct err *e);

/* --- layers */

void *neko_state(struct neko_layer *l);
struct neko_process *neko_process(struct neko_layer *l);
nsec_t neko_now(const struct neko_layer *l);

/* Of the process: no other one, and no network, draws from it. */
struct rng *neko_rng(struct neko_layer *l);

/*
 * A message of one reference. content may be NULL for zeros. NULL without memory. -ERR_INVALID for a
 * destination that is none comes with the sending.
 */
struct neko_msg *neko_msg_new(struct neko_layer *l, uint16_t type, const void *content, size_t n);
/* The same to many; all of `to` is copied. */
struct neko_msg *neko_msg_many(struct neko_layer *l, const uint32_t *to, uint32_t nto,
			       uint16_t type, const void *content, size_t n);
static inline void neko_msg_ref(struct neko_msg *m)
{
	m->refs++;
}
void neko_msg_unref(struct neko_layer *l, struct neko_msg *m);

/*
 * To the layer below, at last to the network. Never waits. -ERR_INVALID: no such
 * process, network or type; -ERR_LIMIT, -ERR_NOMEM; -ERR_CLOSED when the run ends. That
 * a network loses it is no failure.
 */
int neko_send(struct neko_layer *l, struct neko_msg *m);

/* One new message to one process over a network, and nothing to free. */
int neko_send_to(struct neko_layer *l, uint32_t to, uint8_t net, uint16_t type, const void *content,
		 size_t n);

/* To the layer above; above the highest it is dropped. */
void neko_deliver(struct neko_layer *l, struct neko_msg *m);

/*
 * Active layers only. Blocks until a message is there, at most for timeout
 * (0: does not block; < 0: for ever). *out lives until the layer's next receive. -ERR_TIMEOUT,
 * -ERR_CLOSED: the run ends, return from run().
 */
int neko_receive(struct neko_layer *l, nsec_t timeout, struct neko_msg **out);

/* Active layers only. Blocks until the time, whatever comes. 0; -ERR_CLOSED as above. */
int neko_sleep_until(struct neko_layer *l, nsec_t at);
int neko_sleep(struct neko_layer *l, nsec_t duration);

/*
 * Tells the handler of the run that something happened here and now. what lives as long as the
 * program.
 */
void neko_log(struct neko_layer *l, const char *what, double content);

/* Asks for the end of the run. */
void neko_stop(struct neko_layer *l);

#endif
