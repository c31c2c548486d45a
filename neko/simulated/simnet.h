/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated network: whether, when and how often a message arrives. */
#ifndef NEKO_SIMULATED_SIMNET_H
#define NEKO_SIMULATED_SIMNET_H

#include "neko/core/delay.h"
#include "neko/simulated/delaytrace.h"
#include "neko/simulated/medium.h"
#include "neko/simulated/simcut.h"

#include <stddef.h>

struct neko_net_ops;
struct setup;
struct simnet;

struct simnet_conf {
	const char *name; /* copied; of messages' logs */
	struct delay delay;
	bool lacks_delay; /* the configuration has none: for real runs only */
	const struct delaytrace
		*trace; /* in place of delay; borrowed for the network's life. NULL: none */
	/* each message draws from its link's delays; else they are used in order, repeatedly */
	bool is_resampled;
	struct medium_conf
		medium; /* a line shared by all, in place of delays; loss and cut still apply */
	double loss, duplicate; /* probabilities for a message, independent of all others */
	double reorder; /* chance that a message is held for reorder_by more */
	nsec_t reorder_by;
	/*
	 * a lost message is sent again after this, twice this, ..., so that it is late; with
	 * is_fifo: TCP. 0: it is lost
	 */
	nsec_t resend;
	/* messages between two processes keep their order: a later one waits */
	bool is_fifo;
	double bits_per_s; /* of each sender's own line; 0: no limit */
	uint32_t header_bytes; /* of each message on the line */
	uint64_t queue_bytes; /* that may wait for a line; the rest is lost. 0: no limit */
	/* a network of a shared object in place of all but loss and cut; NULL: none */
	const struct neko_net_ops *own;
	struct setup *setup; /* borrowed, of such a network */
	const struct simcut *cut; /* copied */
	size_t ncut;
};

/* ERR_NOMEM; ERR_INVALID, ERR_LIMIT of a medium. */
int simnet_new(const struct simnet_conf *conf, uint32_t nprocess, uint64_t seed,
	       struct simnet **out, struct err *e);
void simnet_free(struct simnet *n);

const char *simnet_name(const struct simnet *n);

struct simnet_counts {
	uint64_t sent, lost, cut, dropped, doubled; /* dropped: no room or time of a line */
};

const struct simnet_counts *simnet_counts(const struct simnet *n);

/* NULL: messages do not share a line. */
struct medium *simnet_medium(const struct simnet *n);
/* Drops waiting frames: before the net is freed, if there may be some. */
void simnet_free_medium(struct simnet *n, void (*forget)(void *arg, void *what), void *arg);
/* For a message that was sent: false if it is lost on its way to one process. */
bool simnet_delivers(struct simnet *n, nsec_t now, uint32_t from, uint32_t to);
void simnet_count_dropped(struct simnet *n, uint32_t messages);

#define SIMNET_COPIES_MAX 2

struct simnet_frame {
	uint32_t from, to;
	size_t bytes;
};

/*
 * Sends a message now. Writes its times of arrival to at; returns how many, or -ERR_NOMEM. A
 * process may send to itself in the same way.
 */
int simnet_pass(struct simnet *n, nsec_t now, struct simnet_frame f, nsec_t at[SIMNET_COPIES_MAX]);

#endif
