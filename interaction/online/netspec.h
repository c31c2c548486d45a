/* SPDX-License-Identifier: Apache-2.0 */
/* Objects, states and sets as a request declares them: in the same order in all daemons. */
#ifndef INTERACTION_ONLINE_NETSPEC_H
#define INTERACTION_ONLINE_NETSPEC_H

#include "interaction/netuse.h"

/* Borrowed texts. */
struct netspec_list {
	const char **text;
	size_t n;
};

struct netspec {
	struct netspec_list inherit; /* objects that new sub-tasks use too */
	struct netspec_list states; /* NAME=OBJECT+OBJECT */
	struct netspec_list members; /* OBJECT+OBJECT: the alternatives of a set */
};

/*
 * Declares all objects, states and members of s. Objects that are not declared are left out from
 * then on. ERR_INVALID, ERR_EXISTS, ERR_LIMIT (more than NETCONTRACT_OBJECTS_MAX objects),
 * ERR_NOMEM.
 */
int netspec_declare(const struct netspec *s, struct netuse **out, struct err *e);

#endif
