/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message of a command that waits: one line on standard error, on a terminal only. It is printed at
 * once if the time is known to be long (common/cli/progress.h).
 */
#ifndef TOOLS_SESSION_WAITING_H
#define TOOLS_SESSION_WAITING_H

#include "common/cli/progress.h"

#define WAITING_FOREVER INT64_MAX

/* Zeros show nothing. */
struct waiting {
	struct progress line;
	const char *doing; /* "measuring" */
	const char *interrupt; /* effect of ctrl-C: "shows the results so far" */
	nsec_t until; /* clock_mono(), or WAITING_FOREVER */
};

/*
 * From now on shows a line with the work and its time. Shows nothing if is_quiet, or if one of the
 * two outputs is not a terminal. Texts are borrowed.
 */
void waiting_begin(struct waiting *w, const char *doing, const char *interrupt, nsec_t until,
		   bool is_quiet);

/* Updates the line; called in each turn of a loop. */
void waiting_show(struct waiting *w);

/* Removes the line before other output. The next waiting_show() may show it again. */
void waiting_hide(struct waiting *w);

/* Removes the line, and never shows it again. */
void waiting_end(struct waiting *w);

/*
 * Waits until then, for a signal, or until the connection is no longer up; handles what mainsm
 * sends meanwhile.
 */
void waiting_until(const char *doing, const char *interrupt, nsec_t until, bool is_quiet);

#endif
