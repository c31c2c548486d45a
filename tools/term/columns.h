/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of numbers in text: one number per line, or CSV, or separated by tabs or blanks. */
#ifndef TOOLS_TERM_COLUMNS_H
#define TOOLS_TERM_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLUMNS_MAX 64 /* quantities at once; a screen has room for a few */
#define COLUMNS_LINE_MAX (64 * 1024) /* a thousand cells; more is not a table */
#define COLUMNS_NAME_BYTES 128

struct columns_options {
	/*
	 * Names or numbers from 1, separated by commas. NULL: the column "value", else the first.
	 */
	const char *list;
	const char *time; /* a name or a number; NULL: the column "time_ns", if there is one */
};

struct columns_row {
	unsigned n;
	const char *const *name; /* "" without a header */
	const double *value; /* NaN: an empty cell, or text that means no number */
	bool has_time;
	int64_t time_ns; /* of a column with a name in _ns; others have seconds */
};

/* Any value but 0 ends the reading. */
typedef int (*columns_fn)(void *arg, const struct columns_row *row);

/*
 * path: "-" for the standard input. Returns an exit status. Unreadable lines are skipped, the
 * first few reported, and the status is CMD_FAILURE. Blocks until the input has ended.
 */
int columns_read(const char *path, const struct columns_options *w, columns_fn fn, void *arg);

#endif
