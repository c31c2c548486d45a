/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manipulations that were begun on this host, by the ids of the tools' requests. So none is
 * done twice. That covers a request that comes again after a link was lost, and a death of the lm.
 * Each is written down before it is begun and when it has ended. Bounded: of those that were
 * forgotten it is known for each tool how far it had come.
 */
#ifndef LM_SERVICE_DONE_LOG_H
#define LM_SERVICE_DONE_LOG_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define DONE_LOG_MAX 2048 /* actions */
/* whose forgotten ones are known: four times what one mainsm has at a time */
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
	OP_BEGUN, /* it is under way, or how it ended is unknown */
	OP_ENDED,
	OP_FORGOTTEN, /* it is older than what is remembered */
	OP_REFUSED, /* a request asked for its outcome before it came */
};

/*
 * path: a file in a private directory; NULL: what is remembered dies with the lm. disk: borrowed;
 * NULL: the system's. A file that makes no sense is renamed to *.bad, and logged. -ERR_NOMEM,
 * -ERR_DENIED, -ERR_SYS.
 */
int done_log_open(const struct disk *disk, const char *path, struct done_log **out, struct err *e);
void done_log_close(struct done_log *o);

uint64_t done_log_who(const struct done_log *o, const char *identity, uint64_t epoch);

/* *status: of one that has ended. */
enum op_state done_log_find(const struct done_log *o, const struct op *op, unsigned *status);

/* Before anything is done. -ERR_SYS: it cannot be written down, and must not be done. */
int done_log_begin(struct done_log *o, const struct op *op, struct err *e);

/* The same for one that will never be done. */
int done_log_refuse(struct done_log *o, const struct op *op, struct err *e);

void done_log_end(struct done_log *o, const struct op *op, unsigned status);

#endif
