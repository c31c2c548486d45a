/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses a text of the metric language to a tree. Continues after an error at the next statement or
 * metric, so that one run reports many errors.
 */
#ifndef PMSL_TEXT_PARSE_H
#define PMSL_TEXT_PARSE_H

#include "common/base/err.h"
#include "pmsl/text/diag.h"
#include "pmsl/text/tree.h"

/*
 * *out has the readable part even if d->nerror is not 0: then use its names only. -ERR_NOMEM; other
 * errors are in d. The source may be freed afterwards.
 */
int pmsl_parse(const struct pmsl_source *s, struct pmsl_diags *d, struct pmsl_tree **out);
void pmsl_tree_free(struct pmsl_tree *t);

#endif
