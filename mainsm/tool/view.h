/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner's view of one tool: objects of the directory that are in its scope, and its own
 * conditional requests, events and counters.
 */
#ifndef MAINSM_TOOL_VIEW_H
#define MAINSM_TOOL_VIEW_H

#include "common/container/map.h"
#include "common/route/view.h"
#include "mainsm/directory/directory.h"
#include "mainsm/tool/pa.h"
#include "mainsm/tool/scope.h"
#include "tree/branches.h"

/* All borrowed. */
struct tool_view {
	const struct directory *directory;
	const struct branches *branches;
	const struct scope *scope;
	const struct pa_set *pas;
	const struct smap *csrs, *events, *measures; /* by token */
};

/* View for a request: answers are valid for this moment. v is the callbacks' argument. */
struct route_view tool_view_now(struct tool_view *v);

/*
 * The view for enabling csrs: a process represents all its threads, so that new ones are covered.
 * A silent host keeps its csrs.
 */
struct route_view tool_view_arming(struct tool_view *v);

/*
 * For branches_set_owner(): true if this branch may report that object. For processes and threads
 * only their node is checked.
 */
bool tool_view_branch_owns(void *directory, const struct branch *b, const char *token, size_t n);

#endif
