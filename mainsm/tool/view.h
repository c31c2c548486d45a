/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one tool sees, as planning asks for it: objects of the directory that
 * are in its scope, and its own conditional requests, events and counters.
 */
#ifndef MAINSM_TOOL_VIEW_H
#define MAINSM_TOOL_VIEW_H

#include "common/base/map.h"
#include "common/route/view.h"
#include "mainsm/directory/children.h"
#include "mainsm/directory/directory.h"
#include "mainsm/tool/pa.h"
#include "mainsm/tool/scope.h"

/* All borrowed. */
struct view {
	const struct directory *directory;
	const struct children *children;
	const struct scope *scope;
	const struct pa_set *pas;
	const struct smap *csrs, *events, *measures; /* by token */
};

/* For a request: answers hold for this moment. v is the callbacks' argument. */
struct route_view view_now(struct view *v);

/*
 * For arming: processes stand for all their threads, so that new ones are
 * covered; a host that is only silent keeps what it watches for.
 */
struct route_view view_arming(struct view *v);

/* May this child speak about that object? Of processes and threads only their node counts. */
bool view_child_owns(const struct directory *d, const struct children *c, uint32_t child,
		     const char *token, size_t n);

#endif
