/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of an lm's holds: one line for each process that must be continued after the lm's
 * death. lm-guard or the next lm, whichever comes first, continues them and removes the journal.
 * Lines are valid for one boot of the host.
 */
#ifndef LM_HOLD_JOURNAL_H
#define LM_HOLD_JOURNAL_H

#include "common/store/store.h"
#include "lm/host/host.h"

#define JOURNAL_MAX_BYTES (256 * 1024) /* PROCS_MAX lines of some 80 bytes */

struct journal_line {
	int32_t pid; /* above 1 */
	uint64_t start; /* clock ticks since boot: with the pid it names the process */
	char boot[HOST_BOOT_ID_BYTES];
};

typedef void (*journal_line_fn)(void *arg, const struct journal_line *l);

/* Writes the head of the journal of the lm with that epoch. */
void journal_begin(struct buf *b, uint64_t epoch);
void journal_add(struct buf *b, const struct journal_line *l);

extern const struct store_kind journal_kind;

/* As store_write(). Without lines: removes the file. */
int journal_write(struct store *s, const struct buf *b, size_t nline, struct err *e);

/*
 * Calls fn for each line and removes the journal. epoch: only that lm's journal; 0 = any. Two
 * concurrent callers take turns. Blocks up to half a second for a caller that makes no progress. A
 * missing journal is fine. As store_read(): an invalid journal is renamed, and its contents are
 * lost.
 */
int journal_replay(struct store *s, uint64_t epoch, journal_line_fn fn, void *arg, struct err *e);

#endif
