/* SPDX-License-Identifier: Apache-2.0 */
/* A list of absolute paths separated by blanks, as in a configuration. */
#ifndef LM_HOST_FILELIST_H
#define LM_HOST_FILELIST_H

#include "common/base/err.h"

#include <stdbool.h>

/* Files that contain nothing about a user or a program. */
#define FILELIST_DEFAULT                                                                  \
	"/proc/cpuinfo /proc/meminfo /proc/swaps /proc/net/dev /proc/loadavg /proc/stat " \
	"/proc/version /proc/uptime"

/* -ERR_INVALID, with the name of the key: a word is not an absolute path, or has a part '..'. */
int filelist_check(const char *list, const char *key, struct err *e);

/* True if the list contains exactly this path. NULL is an empty list. */
bool filelist_has(const char *list, const char *path);

#endif
