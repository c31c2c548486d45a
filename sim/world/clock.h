/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock and the random numbers of a program that simulates. Code that requests them from the
 * system gets those of the current world, so that runs are repeatable. Linked with --wrap
 * (module.mk).
 */
#ifndef SIM_WORLD_CLOCK_H
#define SIM_WORLD_CLOCK_H

#include "common/base/clock.h"

#include <stdint.h>

struct loop;

#define SIM_WALL_START_NS (INT64_C(1700000000) * NSEC_PER_SEC)

/*
 * Uses from now on the clock of the host whose callback runs in the loop; NULL: the system's clock.
 * A process has one world at a time.
 */
void simclock_enter(const struct loop *l, uint64_t seed);

/* Returns the real clock of the system, in any world. */
nsec_t simclock_real(void);

/* Returns the loop of the running world; NULL if none runs. */
const struct loop *simclock_loop(void);

#endif
