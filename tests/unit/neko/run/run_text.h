/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: simulates a configuration given as text. */
#ifndef TESTS_UNIT_NEKO_RUN_TEXT_H
#define TESTS_UNIT_NEKO_RUN_TEXT_H

#include "neko/run/run.h"

#include <string.h>

static inline int run_text(const char *text, struct run_counts *f, struct err *e)
{
	struct run_options w = { 0 };
	struct setup *s = NULL;
	struct run *r = NULL;
	int rc = setup_parse(text, strlen(text), &s, e);

	if (!rc)
		rc = run_new(s, &r, e);
	if (!rc)
		rc = run_simulate(r, &w, f, e);
	if (!rc)
		rc = run_flush(r, e);
	run_free(r);
	setup_free(s);
	return rc;
}

#endif
