/* SPDX-License-Identifier: Apache-2.0 */
/* The small files of the state directory: a record a line, fields by tabs. They block as files do. */
#ifndef COMMON_AUTHORITY_FIELDS_H
#define COMMON_AUTHORITY_FIELDS_H

#include "common/base/err.h"

#include <stddef.h>

/* Cuts the line in place. Returns how many there are; at most max are set. */
size_t fields_split(char *line, char **field, size_t max);

/*
 * Calls fn for each line of a secret file of ours; a missing file has none. The text of a failure names file and
 * line.
 */
int fields_read(const char *path, size_t max_bytes, int (*fn)(void *arg, char *line, struct err *e), void *arg,
		struct err *e);

#endif
