/* SPDX-License-Identifier: Apache-2.0 */
/* What this host says of itself to the daemon above: all of it when a link comes up, then what
 * changes, once a turn. */
#ifndef LM_DIRECTORY_H
#define LM_DIRECTORY_H

#include "lm/proc/proc.h"
#include "proto/msg.h"

/* objects of one message: far below PROTO_ELEMENTS_MAX and FRAME_MAX_BYTES */
#define DIRECTORY_PART_MAX 500
/* after a queue was full: then everything is told again */
#define DIRECTORY_RETRY_NS (200 * NSEC_PER_MSEC)

struct directory;
struct timebase;

struct directory_conf {
	struct loop *loop;
	struct procs *procs;
	struct timebase *timebase; /* all borrowed */
	int (*send)(void *arg, const struct msg *m); /* as link_send() */
	void *arg;
};

struct directory *directory_new(const struct directory_conf *c);
void directory_free(struct directory *d);

/* The link upwards came or went. The node's number must be known before it comes. */
void directory_link(struct directory *d, bool is_up);

/* The queue upwards has room again. */
void directory_room(struct directory *d);

/* Says that this host leaves: it is not lost, it has gone. */
void directory_leave(struct directory *d);

#endif
