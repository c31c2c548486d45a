/* SPDX-License-Identifier: Apache-2.0 */
/* Estimated demands as those of a model, and the intervals of its results that follow. */
#ifndef TOOLS_MODEL_DEMANDS_H
#define TOOLS_MODEL_DEMANDS_H

#include "common/base/buf.h"
#include "common/json/json.h"
#include "model/propagate/propagate.h"

#define DEMANDS_FILES_MAX 64 /* a process each */

struct demands_options {
	const char *file[DEMANDS_FILES_MAX]; /* borrowed; written by `omig model estimate --json` */
	size_t nfile;
	double scale; /* of times in the files, to those of the model; 0: 1 */
};

#define DEMANDS_OPTIONS(d)                                                                         \
	OPTION_CALL("demands", 0, "FILE",                                                          \
		    "solve, what-if, simulate, convert: demands of entries, by estimate --json "   \
		    "(may be repeated)",                                                           \
		    d, demands_option),                                                            \
		OPTION("scale", 0, "F",                                                            \
		       "of the demands of --demands: 0.001 if they are in ms, and the model in s", \
		       OPT_DOUBLE, &(d)->scale)

/* Adds a file as an option; into is a struct demands_options. ERR_LIMIT. */
int demands_option(void *into, const char *text, struct err *e);

/*
 * Replaces the demands of entries by those of the services with their names, with intervals. A
 * demand of two phases keeps their ratio. Returns an exit status, after a message.
 */
int demands_apply(const struct demands_options *w, struct layered *m);

/* Shows progress. Returns an exit status, after a message. For propagate_result_done(). */
int demands_propagate(const struct layered *m, const struct layered_result *r, double level,
		      bool is_quiet, struct propagate_result *out);

/* Writes " (LOW to HIGH)", with "-" for an unknown end; nothing without uncertain demands. */
void demands_put_range(const struct propagate_result *p, const struct range *v, struct buf *out);

/* Writes a sentence on the level and its sources, or why ends are unknown. */
void demands_put_words(const struct layered *m, const struct propagate_result *p, double level,
		       struct buf *out);

/* Writes NAME_low and NAME_high in an open object. */
void demands_json(const struct propagate_result *p, const struct range *v, const char *name,
		  struct json *j);

/* Writes ",LOW,HIGH" of CSV; empty cells for unknown ends. */
void demands_csv(const struct range *v, struct buf *out);

/* Writes the level of the intervals, and a reason why ends are unknown, in an open object. */
void demands_json_level(const struct propagate_result *p, double level, struct json *j);

#endif
