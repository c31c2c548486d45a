/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which hosts the counters and integrators have their cells: their tokens
 * do not say. Learnt from the requests that make them. Pure.
 */
#ifndef SM_HOSTS_PLACEMENT_H
#define SM_HOSTS_PLACEMENT_H

#include "common/base/limits.h"
#include "common/omis/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* a segment has 64 cells, shared by all tools at the worst */
#define CELLS_MAX (TOOLS_MAX * 64)

struct cells;

struct cells *cells_new(void);
void cells_free(struct cells *c);

/* births: hosts that were known so far. Notes what a call of omig_pa_create makes; other calls:
 * nothing. -ERR_LIMIT, -ERR_NOMEM. */
int cells_learn(struct cells *c, uint32_t tool, const struct omis_call *call, uint64_t births);

/* The numbers of the nodes of a token, n of them; NULL: not known. Valid until the next change. */
const uint32_t *cells_find(const struct cells *c, const char *token, size_t *n);

/* Hosts that came to be known later than these may hold a part of it too; 0 = it is not known. */
uint64_t cells_births(const struct cells *c, const char *token);

void cells_del(struct cells *c, const char *token);
void cells_drop_tool(struct cells *c, uint32_t tool);
size_t cells_count(const struct cells *c);

#endif
