/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes 1 and 2 at site a, 3 and 4 at site b. Numbers are given in the order of asking. */
#ifndef TESTS_UNIT_MAINSM_FOUR_HOSTS_H
#define TESTS_UNIT_MAINSM_FOUR_HOSTS_H

#include "tests/unit/mainsm/world.h"

static inline void four_hosts_open(struct world *w, struct fake_branch *a, struct fake_branch *b)
{
	world_open(w);
	below_open(w, a, ROLE_SM, "a", "sm-a");
	below_open(w, b, ROLE_SM, "b", "sm-b");
	ck_assert(a->is_up && b->is_up);
	below_report(a, 1, "h1");
	below_report(a, 2, "h2");
	below_report(b, 3, "h3");
	below_report(b, 4, "h4");
}

static inline void four_hosts_close(struct world *w, struct fake_branch *a, struct fake_branch *b)
{
	below_close(a);
	below_close(b);
	world_done(w);
}

#endif
