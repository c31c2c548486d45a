/* SPDX-License-Identifier: Apache-2.0 */
/* Goes into the sm of the test, in front of the function that it wraps. */
#include "sm/nodes.h"
#include "tests/unit/sim/plant.h"

bool __real_nodes_owns(const struct nodes *ns, const struct branch *b, const char *token, size_t len);
bool __wrap_nodes_owns(const struct nodes *ns, const struct branch *b, const char *token, size_t len);

bool __wrap_nodes_owns(const struct nodes *ns, const struct branch *b, const char *token, size_t len)
{
	return plant_shows(PLANT_GULLIBLE_SM, 1) || __real_nodes_owns(ns, b, token, len);
}
