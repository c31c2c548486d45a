/* SPDX-License-Identifier: Apache-2.0 */
/* Results of runs in the form that was requested: text, JSON, CSV or R. */
#ifndef NEKO_CMD_NEKO_FORM_H
#define NEKO_CMD_NEKO_FORM_H

#include "neko/cmd/neko_sweep.h"
#include "neko/cmd/neko_trace.h"

enum neko_form { NEKO_FORM_TEXT, NEKO_FORM_JSON, NEKO_FORM_CSV, NEKO_FORM_R };

/* Returns the form for the name of a file: .csv, .R; other names mean JSON. */
enum neko_form neko_form_of_file(const char *path);

/* The results of one run. */
struct neko_form_run {
	const char *path; /* path of the configuration */
	const struct run *run;
	const struct run_counts *counts;
	const struct neko_sweep *sweep; /* a sweep without keys, whose only point is this run */
	const struct neko_trace *trace;
};

/* b->failed reports a failure. */
void neko_form_run(struct buf *b, enum neko_form form, const struct neko_form_run *v);
void neko_form_sweep(struct buf *b, enum neko_form form, const char *path,
		     const struct neko_sweep *s);

#endif
