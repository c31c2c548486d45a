/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes and threads of one host, as it last reported them. A mainsm that returns gets them
 * as whole snapshots; changes are reported together. Every name was checked to belong to the host.
 * Pure.
 */
#ifndef SM_HOSTS_OBJECTS_H
#define SM_HOSTS_OBJECTS_H

#include "common/base/err.h"
#include "proto/msg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OBJECTS_NODE_MAX 16384 /* per host, so that one host cannot use the room of others */
#define OBJECTS_NODE_BYTES_MAX (8 * 1024 * 1024) /* and their texts */
#define OBJECTS_SITE_MAX 262144 /* of all hosts: as many as mainsm stores */
#define OBJECTS_SITE_BYTES_MAX (128 * 1024 * 1024)
#define OBJECTS_PART_MAX 2000 /* per message: far below PROTO_ELEMENTS_MAX */
#define OBJECTS_PART_BYTES (256 * 1024)

struct objects;

struct quota;
struct quota_use;

/* Totals over all hosts of the site; initially zero. */
struct objects_total {
	size_t n, bytes, procs;
	const struct quota *quota; /* borrowed; NULL = none */
	struct quota_use *use; /* borrowed, with quota */
};

/*
 * For the host that may report here. Strings are copied, total is borrowed. Returns NULL without
 * memory.
 */
struct objects *objects_new(uint32_t node, const char *site, const char *host,
			    struct objects_total *total);
void objects_free(struct objects *o);

/*
 * Applies a message of the host. ERR_DENIED: it names an object that is not its own; ERR_PROTO: a
 * name or parent is invalid; ERR_LIMIT, ERR_NOMEM. Objects before the offending one stay. *left is
 * set if the host announces its end.
 */
int objects_apply(struct objects *o, const struct msg_directory *m, bool *left, struct err *e);

/* The link to the host was lost: a partial snapshot is dropped, and a new one follows. */
void objects_restart(struct objects *o);

size_t objects_count(const struct objects *o);

/* True if something changed since the last report. */
bool objects_has_news(const struct objects *o);

/* Returns the process of a thread; NULL if it is not known. */
const char *objects_parent(const struct objects *o, const char *token);

struct objects_sink {
	/*
	 * Returns 0, or negative: then the rest waits for the next call. m is valid during the
	 * call.
	 */
	int (*send)(void *arg, const struct msg_directory *m);
	void *arg;
};

/* The parent has lost its state, or is a new one: the next report is complete. */
void objects_want_full(struct objects *o);

/*
 * Reports changes, or everything if a complete report is due. A complete report waits for the
 * host's snapshot, because missing objects would count as ended. head is the host's own object and
 * is sent first; NULL: without it (changes only). Sent objects count as reported.
 */
int objects_notify(struct objects *o, const struct msg_object *head, const struct objects_sink *to);

#endif
