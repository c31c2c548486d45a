/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of a rank of matched.c, and their vertices in its own segment. */
#ifndef TESTS_LIBAPP_BOOK_H
#define TESTS_LIBAPP_BOOK_H

#include "common/base/clock.h"
#include "common/ring/segview.h"

#define MANY 20000 /* messages of one phase and rank */

struct message {
	long long serial;
	int step; /* as expected: the result of the program does not change */
};

/* The messages of one thread, in its order. */
struct book {
	long long sent[MANY], received[MANY];
	uint64_t sent_at[MANY], received_at[MANY];
	int nsent, nreceived, tid;
};

struct book_rank {
	int rank;
	int failed; /* the test */
	int has_threads; /* vertices may be lost */
};
extern struct book_rank book;

void book_fail(const char *what);

/* A message that the caller is about to send, or that it has received. */
struct message book_next(struct book *b);
void book_got(struct book *b, const struct message *m);

/* Writes the ids of the messages so far, by the vertices of the thread in that block. */
void book_compare(struct book *b, unsigned block);

/* Writes to FILE.RANK. Returns 0 on failure. */
int book_open(const char *file);
struct segview *book_segment(void);
void book_close(void);

#endif
