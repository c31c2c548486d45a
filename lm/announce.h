/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Announces this host to the parent: everything when a link comes up, then the changes, once per
 * turn of the loop.
 */
#ifndef LM_ANNOUNCE_H
#define LM_ANNOUNCE_H

#include "common/base/buf.h"
#include "lm/proc/proc.h"
#include "proto/msg.h"

/* objects of one message: far below PROTO_ELEMENTS_MAX and FRAME_MAX_BYTES */
#define ANNOUNCE_PART_MAX 500
/* delay after a full queue; then everything is sent again */
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

/* The link to the parent is up or down. The node's number must be known before it is up. */
void announce_link(struct announce *d, bool is_up);

/*
 * Sets the services of the plug-ins of this host: text of added.h, copied. A snapshot follows if
 * it has changed. -ERR_NOMEM.
 */
int announce_services(struct announce *d, const struct buf *text);

/* The queue to the parent has room again. */
void announce_room(struct announce *d);

/* Reports that this host leaves, so that it does not count as lost. */
void announce_leave(struct announce *d);

#endif
