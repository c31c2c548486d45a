/* SPDX-License-Identifier: Apache-2.0 */
/* Goes into the sm of the test, in front of the functions that it wraps. */
#include "sm/csr/csr.h"
#include "sm/hosts/nodes.h"
#include "tests/unit/sim/plant.h"

bool __real_nodes_owns(void *nodes, const struct branch *b, const char *token, size_t len);
bool __wrap_nodes_owns(void *nodes, const struct branch *b, const char *token, size_t len);

bool __wrap_nodes_owns(void *nodes, const struct branch *b, const char *token, size_t len)
{
	return plant_shows(PLANT_GULLIBLE_SM, 1) || __real_nodes_owns(nodes, b, token, len);
}

void __real_site_csrs_drop_tool(struct site_csrs *a, uint32_t tool);
void __wrap_site_csrs_drop_tool(struct site_csrs *a, uint32_t tool);
void __real_site_csrs_disarm(struct site_csrs *a, const char *csr);
void __wrap_site_csrs_disarm(struct site_csrs *a, const char *csr);

/*
 * An sm is notified of each request of a tool that leaves, and of the tool: either is sufficient.
 */
void __wrap_site_csrs_drop_tool(struct site_csrs *a, uint32_t tool)
{
	if (!plant_shows(PLANT_KEPT_CSR, 1))
		__real_site_csrs_drop_tool(a, tool);
}

void __wrap_site_csrs_disarm(struct site_csrs *a, const char *csr)
{
	if (!plant_shows(PLANT_KEPT_CSR, 1))
		__real_site_csrs_disarm(a, csr);
}
