/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strip: what each rank did in each of the last intervals. A row is a rank, or with
 * more than STRIP_ROWS_MAX ranks a group of neighbours. A cell has the kind of work that took most
 * of the interval, and its share. It also has the most that a member of the row computes.
 */
#ifndef TOOLS_PAGE_STRIP_H
#define TOOLS_PAGE_STRIP_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "tools/view/top_words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRIP_COLUMNS 600 /* ten minutes of a read a second */
#define STRIP_ROWS_MAX 1024 /* as many as a screen has lines of pixels */
/* A member of a row that computes this many points more than the row is marked. */
#define STRIP_ODD_POINTS TOP_SLOW_POINTS

enum strip_kind {
	STRIP_COMPUTE, /* all that is not in MPI */
	STRIP_MESSAGE, /* send, receive, probe of messages */
	STRIP_WAIT,
	STRIP_COLLECTIVE,
	STRIP_BARRIER,
	STRIP_ONESIDED,
	STRIP_IO,
	STRIP_OTHER,
	STRIP_KINDS,
	STRIP_UNKNOWN = STRIP_KINDS,
};

/* The shares of a rank by kind, in percent. False: they are unknown. */
bool strip_shares(const struct top_rank *r, double out[STRIP_KINDS]);

struct strip;

/* NULL: no memory. */
struct strip *strip_new(void);
void strip_free(struct strip *s);

/*
 * Adds an interval that ended at this wall time: ranks in the order of the rows. Cells of a rank
 * that was there before stay in its row. -ERR_NOMEM: the interval is left out.
 */
int strip_add(struct strip *s, const struct top_rank *const *rank, size_t n, nsec_t wall);

/* The number of rows, and a number that changes when the rows do. */
size_t strip_rows(const struct strip *s);
uint64_t strip_generation(const struct strip *s);

/* The number of the next interval; earlier ones are there from strip_first() on. */
uint64_t strip_next(const struct strip *s);
uint64_t strip_first(const struct strip *s);
nsec_t strip_time(const struct strip *s, uint64_t column);

/*
 * Rows of a picture that has at most `most` of them: row i has the rows [*from, *to). Returns how
 * many there are.
 */
size_t strip_groups(const struct strip *s, size_t most, size_t i, size_t *from, size_t *to);

/* The ranks of a row: the token and node of its first one, and how many there are. */
struct strip_row {
	char token[TOP_TOKEN_BYTES], node[TOP_TOKEN_BYTES];
	int64_t rank;
	size_t members;
};
const struct strip_row *strip_row(const struct strip *s, size_t row);

/*
 * Appends two characters for each group of the picture: the kind, 'A' + enum strip_kind (small:
 * a member is odd), and the share in 64ths, '0' to 'o'.
 */
void strip_put(const struct strip *s, uint64_t column, size_t most, struct buf *out);

#endif
