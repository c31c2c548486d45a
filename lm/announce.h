/* SPDX-License-Identifier: Apache-2.0 */
/* What this host says of itself to the daemon above: all of it when a link comes up, then what
 * changes, once a turn. */
#ifndef LM_ANNOUNCE_H
#define LM_ANNOUNCE_H

#include "lm/proc/proc.h"
#include "proto/msg.h"

/* objects of one message: far below PROTO_ELEMENTS_MAX and FRAME_MAX_BYTES */
#define ANNOUNCE_PART_MAX 500
/* after a queue was full: then everything is sent again */
#define ANNOUNCE_RETRY_NS (200 * NSEC_PER_MSEC)

struct announce;
struct timebase;

struct announce_conf {
	struct loop *loop;
	struct procs *procs;
	struct timebase *timebase; /* all borrowed */
	int (*send)(void *arg, const struct msg *m); /* as link_send() */
	void *arg;
};

struct announce *announce_new(const struct announce_conf *c);
void announce_free(struct announce *d);

/* The link upwards came or went. The node's number must be known before it comes. */
void announce_link(struct announce *d, bool is_up);

/* The queue upwards has room again. */
void announce_room(struct announce *d);

/* Says that this host leaves: it is not lost, it has gone. */
void announce_leave(struct announce *d);

#endif
