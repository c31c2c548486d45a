/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a spool beside its blocks: the cursor of each consumer, and the losses of one
 * consumer or of all. It is one file, which is replaced atomically.
 */
#ifndef EVENTLOG_SPOOL_LEDGER_H
#define EVENTLOG_SPOOL_LEDGER_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/container/list.h"
#include "common/container/map.h"
#include "eventlog/evgap.h"

#include <stdbool.h>

#define LEDGER_CONSUMERS_MAX 64 /* consumers, as many as tools may be connected */
/* streams with losses, as many as a reader accepts */
#define LEDGER_GAPS_MAX 65536
/* gaps of all consumers together, because the size of the file is limited */
#define LEDGER_GAPS_OF_ALL_MAX (3 * LEDGER_GAPS_MAX)
#define LEDGER_NAME_BYTES 64 /* name of a consumer: letters, digits, '-', '_', '.', and the 0 */

/* A loss. A stream has at most one gap: two losses and everything between them are merged. */
struct gap {
	struct list at;
	struct evgap what;
	uint64_t place; /* for a consumer: position at which it continues to read */
	bool is_reported; /* reported to the consumer, or, for a gap of all consumers, in the log */
};

struct gaps {
	struct list all; /* of struct gap, owned */
	struct map by_stream;
	size_t n, unreported;
};

/* Adds a loss, or merges it. Fails with ERR_NOMEM, ERR_LIMIT, and then changes nothing. */
int gaps_add(struct gaps *g, const struct evgap *what, uint64_t place);
void gaps_remove(struct gaps *g, struct gap *gap);
void gaps_report(struct gaps *g, struct gap *gap);

struct consumer {
	char name[LEDGER_NAME_BYTES]; /* "" = unused entry */
	uint64_t cursor; /* all blocks before this position are acknowledged, or in the gaps */
	uint64_t next; /* position at which reading continues */
	uint64_t given; /* end of the blocks that it has read, up to which it may acknowledge */
	struct gaps gaps;
};

struct ledger {
	struct consumer consumer[LEDGER_CONSUMERS_MAX];
	struct gaps lost; /* losses of all consumers that are not in the log yet */
	bool is_dirty; /* the state differs from that of the file */
};

void ledger_init(struct ledger *l);
void ledger_done(struct ledger *l);

/* Returns NULL if no consumer has that name. */
struct consumer *ledger_find(struct ledger *l, const char *name);

bool ledger_is_name(const char *s);

/* Fails with ERR_EXISTS, ERR_LIMIT, and with ERR_INVALID for an invalid name. */
int ledger_add(struct ledger *l, const char *name, uint64_t place, struct consumer **out);
void ledger_forget(struct ledger *l, struct consumer *c);

/*
 * Adds a loss of one consumer. Fails with ERR_LIMIT if the consumer, or all together, have losses
 * in too many streams, and with ERR_NOMEM.
 */
int ledger_lose(struct ledger *l, struct consumer *c, const struct evgap *what, uint64_t place);

/*
 * Returns the lowest cursor: no consumer needs bytes before it. Returns 0 without consumers,
 * because a later one may read everything.
 */
uint64_t ledger_least(const struct ledger *l);

/* Returns the highest cursor; 0 without consumers. */
uint64_t ledger_most(const struct ledger *l);

/* size with the largest number of gaps; a typical file has a KB */
#define LEDGER_FILE_MAX_BYTES (16u << 20)

/* Fails with ERR_NOMEM, ERR_LIMIT. */
int ledger_encode(const struct ledger *l, struct buf *out);

/*
 * Decodes into an empty ledger. Fails with ERR_PARSE if the bytes are damaged, and with ERR_NOMEM;
 * the ledger is then empty.
 */
int ledger_decode(struct ledger *l, const uint8_t *p, size_t n);

#endif
