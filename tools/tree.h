/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that `omig tree` shows, as omig_tree() gives them. */
#ifndef TOOLS_TREE_H
#define TOOLS_TREE_H

#include "common/base/json.h"
#include "tools/libomis/omis.h"
#include "tools/term.h"

#include <stdbool.h>

enum tree_depth { TREE_SITES = 1, TREE_NODES, TREE_PROCESSES, TREE_THREADS };

/* One line an object, indented; `list` is the value of omig_tree(). */
void tree_show(const struct term *t, const Omis_value *list, enum tree_depth depth);

/* {"sites":[{...,"nodes":[{...,"processes":[{...,"threads":[]}]}]}]}: one value. */
void tree_to_json(struct json *j, const Omis_value *list);

/* Nodes that are not up. */
unsigned tree_unreachable(const Omis_value *list);

#endif
