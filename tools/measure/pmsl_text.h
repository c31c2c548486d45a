/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of the metric language in files, and their diagnostics for people and programs. */
#ifndef TOOLS_MEASURE_PMSL_TEXT_H
#define TOOLS_MEASURE_PMSL_TEXT_H

#include "common/json/json.h"
#include "pmsl/pmsl.h"
#include "tools/term/term.h"

/* "-" is the standard input. Returns CMD_OK (d may have errors), or the status of cmd_fail(). */
int pmsl_text_compile(const char *path, struct pmsl_diags *d, struct pmsl **out);

/* Prints diagnostics to `to`, with colours if the terminal has them. */
void pmsl_text_report(const struct term *t, FILE *to, const struct pmsl *p,
		      const struct pmsl_diags *d);

/* Writes "diagnostics": [...] to an open object. */
void pmsl_text_report_json(struct json *j, const struct pmsl *p, const struct pmsl_diags *d);

/* Writes "Process[] procs, TimeInterval t". */
void pmsl_text_params(struct buf *b, const struct pmsl_metric *m);

/* Writes a metric of a text as an object: name, unit, parameters. */
void pmsl_text_metric_json(struct json *j, const struct pmsl *p, const struct pmsl_metric *m);

#endif
