/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool of a simulated world that requests tokens from mainsm, and notes each one that it
 * receives. Such a token must be valid for its whole life, even if mainsm or its disk fails.
 */
#ifndef SIM_TOOLS_ADMIN_H
#define SIM_TOOLS_ADMIN_H

#include "sim/nodes/cluster.h"

struct admin;

/* slow: delay that links may add to an answer. */
int admin_new(struct cluster *c, nsec_t slow, struct admin **out, struct err *e);
void admin_free(struct admin *a);

/*
 * mainsm is running. Breaks the world unless each received token is valid. Returns how many there
 * are.
 */
size_t admin_judge(const struct admin *a);

/* Sends no more requests, and leaves. */
void admin_leave(struct admin *a);

#endif
