/* SPDX-License-Identifier: Apache-2.0 */
/* For tests with one engine each: set_up() and clean_up() for suite_run_with(). */
#ifndef TESTS_UNIT_COMMON_FLOW_ENGINE_ONE_WORLD_H
#define TESTS_UNIT_COMMON_FLOW_ENGINE_ONE_WORLD_H

#include "tests/unit/common/flow/engine/world.h"

static struct world w;

static inline void set_up(void)
{
	world_init(&w);
}

static inline void clean_up(void)
{
	world_done(&w);
}

#endif
