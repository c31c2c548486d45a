/* SPDX-License-Identifier: Apache-2.0 */
/* A list of absolute paths with blanks between, as it stands in a configuration. */
#ifndef LM_HOST_FILELIST_H
#define LM_HOST_FILELIST_H

#include "common/base/err.h"

#include <stdbool.h>

/* What says nothing of a user or a program. */
#define FILELIST_DEFAULT                                                                  \
	"/proc/cpuinfo /proc/meminfo /proc/swaps /proc/net/dev /proc/loadavg /proc/stat " \
	"/proc/version /proc/uptime"

/* -ERR_INVALID: a word of it is no absolute path, or has a part '..'. */
int filelist_check(const char *list, struct err *e);

/* The very path, as it stands in the list. NULL is an empty list. */
bool filelist_has(const char *list, const char *path);

#endif
