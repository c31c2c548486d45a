/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the tokens of a request to the processes and threads of this host. */
#ifndef LM_PROC_RESOLVE_H
#define LM_PROC_RESOLVE_H

#include "common/omis/omis.h"
#include "lm/proc/proc.h"

struct object {
	char class; /* 'n' 'p' 't' */
	struct proc *proc; /* NULL for the node */
	const struct proc_thread *thread; /* NULL but for threads */
	const char *token;
};

/* Valid until the processes change: for use within one callback. */
struct objects {
	struct object *v;
	size_t n, cap;
};

/* Tokens of an action of a request. */
struct resolve_from {
	struct procs *procs;
	const struct omis_value *list;
	uint32_t action;
};

/*
 * Finds the objects of class 'n', 'p' or 't' that the list names. Containers are expanded (p: its
 * threads), contained objects are lifted (t: its process), each once. Unknown tokens become
 * UNKNOWN_OBJECT entries of the action. An empty list yields no object: daemons above resolve
 * scopes. -ERR_NOMEM, -ERR_LIMIT.
 */
int resolve(const struct resolve_from *from, char class, struct objects *out, struct reply *r);
void objects_done(struct objects *o);

#endif
