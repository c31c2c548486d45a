/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/registry/registry_internal.h"

#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>

struct registered *registered_new(const char *principal, const struct registry_text *t)
{
	struct registered *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	list_init(&x->link);
	x->principal = str_dup(principal);
	x->name = str_dup(t->name);
	x->text = str_dup(t->text);
	if (x->principal && x->name && x->text)
		return x;
	registered_free(x);
	return NULL;
}

void registered_free(struct registered *x)
{
	if (!x)
		return;
	list_del(&x->link);
	for (size_t i = 0; i < x->nmetric; i++)
		free(x->metric[i]);
	free(x->metric);
	free(x->principal);
	free(x->name);
	free(x->text);
	free(x);
}

int registered_note_metrics(struct registered *x)
{
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct pmsl *p = NULL;
	size_t n = 0;
	int rc = pmsl_compile(x->name, x->text, strlen(x->text), &d, &p);

	if (rc)
		return rc;
	for (const struct pmsl_metric *m = pmsl_tree(p)->metric; m; m = m->next)
		n++;
	x->metric = calloc(n + 1, sizeof(*x->metric));
	for (const struct pmsl_metric *m = pmsl_tree(p)->metric; m && x->metric && !rc;
	     m = m->next) {
		x->metric[x->nmetric] = str_dup(m->name);
		rc = x->metric[x->nmetric] ? 0 : -ERR_NOMEM;
		x->nmetric += !rc;
	}
	rc = x->metric ? rc : -ERR_NOMEM;
	pmsl_free(p);
	return rc;
}
