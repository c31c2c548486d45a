/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hosts with cells of counters and integrators, which their tokens do not show. Requests that
 * create them name the hosts. Pure.
 */
#ifndef SM_HOSTS_PLACEMENT_H
#define SM_HOSTS_PLACEMENT_H

#include "common/base/limits.h"
#include "common/omis/text/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* a segment has 64 cells, shared by all tools at worst */
#define PLACEMENT_MAX (TOOLS_MAX * 64)

struct placement;

struct placement *placement_new(void);
void placement_free(struct placement *c);

/*
 * Notes the objects that a call of omig_pa_create makes; other calls: nothing. births: number of
 * hosts admitted so far. -ERR_LIMIT, -ERR_NOMEM.
 */
int placement_learn(struct placement *c, uint32_t tool, const struct omis_call *call,
		    uint64_t births);

/*
 * Returns the numbers of the nodes of a token, n of them; NULL: not known. Valid until the next
 * change.
 */
const uint32_t *placement_find(const struct placement *c, const char *token, size_t *n);

/*
 * Returns the number of hosts admitted when the token was made. Later hosts may have a part of it,
 * too; 0 = it is not known.
 */
uint64_t placement_births(const struct placement *c, const char *token);

void placement_del(struct placement *c, const char *token);
void placement_drop_tool(struct placement *c, uint32_t tool);
size_t placement_count(const struct placement *c);

#endif
