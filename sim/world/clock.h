/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock and the random numbers of a program that simulates. Code that asks the system for them
 * gets those of the world under way. So it runs the same way each time. Linked with --wrap
 * (module.mk).
 */
#ifndef SIM_WORLD_CLOCK_H
#define SIM_WORLD_CLOCK_H

#include "common/base/clock.h"

#include <stdint.h>

struct loop;

#define SIM_WALL_START_NS (INT64_C(1700000000) * NSEC_PER_SEC)

/* From now on the clock of the host whose work is under way in the loop; NULL: the system's again.
 * One world at a time in a process. */
void simclock_enter(const struct loop *l, uint64_t seed);

/* The real clock of the system, whatever world runs. */
nsec_t simclock_real(void);

/* The loop of the running world; NULL: none runs. */
const struct loop *simclock_loop(void);

#endif
