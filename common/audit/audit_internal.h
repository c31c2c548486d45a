/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by audit.c (the file), audit_line.c (an entry as text), audit_read.c (text as values). */
#ifndef COMMON_AUDIT_AUDIT_INTERNAL_H
#define COMMON_AUDIT_AUDIT_INTERNAL_H

#include "common/audit/audit.h"
#include "common/base/hash.h"

/* counters of refusals, by hash of the identity: a flood of one hides few others */
#define AUDIT_SLOTS 16

struct audit_slot {
	nsec_t since; /* wall time */
	unsigned n; /* refusals since then */
};

struct audit {
	struct audit_conf conf;
	const struct disk *disk;
	char *path, *older, *daemon, *host; /* owned */
	int fd; /* -1: not open */
	size_t size;
	int64_t last; /* number of an entry: wall time, made unique and ascending */
	bool is_torn; /* the last line has no end */
	bool is_failing; /* lines are lost, and on_trouble was called for that */
	uint64_t left_out; /* refusals without a line since the last one */
	uint64_t lost; /* part of left_out: could not be written */
	struct hash_key digest; /* key of digests, so that secrets cannot be guessed from them */
	struct audit_slot slot[AUDIT_SLOTS];
};

/* The outcome of an action, from the entries of a reply. */
struct audit_outcome {
	unsigned status; /* the first error, or OK */
	const char *why; /* text of that error */
	size_t done, failed; /* entries */
};
struct audit_outcome audit_outcome_of(const struct audit_entry *x);

/* Writes a line with its newline. x NULL: a line that has only the number of lines left out. */
void audit_put_line(struct buf *b, const struct audit *a, const struct audit_entry *x,
		    int64_t number, nsec_t wall);

#endif
