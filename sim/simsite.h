/* SPDX-License-Identifier: Apache-2.0 */
/* The sm of a site of a simulated world. */
#ifndef SIM_SIMSITE_H
#define SIM_SIMSITE_H

#include "sim/world.h"
#include "sm/sm.h"

#define SIMSITE_NAME_BYTES 24
#define SIMSITE_GRACE_NS (20 * NSEC_PER_SEC) /* how long what is armed waits for a mainsm: less than judging takes */

struct simsite;

int simsite_new(struct world *w, unsigned number, struct simsite **out, struct err *e);
void simsite_free(struct simsite *s);

const char *simsite_name(const struct simsite *s);
const char *simsite_host(const struct simsite *s); /* where the sm runs */

bool simsite_is_running(const struct simsite *s);
int simsite_start(struct simsite *s, struct err *e);
void simsite_kill(struct simsite *s);

/* Running only. */
void simsite_counts(const struct simsite *s, struct sm_counts *out);
void simsite_dump(const struct simsite *s, struct buf *out);

#endif
