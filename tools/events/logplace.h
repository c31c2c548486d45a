/* SPDX-License-Identifier: Apache-2.0 */
/* Where an archive of event logs is, as messages name it. */
#ifndef TOOLS_EVENTS_LOGPLACE_H
#define TOOLS_EVENTS_LOGPLACE_H

#include "common/base/err.h"

/* Without the password of a URL. */
const char *logplace_name(const char *where);

/* `omig: WHERE: text` for a failure with the archive. Returns the exit status. */
int logplace_fail(const char *where, const struct err *e);

#endif
