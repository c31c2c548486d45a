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

#define LEDGER_CONSUMERS_MAX 64 /* as many as tools may be connected */
/* streams with losses, as many as a reader accepts */
#define LEDGER_GAPS_MAX 65536
/* of all consumers together: the size limit of the file */
#define LEDGER_GAPS_OF_ALL_MAX (3 * LEDGER_GAPS_MAX)
#define LEDGER_NAME_BYTES 64 /* of a consumer: letters, digits, '-', '_', '.', and the 0 */

/* A loss. A stream has at most one: two losses and all between them are merged. */
struct gap {
	struct list at;
	struct evgap what;
	uint64_t place; /* of a consumer: where it continues to read */
	bool is_reported; /* to the consumer; or, of all, to the log */
};

struct gaps {
	struct list all; /* of struct gap, owned */
	struct map by_stream;
	size_t n, unreported;
};

/* Adds or merges. ERR_NOMEM, ERR_LIMIT: nothing changed. */
int gaps_add(struct gaps *g, const struct evgap *what, uint64_t place);
void gaps_remove(struct gaps *g, struct gap *gap);
void gaps_report(struct gaps *g, struct gap *gap);

struct consumer {
	char name[LEDGER_NAME_BYTES]; /* "" = free */
	uint64_t cursor; /* all before this place is acknowledged, or is in the gaps */
	uint64_t next; /* continuation of the read */
	uint64_t given; /* end of what it has read, up to which it may acknowledge */
	struct gaps gaps;
};

struct ledger {
	struct consumer consumer[LEDGER_CONSUMERS_MAX];
	struct gaps lost; /* for all, and not in the log yet */
	bool is_dirty; /* differs from the file */
};

void ledger_init(struct ledger *l);
void ledger_done(struct ledger *l);

/* Returns NULL if no consumer has that name. */
struct consumer *ledger_find(struct ledger *l, const char *name);

bool ledger_is_name(const char *s);

/* ERR_EXISTS, ERR_LIMIT, ERR_INVALID for an invalid name. */
int ledger_add(struct ledger *l, const char *name, uint64_t place, struct consumer **out);
void ledger_forget(struct ledger *l, struct consumer *c);

/* Adds a loss of one consumer. ERR_LIMIT: it, or all together, have losses in too many streams.
 * ERR_NOMEM. */
int ledger_lose(struct ledger *l, struct consumer *c, const struct evgap *what, uint64_t place);

/*
 * Returns the least cursor: no consumer needs bytes before it. 0 without consumers: a later one may
 * read all.
 */
uint64_t ledger_least(const struct ledger *l);

/* Returns the greatest cursor; 0 without consumers. */
uint64_t ledger_most(const struct ledger *l);

/* for all gaps of consumers, and those for all; a typical file has a KB */
#define LEDGER_FILE_MAX_BYTES (16u << 20)

/* ERR_NOMEM, ERR_LIMIT. */
int ledger_encode(const struct ledger *l, struct buf *out);

/* Decodes into an empty ledger. On ERR_PARSE (damaged) and ERR_NOMEM it is empty again. */
int ledger_decode(struct ledger *l, const uint8_t *p, size_t n);

#endif
