/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of manipulations on this host, by the ids of the tools' requests, so that none is done
 * twice. A request may be repeated after a lost link or a crash of the lm. Each manipulation is
 * recorded before it begins and when it has ended. The record is bounded: for older manipulations
 * it has only the highest number of each tool.
 */
#ifndef LM_SERVICE_DONE_LOG_H
#define LM_SERVICE_DONE_LOG_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define DONE_LOG_MAX 2048 /* actions */
/* Tools whose highest number is stored: four times the tools of one mainsm. */
#define DONE_LOG_TOOLS_MAX 256

struct disk;
struct done_log;

/* One action of a request of a tool. */
struct op {
	uint64_t who; /* done_log_who() */
	uint64_t number; /* number of the request; those of one tool ascend */
	uint32_t action;
};

enum op_state {
	OP_NEW, /* never begun here */
	OP_BEGUN, /* running, or its outcome is unknown */
	OP_ENDED,
	OP_FORGOTTEN, /* older than the record */
	OP_REFUSED, /* its outcome was requested before it arrived */
};

/*
 * path: a file in a private directory; NULL: the record ends with the lm. disk: borrowed; NULL: the
 * system's. An invalid file is renamed to *.bad, and logged. -ERR_NOMEM, -ERR_DENIED, -ERR_SYS.
 */
int done_log_open(const struct disk *disk, const char *path, struct done_log **out, struct err *e);
void done_log_close(struct done_log *o);

uint64_t done_log_who(const struct done_log *o, const char *identity, uint64_t epoch);

/* Sets *status for OP_ENDED. */
enum op_state done_log_find(const struct done_log *o, const struct op *op, unsigned *status);

/* Must be called before the action. -ERR_SYS: it cannot be recorded, so the action must not run. */
int done_log_begin(struct done_log *o, const struct op *op, struct err *e);

/* As done_log_begin(), for an operation that will never run. */
int done_log_refuse(struct done_log *o, const struct op *op, struct err *e);

void done_log_end(struct done_log *o, const struct op *op, unsigned status);

#endif
