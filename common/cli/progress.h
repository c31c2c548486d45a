/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line on standard error, on a terminal only, for work that takes longer than two seconds. It
 * has no colour. The line is removed before other output.
 */
#ifndef COMMON_CLI_PROGRESS_H
#define COMMON_CLI_PROGRESS_H

#include "common/base/clock.h"

#include <stdbool.h>

/* time that users wait before they expect a sign of progress */
#define PROGRESS_AFTER_NS (2 * NSEC_PER_SEC)
#define PROGRESS_EACH_NS (NSEC_PER_SEC / 5)

/* All zeros: shows nothing. */
struct progress {
	bool is_wanted, is_shown;
	nsec_t begin, next;
};

/* Starts the two seconds. is_quiet: shows nothing, like without a terminal. */
void progress_begin(struct progress *p, bool is_quiet);

/* Cheaper than reading the clock. Returns true if progress_show() has something to do now. */
bool progress_is_due(struct progress *p);

/* Returns the seconds since progress_begin(). */
double progress_seconds(const struct progress *p);

/* Shows the line in place of the previous one. */
void progress_show(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Removes the line; may be called again. */
void progress_end(struct progress *p);

#endif
