/* SPDX-License-Identifier: Apache-2.0 */
/* Moments in the notations of users. */
#ifndef TOOLS_TERM_MOMENT_H
#define TOOLS_TERM_MOMENT_H

#include "common/base/clock.h"
#include "common/base/err.h"

#define MOMENT_HELP "13:05, -2h, now, 2026-11-27T13:05 or with a zone 2026-11-27T13:05:00Z"

/*
 * Wall time in ns since 1970. text: now; -TIME (before now); HH:MM[:SS] (of today, or of yesterday
 * if it is in the future); YYYY-MM-DD[THH:MM[:SS]][Z|+HH:MM|-HH:MM]; @SECONDS since 1970. Without a
 * zone it is local time. ERR_PARSE; ERR_INVALID: there is no such day or time, or it is after now.
 */
int moment_parse(const char *text, nsec_t now, nsec_t *out, struct err *e);

/* moment_parse() from the present time, as the callback of an option: into is a nsec_t *. */
int moment_option(void *into, const char *text, struct err *e);

#endif
