/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects in use by a sub-task, as numbers: equal uses have the same number. A use is a count of
 * nested begins for each object. Number 0 is the use without an object. Source: Ashton and Penny,
 * TR COSC 01/91, sections 5.1 and 6.2, with the rules of docs/interactions.md.
 */
#ifndef INTERACTION_NETUSE_H
#define INTERACTION_NETUSE_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETUSE_OBJECTS_MAX                                                     \
	65536 /* a host's files, peers and programs of an hour; names are kept \
	       */
#define NETUSE_STATES_MAX 64 /* declared states are bits of a word; users compare fewer */
#define NETUSE_MEMBERS_MAX 1024 /* alternatives of a predicate */
#define NETUSE_TERMS_MAX 64 /* objects of one state or alternative */
/* Uses of hostile networks grow with the square of their objects; usual ones need kilobytes. */
#define NETUSE_MAX_BYTES (256u << 20)

enum netuse_class {
	NETUSE_LOCAL, /* stays with the sub-task that began the use */
	NETUSE_INHERIT, /* copied to new sub-tasks; the larger count survives a join */
};

struct netuse;

struct netuse *netuse_new(void); /* NULL: no memory */
void netuse_free(struct netuse *u);

/*
 * Returns the number of an object, which becomes known as local when it was not. ERR_INVALID: no
 * printable name; ERR_NOTFOUND after netuse_close(); ERR_LIMIT, ERR_NOMEM.
 */
int netuse_object(struct netuse *u, const char *name, size_t n, uint32_t *out, struct err *e);

/*
 * Declarations; they precede the first network_build(). ERR_EXISTS: the state is declared with
 * other objects; ERR_INVALID: too late, or no object; ERR_LIMIT, ERR_NOMEM. An alternative (of
 * membership) holds when all its objects are in use at once.
 */
int netuse_declare(struct netuse *u, uint32_t object, enum netuse_class class, struct err *e);
int netuse_add_state(struct netuse *u, const char *name, const uint32_t *object, size_t n,
		     struct err *e);
int netuse_add_member(struct netuse *u, const uint32_t *object, size_t n, struct err *e);

/* Adds no objects from now on: events may name objects that no declaration has. */
void netuse_close(struct netuse *u);

unsigned netuse_objects(const struct netuse *u);
const char *netuse_object_name(const struct netuse *u, uint32_t object);
enum netuse_class netuse_object_class(const struct netuse *u, uint32_t object);
bool netuse_is_declared(const struct netuse *u, uint32_t object);
unsigned netuse_states(const struct netuse *u);
const char *netuse_state_name(const struct netuse *u, unsigned state);
/* Return the objects of a state or alternative, *n of them. */
const uint32_t *netuse_state_objects(const struct netuse *u, unsigned state, size_t *n);
unsigned netuse_members(const struct netuse *u);
const uint32_t *netuse_member_objects(const struct netuse *u, unsigned member, size_t *n);

/*
 * Replace *use by the use after a begin or an end. The use after a fork is that of the new
 * sub-task; `ending` is the use of a sub-task that ends at a join. ERR_NOTFOUND: an end without a
 * begin, *use is unchanged. ERR_LIMIT, ERR_NOMEM.
 */
int netuse_begin(struct netuse *u, uint32_t *use, uint32_t object);
int netuse_end(struct netuse *u, uint32_t *use, uint32_t object);
int netuse_fork(struct netuse *u, uint32_t *use);
int netuse_join(struct netuse *u, uint32_t *use, uint32_t ending);

/*
 * Drops all uses but number 0; declarations stay. The caller must not use a network with them.
 * ERR_NOMEM.
 */
int netuse_forget(struct netuse *u);

/* Returns the use with the same objects, each begun once. Uses are below netuse_count(). */
uint32_t netuse_shape(const struct netuse *u, uint32_t use);
uint32_t netuse_count(const struct netuse *u);

/* Returns a bit for each declared state that holds. */
uint64_t netuse_holds(const struct netuse *u, uint32_t use);

/* True if an alternative of the membership holds. Without alternatives all interactions count. */
bool netuse_is_member(const struct netuse *u, uint32_t use);

/* Appends the names of the objects in use, sorted, with "+" between; "" for none. */
void netuse_put(const struct netuse *u, uint32_t use, struct buf *out);

#endif
