/* SPDX-License-Identifier: Apache-2.0 */
/* The objects for `omig tree`. */
#ifndef TOOLS_VIEW_TREE_H
#define TOOLS_VIEW_TREE_H

#include "common/json/json.h"
#include "tools/libomis/omis.h"
#include "tools/term/term.h"

#include <stdbool.h>

enum tree_depth { TREE_SITES = 1, TREE_NODES, TREE_PROCESSES, TREE_THREADS };

/*
 * The objects of omig_tree(), each after its container, and within it by name, job and rank, or id;
 * numbers in names are compared as numbers. They belong to the list.
 */
struct tree {
	const Omis_value **object;
	size_t n;
};

/* False: no memory. */
bool tree_sort(struct tree *t, const Omis_value *list);
void tree_done(struct tree *t);

/* Keeps only the job and its containers. */
void tree_select_job(struct tree *t, const char *job);

unsigned tree_level(const Omis_value *object); /* enum tree_depth */

/* Prints one line per object, indented. */
void tree_show(const struct term *t, const struct tree *tree, enum tree_depth depth);

/* Writes {"sites":[{...,"nodes":[{...,"processes":[{...,"threads":[]}]}]}]}: one value. */
void tree_to_json(struct json *j, const struct tree *tree);

/* Returns the number of nodes that are not up. */
unsigned tree_unreachable(const struct tree *tree);

#endif
