/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a plug-in, before anything of it is loaded. */
#ifndef LM_PLUGIN_PLUGIN_FILE_H
#define LM_PLUGIN_PLUGIN_FILE_H

#include "common/base/err.h"

/*
 * Checks that path is absolute, and names a regular file of this user. Other users may write
 * neither the file nor its folder. root counts as this user. -ERR_INVALID, -ERR_NOTFOUND,
 * -ERR_DENIED, with the remedy.
 */
int plugin_file_check(const char *path, struct err *e);

#endif
