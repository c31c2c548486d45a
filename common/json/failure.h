/* SPDX-License-Identifier: Apache-2.0 */
/* How programs report a failure in JSON. */
#ifndef COMMON_JSON_FAILURE_H
#define COMMON_JSON_FAILURE_H

#include "common/json/json.h"

#include <stdio.h>

/* "error":{"status":N,"text":"..."} into an open object. status: of the exit. */
void json_key_failure(struct json *j, int status, const char *text);

/* An object of that alone, on a line. */
void json_print_failure(FILE *to, int status, const char *text);

#endif
