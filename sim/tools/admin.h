/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool of a simulated world that requests tokens from mainsm, and notes each token that it
 * receives. Such a token must stay valid for its whole life, even if mainsm or its disk fails.
 */
#ifndef SIM_TOOLS_ADMIN_H
#define SIM_TOOLS_ADMIN_H

#include "sim/nodes/cluster.h"

struct admin;

/* slow: longest delay that links may add to an answer. */
int admin_new(struct cluster *c, nsec_t slow, struct admin **out, struct err *e);
void admin_free(struct admin *a);

/*
 * Requires that mainsm runs. Breaks the world unless each received token is valid. Returns the
 * number of tokens.
 */
size_t admin_judge(const struct admin *a);

/* Stops sending requests, and leaves. */
void admin_leave(struct admin *a);

#endif
