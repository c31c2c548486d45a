/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated network, which decides whether, when and how often a message arrives. */
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
	const char *name; /* copied; for the messages' log */
	struct delay delay;
	bool lacks_delay; /* the configuration has no delay: for real runs only */
	const struct delaytrace
		*trace; /* used instead of `delay`; borrowed for the network's life; NULL: none */
	/*
	 * each message draws a random delay of its link; otherwise delays are used in order,
	 * repeatedly
	 */
	bool is_resampled;
	struct medium_conf
		/* a line that all share, used instead of `delay`; loss and cut still apply */
		medium;
	double loss, duplicate; /* probability for a message, independent of others */
	double reorder; /* probability that a message is delayed by reorder_by */
	nsec_t reorder_by;
	/*
	 * time after which a lost message is sent again, then twice that time, and so on; with
	 * is_fifo like TCP; 0: the message is lost
	 */
	nsec_t resend;
	/* messages between two processes stay in order: a later one waits */
	bool is_fifo;
	double bits_per_s; /* rate of each sender's line; 0: no limit */
	uint32_t header_bytes; /* bytes that are added to each message on the line */
	/* bytes that may wait for a line; further messages are lost; 0: no limit */
	uint64_t queue_bytes;
	/*
	 * a network of a shared object, used instead of all members except loss and cut; NULL: none
	 */
	const struct neko_net_ops *own;
	struct setup *setup; /* borrowed; settings of that network */
	const struct simcut *cut; /* copied */
	size_t ncut;
};

/* Fails with ERR_NOMEM, and with ERR_INVALID and ERR_LIMIT for a medium. */
int simnet_new(const struct simnet_conf *conf, uint32_t nprocess, uint64_t seed,
	       struct simnet **out, struct err *e);
void simnet_free(struct simnet *n);

const char *simnet_name(const struct simnet *n);

struct simnet_counts {
	uint64_t sent, lost, cut, dropped, doubled; /* dropped: no room or no time on a line */
};

const struct simnet_counts *simnet_counts(const struct simnet *n);

/* Returns NULL if messages do not share a line. */
struct medium *simnet_medium(const struct simnet *n);
/* Drops waiting frames. Must be called before the network is freed if some may wait. */
void simnet_free_medium(struct simnet *n, void (*forget)(void *arg, void *what), void *arg);
/* Returns false if a message that was sent is lost on its way to one process. */
bool simnet_delivers(struct simnet *n, nsec_t now, uint32_t from, uint32_t to);
void simnet_count_dropped(struct simnet *n, uint32_t messages);

#define SIMNET_COPIES_MAX 2

struct simnet_frame {
	uint32_t from, to;
	size_t bytes;
};

/*
 * Sends a message at the present time. Writes the times of its arrivals to at, and returns their
 * number. Fails with ERR_NOMEM. A process may send to itself.
 */
int simnet_pass(struct simnet *n, nsec_t now, struct simnet_frame f, nsec_t at[SIMNET_COPIES_MAX]);

#endif
