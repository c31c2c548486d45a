/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of objects: sites > nodes > processes > threads, by token. It has the last report
 * of the daemons below; a node that does not answer keeps its objects. Pure: the inputs are decoded
 * messages, and time is an argument.
 */
#ifndef MAINSM_DIRECTORY_DIRECTORY_H
#define MAINSM_DIRECTORY_DIRECTORY_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/container/list.h"
#include "proto/msg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIRECTORY_OBJECTS_MAX 262144 /* four times what one request may name */
#define DIRECTORY_NODE_OBJECTS_MAX 16384 /* so that one host cannot fill the directory */

/* The letters are the prefixes of tokens; a container precedes its contents. */
enum object_kind { OBJECT_SITE, OBJECT_NODE, OBJECT_PROC, OBJECT_THREAD, OBJECT_KINDS };

/* Read-only outside; strings are never NULL. Valid until the directory changes or removes it. */
struct object {
	const char *token;
	enum object_kind kind;
	struct object *parent; /* NULL for a site */
	struct list children, sibling; /* struct object by `sibling`, in the order of their birth */
	uint64_t born; /* the directory's sequence number at its creation */
	uint32_t number; /* of the site, else of the node that it is on */
	const char *name, *job, *flavour, *host;
	int64_t pid;
	int32_t rank, world_size; /* rank -1: not an MPI process (yet) */
	uint32_t state; /* enum msg_state, as reported; object_state() adds silence */
	int32_t exit_status;
	int64_t time_ns; /* time of that report, by the node's clock */
	uint32_t sub; /* node: enum msg_node_sub */
	uint32_t server; /* node: the branch that serves it, 0 = none */
	/* node: number of the claim of that branch; a later claim has a greater number */
	uint64_t attach;
	nsec_t since; /* node: time of the last change of `sub` */
	/* node: number of its objects, snapshots seen; else: the last snapshot that contained it */
	uint32_t objects, round;
	bool snapshot; /* node: parts of a snapshot are missing */
	struct buf services; /* node: services of its plug-ins, as it reported them */
};

enum directory_change { DIRECTORY_CAME, DIRECTORY_CHANGED, DIRECTORY_WENT };

struct added_services;
struct directory;

struct directory *directory_new(void);
void directory_free(struct directory *d);

/* Called for each change; for DIRECTORY_WENT while the object still exists, children first. */
void directory_set_listener(struct directory *d,
			    void (*fn)(void *arg, const struct object *o,
				       enum directory_change what),
			    void *arg);

/* Returns NULL if there is none. */
struct object *directory_find(const struct directory *d, const char *token);
struct object *directory_node(const struct directory *d, uint32_t number);

/* Returns the list of sites: struct object by `sibling`, in order of creation. */
const struct list *directory_sites(const struct directory *d);

/* Returns the number of the last creation; later objects have higher numbers. */
uint64_t directory_sequence(const struct directory *d);
size_t directory_count(const struct directory *d, enum object_kind kind);

/* Adds, or finds the site with that number. ERR_NOMEM, ERR_LIMIT. */
int directory_add_site(struct directory *d, uint32_t number, const char *name, struct object **out);
int directory_add_node(struct directory *d, uint32_t number, const char *host, struct object *site,
		       nsec_t now, struct object **out);

/*
 * Applies the report of branch `server` about one node. The node must have been added and be served
 * by that branch. Objects must belong to that node, each under an existing parent. ERR_DENIED
 * (another node's, or not this branch's), ERR_PROTO (token or parent is invalid), ERR_LIMIT,
 * ERR_NOMEM. Objects before the offending one stay.
 */
int directory_apply(struct directory *d, uint32_t server, const struct msg_directory *m, nsec_t now,
		    struct err *e);

void directory_serve(struct directory *d, struct object *node, uint32_t server, uint64_t attach);
void directory_set_sub(struct directory *d, struct object *node, uint32_t sub, nsec_t now);

/* Marks all nodes of that branch as lost and not served. */
void directory_branch_lost(struct directory *d, uint32_t server, nsec_t now);

/* Removes nodes that have been lost for longer than `keep`. Returns how many. */
size_t directory_forget(struct directory *d, nsec_t now, nsec_t keep);

/*
 * Returns the services of all plug-ins; NULL: there are none, or no memory. Valid until the
 * directory changes.
 */
const struct added_services *directory_added(struct directory *d);
/* Of what directory_added() has returned last: another number after each change. */
unsigned directory_added_version(const struct directory *d);

/* Calls fn for each node whose plug-ins have that service. */
void directory_each_offering(struct directory *d, const char *service,
			     void (*fn)(void *arg, const struct object *node), void *arg);

/* Returns the container of that kind (o itself if it is of that kind), NULL if o is above it. */
struct object *object_container(const struct object *o, enum object_kind kind);

/* Returns enum msg_state; MSG_STATE_UNREACHABLE if its node is lost and it had not ended. */
uint32_t object_state(const struct object *o);

/* Returns OBJECT_SITE for 's' and so on; -1 for another letter. */
int object_kind_of(char letter);

#endif
