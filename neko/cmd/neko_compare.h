/* SPDX-License-Identifier: Apache-2.0 */
/* omig neko compare: the same quantities of two runs side by side, and whether they agree. */
#ifndef NEKO_CMD_NEKO_COMPARE_H
#define NEKO_CMD_NEKO_COMPARE_H

#include <stdbool.h>

#define NEKO_COMPARE_MAX_BYTES (16 * 1024 * 1024) /* limit of output of neko_show_json() */

/*
 * Compares files of `omig neko run -o`. Returns the exit status: 0, they agree; 1, they differ; 6,
 * one of them is partial. Reports failures.
 */
int neko_compare(const char *first, const char *second, bool json);

#endif
