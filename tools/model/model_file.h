/* SPDX-License-Identifier: Apache-2.0 */
/* Layered models of files, the busiest of their servers, and output. */
#ifndef TOOLS_MODEL_MODEL_FILE_H
#define TOOLS_MODEL_MODEL_FILE_H

#include "common/base/buf.h"
#include "model/layered/layered.h"
#include "tools/model/demands.h"

#define MODEL_OUTPUT_MAX_BYTES (16 << 20)
#define MODEL_FULL 0.95 /* a server that is busier holds up the others */

/* A server, by its use: threads of a task, or a processor. */
struct server_use {
	const char *name, *what;
	double share; /* of its servers in use, from 0 to 1 */
};

/* i: tasks, then processors. */
struct server_use model_use(const struct layered *m, const struct layered_result *r, size_t i);

/*
 * Returns the busiest server. A task waits for what it calls, so that its threads count only if
 * nothing below is full.
 */
struct server_use model_bottleneck(const struct layered *m, const struct layered_result *r);

/*
 * path: "-" is the standard input. Demands of the files of w replace those of the model. Returns an
 * exit status, after a message.
 */
int model_read(const char *path, const struct demands_options *w, struct layered *m);

/*
 * omig model convert: writes the model in the form that `output` names, .lqn or .lqnx; NULL: .lqn
 * on stdout. Returns an exit status.
 */
int model_convert(const char *path, const struct demands_options *w, const char *output);

/* Prints b, then frees it. Returns an exit status. */
int model_print(struct buf *b);

#endif
