/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool of a simulated world that requests tokens of mainsm, and notes each one that it receives.
 * Such a token is good as long as it lasts, whatever becomes of mainsm and of its disk.
 */
#ifndef SIM_TOOLS_ADMIN_H
#define SIM_TOOLS_ADMIN_H

#include "sim/nodes/cluster.h"

struct admin;

/* slow: what links may add to an answer. */
int admin_new(struct cluster *c, nsec_t slow, struct admin **out, struct err *e);
void admin_free(struct admin *a);

/* mainsm is running: each token that was in a reply is good, else the world is broken. How many
 * they are. */
size_t admin_judge(const struct admin *a);

/* Asks for no more, and leaves. */
void admin_leave(struct admin *a);

#endif
