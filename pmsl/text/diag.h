/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diagnostics of a text: errors and warnings with their positions, up to a limit. Each position has
 * at most one.
 */
#ifndef PMSL_TEXT_DIAG_H
#define PMSL_TEXT_DIAG_H

#include "common/base/buf.h"
#include "pmsl/text/source.h"

#include <stdbool.h>

#define PMSL_DIAGS_MAX 20 /* one screen */
#define PMSL_DIAG_TEXT_BYTES 200
#define PMSL_DIAG_HINT_BYTES 200
#define PMSL_NOWHERE UINT32_MAX /* an offset: no place in the text */

struct pmsl_diag {
	uint32_t at, len; /* position in the text */
	bool is_warning;
	char text[PMSL_DIAG_TEXT_BYTES];
	char hint[PMSL_DIAG_HINT_BYTES]; /* "" = none */
};

/* Read the fields freely. */
struct pmsl_diags {
	struct pmsl_diag v[PMSL_DIAGS_MAX];
	size_t n;
	size_t nerror; /* errors among the n entries of v */
	/* errors that another text could remedy, by defining a metric or function */
	size_t nunknown;
	bool is_full; /* an error had no room: the compiler stops */
};

#define PMSL_DIAGS_INIT ((struct pmsl_diags){ .n = 0 })

void pmsl_error(struct pmsl_diags *d, uint32_t at, uint32_t len, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void pmsl_warn(struct pmsl_diags *d, uint32_t at, uint32_t len, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Adds a hint to the last diagnostic, if that was stored. */
void pmsl_hint(struct pmsl_diags *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct pmsl_colors {
	const char *bold, *error, *warning, *mark, *plain; /* escape sequences, or "" each */
};

extern const struct pmsl_colors pmsl_no_colors;

/*
 * Prints "file:line:col: error: text", the line with a mark below it, and the hint. Control
 * characters are escaped.
 */
void pmsl_diag_print(struct buf *b, const struct pmsl_source *s, const struct pmsl_diag *d,
		     const struct pmsl_colors *c);

#endif
