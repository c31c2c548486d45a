/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes and threads of one host, as it last reported them. They are kept so that a mainsm
 * that returns gets whole snapshots, and changes are reported together. Every name was checked to
 * be the host's own. Pure.
 */
#ifndef SM_HOSTS_OBJECTS_H
#define SM_HOSTS_OBJECTS_H

#include "common/base/err.h"
#include "proto/msg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OBJECTS_NODE_MAX 16384 /* of one host, so that it cannot take the room of the others */
#define OBJECTS_NODE_BYTES_MAX (8 * 1024 * 1024) /* and their texts */
#define OBJECTS_SITE_MAX 262144 /* of all hosts: what a mainsm keeps */
#define OBJECTS_SITE_BYTES_MAX (128 * 1024 * 1024)
#define OBJECTS_PART_MAX 2000 /* of one message: far below PROTO_ELEMENTS_MAX */
#define OBJECTS_PART_BYTES (256 * 1024)

struct objects;

struct quota;
struct quota_use;

/* What all hosts of the site hold together; zeroed at first. */
struct objects_total {
	size_t n, bytes, procs;
	const struct quota *quota; /* borrowed; NULL = none */
	struct quota_use *use; /* borrowed, with quota */
};

/* The host that may report here; strings are copied, total is borrowed. NULL: no memory. */
struct objects *objects_new(uint32_t node, const char *site, const char *host,
			    struct objects_total *total);
void objects_free(struct objects *o);

/*
 * Takes a message of the host. ERR_DENIED: it speaks of what is not its own;
 * ERR_PROTO: a name or parent is invalid; ERR_LIMIT, ERR_NOMEM. What came before the offending
 * object
 * stays. *left is set when the host says that it is going.
 */
int objects_apply(struct objects *o, const struct msg_directory *m, bool *left, struct err *e);

/* The link to the host was lost: half a snapshot is void, a new one will come. */
void objects_restart(struct objects *o);

size_t objects_count(const struct objects *o);

/* Something changed since the last report. */
bool objects_has_news(const struct objects *o);

/* The process that a thread belongs to; NULL when it is not known. */
const char *objects_parent(const struct objects *o, const char *token);

struct objects_sink {
	/* 0 or negative: then the rest waits for the next call. m is valid during the call. */
	int (*send)(void *arg, const struct msg_directory *m);
	void *arg;
};

/* The receiver has lost its state, or is a new one: the next report is a full one. */
void objects_want_full(struct objects *o);

/*
 * Reports changes, or everything when that is due and the host has reported it all: half of it
 * would make the rest vanish. head is the host's own object and goes first; NULL: without it
 * (changes only). Sent objects count as reported.
 */
int objects_notify(struct objects *o, const struct msg_object *head, const struct objects_sink *to);

#endif
