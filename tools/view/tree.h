/* SPDX-License-Identifier: Apache-2.0 */
/* What `omig tree` shows. */
#ifndef TOOLS_VIEW_TREE_H
#define TOOLS_VIEW_TREE_H

#include "common/json/json.h"
#include "tools/libomis/omis.h"
#include "tools/term/term.h"

#include <stdbool.h>

enum tree_depth { TREE_SITES = 1, TREE_NODES, TREE_PROCESSES, TREE_THREADS };

/*
 * The objects of omig_tree(), each behind its container, and side by side by
 * name, job and rank, or id; numbers in names count as numbers. They belong to the list.
 */
struct tree {
	const Omis_value **object;
	size_t n;
};

/* False: no memory. */
bool tree_sort(struct tree *t, const Omis_value *list);
void tree_done(struct tree *t);

/* What remains is the job, and what contains it. */
void tree_select_job(struct tree *t, const char *job);

unsigned tree_level(const Omis_value *object); /* enum tree_depth */

/* One line an object, indented. */
void tree_show(const struct term *t, const struct tree *tree, enum tree_depth depth);

/* {"sites":[{...,"nodes":[{...,"processes":[{...,"threads":[]}]}]}]}: one value. */
void tree_to_json(struct json *j, const struct tree *tree);

/* Nodes that are not up. */
unsigned tree_unreachable(const struct tree *tree);

#endif
