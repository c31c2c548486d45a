/* SPDX-License-Identifier: Apache-2.0 */
/* omig model experiment: the tables of Rolia and Vetland 1995, beside their printed figures. */
#ifndef TOOLS_MODEL_EXPERIMENT_H
#define TOOLS_MODEL_EXPERIMENT_H

#include "common/base/buf.h"
#include "common/cli/progress.h"
#include "model/experiment/study.h"

#define EXPERIMENT_MAX_BYTES (16 << 20)

struct experiment_options {
	struct study base; /* factors that the user may set */
	bool has_services, has_law, has_replications; /* the user has set these */
	bool is_fit; /* try all settings */
	bool json, csv;
	const char *output;
	struct progress progress;
};

/* Sets the factors of the basic case. */
void experiment_init(struct experiment_options *w);

/* table: "table1" or "table2". Returns an exit status. */
int experiment_show(struct experiment_options *w, const char *table);

/* --- for its parts */

/* Checks s, and runs all its replications; shows progress. Returns an exit status, after a message.
 */
int experiment_run(struct experiment_options *w, const struct study *s, const char *what,
		   struct study_result *out);

/* Writes the factors as members of an open JSON object. */
struct json;
void experiment_factors(const struct study *s, struct json *j);

/* Writes a probability: 0.05, 4e-65, "<1e-99"; "-" for NaN. Returns out. */
#define EXPERIMENT_P_BYTES 16
char *experiment_p(char out[EXPERIMENT_P_BYTES], double p);

/* Writes a comma and a number as a cell of CSV; an empty one for NaN. */
void experiment_csv(struct buf *out, double v);

/* Writes the output as text, CSV, JSON, and to w->output. Returns an exit status. */
struct experiment_form {
	void (*text)(const void *results, struct buf *out);
	void (*csv)(const void *results, struct buf *out);
	void (*json)(const void *results, struct json *j);
	void (*svg)(const void *results, struct buf *out);
	const void *results;
};
int experiment_write(const struct experiment_options *w, const struct experiment_form *f);

int experiment_table1(struct experiment_options *w);
int experiment_table2(struct experiment_options *w);
int experiment_fit(struct experiment_options *w);

#endif
