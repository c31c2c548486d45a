/* SPDX-License-Identifier: Apache-2.0 */
/* A metric by pairs of ranks, computed from an exchange: only the pairs with a value. */
#ifndef TOOLS_WAITS_MATRIX_H
#define TOOLS_WAITS_MATRIX_H

#include "common/base/err.h"
#include "common/json/json.h"
#include "pmsl/check/builtin.h"
#include "tools/term/table.h"
#include "tools/term/term.h"
#include "tools/waits/exchange.h"

#define MATRIX_TABLE_RANKS 24 /* as a table of numbers; more are shades */

/* The direction of the metric's calls, from the rank's view. */
enum matrix_way { MATRIX_SENDS, MATRIX_RECEIVES, MATRIX_WAITS, MATRIX_BOTH };

struct matrix_cell {
	int32_t rank, partner;
	double value, error; /* error: the bound of a time that was shared out */
};

struct matrix {
	struct pmsl_builtin metric;
	enum matrix_way way;
	const struct exchange *x; /* borrowed */
	struct matrix_cell *cell; /* owned; ascending by rank and partner */
	size_t n, cap;
	double sum, most;
	const struct matrix_cell *largest; /* NULL: there is none */
	double seconds;
	double lost; /* calls whose partner did not fit */
};

/*
 * Finds the metric of that name, by partners. ERR_NOTFOUND, with the nearest name; ERR_UNSUPPORTED:
 * it is not by partners.
 */
int matrix_metric(const char *name, struct pmsl_builtin *out, struct err *e);

/* False: no memory; *m is empty. x must outlive m. */
bool matrix_make(struct matrix *m, const struct pmsl_builtin *metric, const struct exchange *x);
void matrix_done(struct matrix *m);

/* "20.1 MB", "6.42 ms", "42 calls". Returns out. */
#define MATRIX_VALUE_BYTES TABLE_QUANTITY_BYTES
char *matrix_value(char out[MATRIX_VALUE_BYTES], const struct matrix *m, double v);

/* "rank 0 -> rank 1", "rank 1 <- rank 0", "rank 1 waits for rank 0". Returns out. */
#define MATRIX_PAIR_BYTES 64
char *matrix_pair(char out[MATRIX_PAIR_BYTES], const struct matrix *m, const struct matrix_cell *c);

/* --- matrix_show.c: as text for a terminal, CSV, and keys of an open JSON object */

/* Appends one line: the largest value, and the number of pairs with a value. */
void matrix_verdict(struct buf *out, const struct matrix *m);

/* is_plain: shades are digits. -ERR_NOMEM. */
int matrix_show(const struct term *t, const struct matrix *m, bool is_plain, struct buf *out);
void matrix_csv(struct buf *out, const struct matrix *m, bool head);
void matrix_json(struct json *j, const struct matrix *m);

/* --- matrix_draw.c: a complete picture without a script, for dark and light */

#define MATRIX_DRAW_MAX_BYTES (64 * 1024 * 1024)
void matrix_svg(struct buf *out, const struct matrix *m);
/* Writes a page with the picture and a table of its values. */
void matrix_html(struct buf *out, const struct matrix *m);

#endif
