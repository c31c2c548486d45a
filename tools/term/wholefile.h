/* SPDX-License-Identifier: Apache-2.0 */
/* A text that the user names: a file, a pipe of the shell, or standard input, which may be slow. */
#ifndef TOOLS_TERM_WHOLEFILE_H
#define TOOLS_TERM_WHOLEFILE_H

#include "common/base/buf.h"
#include "common/base/err.h"

/*
 * Appends all of it; "-" is standard input. Blocks until its end. ERR_NOTFOUND, ERR_LIMIT (more
 * than max bytes), ERR_SYS, ERR_NOMEM.
 */
int wholefile_read(const char *path, size_t max, struct buf *out, struct err *e);

/* Returns its name for messages. */
const char *wholefile_name(const char *path);

/* Prints what is wrong with its text, with line and column if e has them. Returns CMD_USAGE. */
int wholefile_fail(const char *path, const struct err *e);

#endif
