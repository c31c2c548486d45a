/* SPDX-License-Identifier: Apache-2.0 */
/* The name of an archive of event logs, for messages. */
#ifndef TOOLS_EVENTS_LOGPLACE_H
#define TOOLS_EVENTS_LOGPLACE_H

#include "common/base/err.h"

/* Returns the name without the password of a URL. */
const char *logplace_name(const char *where);

/* Prints `omig: WHERE: text` for a failure with the archive. Returns the exit status. */
int logplace_fail(const char *where, const struct err *e);

#endif
