/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interactions on line. Below, a daemon takes the events of its host, or the batches of daemons
 * below it; contracts its part of each interaction, and sends the result to its parent. At the
 * top, an interaction is closed when all its sub-tasks have a begin and an end: then all its credit
 * is back (docs/interactions.md). What stays incomplete is reported, and is in no sum.
 */
#ifndef INTERACTION_ONLINE_NETONLINE_H
#define INTERACTION_ONLINE_NETONLINE_H

#include "interaction/online/netarc.h"
#include "interaction/set/netsplit.h"
#include "interaction/set/nettotal.h"

#define NETONLINE_SENDERS_MAX 4096 /* daemons below, with those that were restarted */
#define NETONLINE_WINDOW 64 /* batches of one sender that may overtake each other */

struct netonline_plan {
	uint64_t sender; /* of batches; 0: the top, which sends none */
	bool is_lowest; /* it takes events, and no batches */
	bool is_plain; /* lowest: events are sent without contraction, to compare results */
	size_t most; /* vertices of open interactions: NETSPLIT_VERTICES_MAX, or fewer */
	int64_t idle_ns; /* below the top: time from the last event of a part to its sending */
	/* below the top: the longest time from the first event of a part to its sending */
	int64_t age_ns;
	int64_t grace_ns; /* top: time for late events of a whole interaction */
	/* top: time after the last event at which an incomplete interaction is given up */
	int64_t timeout_ns;
	void (*send)(void *arg, struct bytes batch); /* NULL at the top; valid during the call */
	/* top: an interaction is whole, and was built and analysed; NULL */
	void (*whole)(void *arg, const char *name, const struct network *w,
		      const struct netanalysis *a);
	void *arg;
};

/* Exact counts since the begin. */
struct netonline_report {
	uint64_t events, events_repeated; /* taken; repeated, and left out */
	uint64_t events_lost; /* not taken, here or below: netonline_lose(), or too many uses */
	/* taken; repeated, or too late to decide that, and left out */
	uint64_t batches, batches_repeated;
	uint64_t batches_bad; /* not of the form */
	/* lost on the way, by the numbers of those that arrived */
	uint64_t batches_lost, arcs_lost;
	uint64_t arcs; /* taken from branches */
	uint64_t sent_arcs, sent_bytes, sent_batches;
	uint64_t early; /* below: parts that were sent for lack of memory; results are the same */
	/* at the top */
	uint64_t incomplete; /* interactions with a source that lack something */
	uint64_t strays; /* parts without a source: lost, or too late */
	uint64_t wrong; /* interactions with events that contradict each other */
	uint64_t torn; /* a sub-task went to another daemon and came back without a message */
	uint64_t evicted; /* dropped for lack of memory */
};

struct netonline;

/*
 * Owns *take, in which all objects, states and alternatives are declared: at most
 * NETCONTRACT_OBJECTS_MAX objects, in the same order in all daemons. ERR_LIMIT, ERR_NOMEM.
 */
int netonline_new(struct netuse **take, const struct netonline_plan *plan, struct netonline **out,
		  struct err *e);
void netonline_free(struct netonline *o);

/* An event of this host. Uses of undeclared objects are left out. ERR_NOMEM. */
int netonline_add(struct netonline *o, const struct network_event *ev, const char *name,
		  struct err *e);

/* Events of this host were lost. The next tick reports them upwards, also without arcs. */
void netonline_lose(struct netonline *o, uint64_t n);

/*
 * Takes a batch of a branch. ERR_PROTO: it is not a batch, or it is invalid from the byte of e on;
 * the arcs before that byte count. ERR_LIMIT: too many senders; ERR_NOMEM.
 */
int netonline_take(struct netonline *o, struct bytes batch, struct err *e);

/*
 * Sends or closes the interactions that are due at the time `now`, of the caller's clock.
 * ERR_NOMEM.
 */
int netonline_tick(struct netonline *o, int64_t now, struct err *e);

/* As netonline_tick() for all parts and interactions, at the end. */
int netonline_end(struct netonline *o, struct err *e);

struct netonline_report netonline_report(const struct netonline *o);
struct nettotal *netonline_total(struct netonline *o); /* of the top; it may be sorted */
const struct netuse *netonline_use(const struct netonline *o);
size_t netonline_held(const struct netonline *o); /* vertices */

#endif
