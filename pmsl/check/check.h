/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of a tree beyond the grammar: names, types, units, and that each value
 * exists when it is needed. Sets the members that tree.h marks with "by the
 * check".
 *
 * The rules, in one place:
 * - A metric has a name of its own, uses only metrics above it, and never itself.
 * - A variable is set once, before its first use. Each use has the number of indices that it was
 *   set with. A variable that is never set is free: it runs over objects, regions or virtual times.
 * - A free variable is bound by the index of an assignment, by the list of an operator
 *   (MAX[p](...)), or, without a list, by the innermost operator around it. Each free variable must
 *   be bound.
 * - The left side of AT contains no AT and no aggregate over virtual time. Its only objects are the
 *   process of the probe and that process's node, because no other process has the probe's time.
 * - vt - n is an earlier virtual time. vt + n is an error, because a later one is not known yet.
 * - An operator on a value for each virtual time takes values of the same variable and constants.
 *   It takes no value for each read.
 * - `x.time IN t` is permitted in the WHERE of an operator over virtual time, joined to other
 *   conditions by AND.
 * - Added or compared values have the same unit. A number in the text fits any unit.
 * - The argument of a parameter of kind Value is a constant.
 */
#ifndef PMSL_CHECK_CHECK_H
#define PMSL_CHECK_CHECK_H

#include "pmsl/text/diag.h"
#include "pmsl/text/tree.h"

/*
 * Requires a tree without parse errors. Adds the base units of the text to *units. Sets is_good of
 * each metric without an error. Errors of the text are in d; fails with -ERR_NOMEM only.
 */
int pmsl_check(struct pmsl_tree *t, struct pmsl_units *units, struct pmsl_diags *d);

#endif
