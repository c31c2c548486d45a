/* SPDX-License-Identifier: Apache-2.0 */
/* The mainsm of a simulated world: starts, is killed, starts again with what is on its disk. */
#ifndef SIM_SIMTOP_H
#define SIM_SIMTOP_H

#include "sim/world.h"

#include "common/base/buf.h"

struct simtop;

int simtop_new(struct world *w, struct simtop **out, struct err *e);
void simtop_free(struct simtop *t);

bool simtop_is_running(const struct simtop *t);
int simtop_start(struct simtop *t, struct err *e);

/* As kill -9 does: nobody is told anything but that the connection is gone. */
void simtop_kill(struct simtop *t);

/* Lines about its state; running. */
void simtop_dump(const struct simtop *t, struct buf *out);

#endif
