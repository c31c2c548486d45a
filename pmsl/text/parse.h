/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of the metric language to a tree. Continues behind an error at the next
 * statement or metric, so that one run reports many.
 */
#ifndef PMSL_TEXT_PARSE_H
#define PMSL_TEXT_PARSE_H

#include "common/base/err.h"
#include "pmsl/text/diag.h"
#include "pmsl/text/tree.h"

/*
 * What could be read is in *out even when d->nerror says that the text is wrong: for looking
 * at names, not for more. -ERR_NOMEM; all else is in d. The source need not live on.
 */
int pmsl_parse(const struct pmsl_source *s, struct pmsl_diags *d, struct pmsl_tree **out);
void pmsl_tree_free(struct pmsl_tree *t);

#endif
