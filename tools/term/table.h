/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of text, and numbers in a readable form. */
#ifndef TOOLS_TERM_TABLE_H
#define TOOLS_TERM_TABLE_H

#include "common/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table;

/* heads: `columns` words, borrowed; align: l or r for each column. Returns NULL without memory. */
struct table *table_new(size_t columns, const char *const *heads, const char *align);
void table_free(struct table *t);

/* Adds the next cell, row by row; control bytes are escaped. table_print() reports failures. */
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends head and rows to out; lines are cut at `width` characters (0: not). -ERR_NOMEM. */
int table_print(const struct table *t, size_t width, struct buf *out);

/* The same, and frees t. NULL: -ERR_NOMEM. */
int table_end(struct table *t, size_t width, struct buf *out);

/* As above, to standard output; returns an exit status, after a message. */
int table_show(struct table *t, size_t width);

/*
 * Calls fn for each head (row 0) and cell, row by row. Returns false if a cell was lost for lack of
 * memory, or fn returned false.
 */
typedef bool (*table_cell_fn)(void *arg, size_t row, size_t column, const char *text,
			      bool is_right);
bool table_each(const struct table *t, table_cell_fn fn, void *arg);

#define TABLE_NUMBER_BYTES 24

/* 0, 12, 3.4k, 56M: at most 5 characters below 10^15. Returns out. NaN: "-". */
char *table_count(char out[TABLE_NUMBER_BYTES], double v);
/* The same by 1024: 512, 3.4K, 56M. */
char *table_bytes(char out[TABLE_NUMBER_BYTES], double v);
/*
 * Writes a class of sizes: "0", "4-7", "512-1023", "1K-2K" (below the end from 1K on); "1G+"
 * without an end (to < 0).
 */
void table_sizes(struct buf *out, int64_t from, int64_t to);
/* 12.3; "-" for NaN. */
char *table_percent(char out[TABLE_NUMBER_BYTES], double v);
/*
 * Writes a value with this many digits and its unit, scaled by 1000: "20.7 MB", "6.42 ms", "95.7 %"
 * for s/s, "42 calls". NaN: "-" and the unit. Returns out.
 */
#define TABLE_QUANTITY_BYTES 192
char *table_quantity(char out[TABLE_QUANTITY_BYTES], double v, int digits, const char *unit);
/* 12.3s, 4m05s, 2h03m, 3d04h. */
char *table_duration(char out[TABLE_NUMBER_BYTES], double seconds);

#endif
