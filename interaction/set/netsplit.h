/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits the mixed events of many nodes into interactions: sub-tasks that create or join one
 * another belong together. An interaction is given out when it is over, so memory is bounded by
 * those under way. Events may be out of order. Source: insplit of Ashton and Penny, TR COSC 01/91,
 * section 7.2.
 */
#ifndef INTERACTION_SET_NETSPLIT_H
#define INTERACTION_SET_NETSPLIT_H

#include "common/base/clock.h"
#include "interaction/network.h"

/*
 * The time for late events of an interaction that seems to be over. Clocks of hosts differ by
 * less.
 */
#define NETSPLIT_GRACE_NS (10 * NSEC_PER_SEC)
/* Vertices of open interactions at once, some 100 bytes each. */
#define NETSPLIT_VERTICES_MAX (24u << 20)

enum netsplit_outcome {
	NETSPLIT_WHOLE, /* not built yet */
	NETSPLIT_INCOMPLETE, /* something is missing: a log, a node, an event */
	NETSPLIT_WRONG, /* an event contradicts another; *why has the place */
};

struct netsplit_part {
	const char *name; /* of its source; "" */
	enum netsplit_outcome outcome;
	struct network *w; /* valid during the call */
	const struct err *why; /* of NETSPLIT_WRONG, and of an interaction that had no room */
};

/* Any value but 0 ends the split and is returned. */
typedef int (*netsplit_fn)(void *arg, const struct netsplit_part *p, struct err *e);

struct netsplit_report {
	uint64_t events, repeated; /* accepted; there twice, and left out */
	uint64_t interactions, incomplete, wrong;
};

struct netsplit;

/* most: NETSPLIT_VERTICES_MAX, or fewer for tests. NULL: no memory. */
struct netsplit *netsplit_new(struct netuse *use, size_t most, netsplit_fn fn, void *arg);
void netsplit_free(struct netsplit *s);

/*
 * For use on line: ages are measured by the caller's clock, because times of events may be false.
 * A whole interaction is given out grace_ns after its last event, in netsplit_tick().
 */
void netsplit_live(struct netsplit *s, int64_t grace_ns);
int netsplit_tick(struct netsplit *s, int64_t now, struct err *e);

/* Gives out parts without an event since `idle`, and parts that began before `begun`. */
int netsplit_give_older(struct netsplit *s, int64_t idle, int64_t begun, struct err *e);
size_t netsplit_held(const struct netsplit *s); /* vertices */

/* name: of an interaction, at its source; or NULL. ERR_NOMEM, or what fn returned. */
int netsplit_add(struct netsplit *s, const struct network_event *ev, const char *name,
		 struct err *e);

/* Gives out the rest, in the order of their first events. */
int netsplit_end(struct netsplit *s, struct err *e);

const struct netsplit_report *netsplit_report(const struct netsplit *s);

#endif
