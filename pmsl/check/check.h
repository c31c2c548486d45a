/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of a tree beyond the grammar: names, types, units, and that each value
 * exists when it is needed. Sets the members that tree.h marks with "by the
 * check".
 *
 * The rules, in one place:
 * - A metric has a name of its own, uses only metrics above it, and never itself.
 * - A variable is set once, before it is used, and used by its number of indices. One that is
 *   never set is free: an object, a region or a virtual time to run over.
 * - A free variable is bound by the index of an assignment, by the list of an operator
 *   (MAX[p](...)), or, without a list, by the innermost operator around it. None is left over.
 * - The left side of AT holds no AT and no aggregate over virtual time, and only the process of
 *   the probe (or its node): the times of one process are unknown to another.
 * - vt - n is an earlier virtual time; a later one is not known yet.
 * - Of one virtual time at once: a value for each virtual time goes with values of the same
 *   variable and with constants, never with a value for each read.
 * - `x.time IN t` stands in the WHERE of an operator over virtual time, joined to the rest by AND.
 * - What is added or compared has the same unit; a number in the text has any.
 * - A parameter of kind Value is given a constant.
 */
#ifndef PMSL_CHECK_CHECK_H
#define PMSL_CHECK_CHECK_H

#include "pmsl/text/diag.h"
#include "pmsl/text/tree.h"

/*
 * For a tree without errors of parsing only. *units gets the new bases of the text. -ERR_NOMEM;
 * other errors are in d. A metric without an error is_good.
 */
int pmsl_check(struct pmsl_tree *t, struct pmsl_units *units, struct pmsl_diags *d);

#endif
