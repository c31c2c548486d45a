/* SPDX-License-Identifier: Apache-2.0 */
/* omig neko compare: the same quantities of two runs side by side, and whether they agree. */
#ifndef NEKO_CMD_NEKO_COMPARE_H
#define NEKO_CMD_NEKO_COMPARE_H

#include <stdbool.h>

#define NEKO_COMPARE_MAX_BYTES (16 * 1024 * 1024) /* largest output of neko_show_json() */

/*
 * Compares files of `omig neko run -o` and prints the result. Returns the exit status: 0 if they
 * agree, 1 if they differ, 6 if one is partial; others after a reported failure.
 */
int neko_compare(const char *first, const char *second, bool json);

#endif
