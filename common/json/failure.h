/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of programs as JSON. */
#ifndef COMMON_JSON_FAILURE_H
#define COMMON_JSON_FAILURE_H

#include "common/json/json.h"

#include <stdio.h>

/* Writes "error":{"status":N,"text":"..."} to an open object. status: of the exit. */
void json_key_failure(struct json *j, int status, const char *text);

/* Prints an object with only that, on a line. */
void json_print_failure(FILE *to, int status, const char *text);

#endif
