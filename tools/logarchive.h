/* SPDX-License-Identifier: Apache-2.0 */
/* omig log load, query, compare: event logs in SQL. */
#ifndef TOOLS_LOGARCHIVE_H
#define TOOLS_LOGARCHIVE_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "tools/logread.h"

struct logarchive_wish {
	const char *archive; /* a path, or postgresql://... */
	bool json;
};

/* Returns an exit status: CMD_DAMAGED when not all of the logs is in the archive now. */
int logarchive_load(const struct logarchive_wish *w, const struct logread_wish *read, char **files);

/* `omig: WHERE: text` for a failure with the archive; the password of a URL is not shown. */
int logarchive_fail(const char *where, const struct err *e);

#endif
