/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of manipulations on this host, by the ids of the tools' requests, so that none is done
 * twice. That covers requests that are repeated after a lost link or a crash of the lm. Each
 * manipulation is recorded before it begins and when it has ended. The record is bounded: of older
 * manipulations, only the highest number of each tool is known.
 */
#ifndef LM_SERVICE_DONE_LOG_H
#define LM_SERVICE_DONE_LOG_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define DONE_LOG_MAX 2048 /* actions */
/* with a known highest number: four times the tools of one mainsm */
#define DONE_LOG_TOOLS_MAX 256

struct disk;
struct done_log;

/* One action of a request of a tool. */
struct op {
	uint64_t who; /* done_log_who() */
	uint64_t number; /* of the request; those of one tool ascend */
	uint32_t action;
};

enum op_state {
	OP_NEW, /* it was never begun here */
	OP_BEGUN, /* it is being done, or its outcome is unknown */
	OP_ENDED,
	OP_FORGOTTEN, /* it is older than the record */
	OP_REFUSED, /* its outcome was requested before it arrived */
};

/*
 * path: a file in a private directory; NULL: what is remembered dies with the lm. disk: borrowed;
 * NULL: the system's. A file that is invalid is renamed to *.bad, and logged. -ERR_NOMEM,
 * -ERR_DENIED, -ERR_SYS.
 */
int done_log_open(const struct disk *disk, const char *path, struct done_log **out, struct err *e);
void done_log_close(struct done_log *o);

uint64_t done_log_who(const struct done_log *o, const char *identity, uint64_t epoch);

/* *status is set for OP_ENDED. */
enum op_state done_log_find(const struct done_log *o, const struct op *op, unsigned *status);

/* To be called before the action. -ERR_SYS: it cannot be recorded, and must not be done. */
int done_log_begin(struct done_log *o, const struct op *op, struct err *e);

/* As done_log_begin(), for an operation that will never be done. */
int done_log_refuse(struct done_log *o, const struct op *op, struct err *e);

void done_log_end(struct done_log *o, const struct op *op, unsigned status);

#endif
