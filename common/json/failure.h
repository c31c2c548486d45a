/* SPDX-License-Identifier: Apache-2.0 */
/* The failure of a program as JSON. */
#ifndef COMMON_JSON_FAILURE_H
#define COMMON_JSON_FAILURE_H

#include "common/json/json.h"

#include <stdio.h>

/* Writes "error":{"status":N,"text":"..."} to an open object. status: the exit status. */
void json_key_failure(struct json *j, int status, const char *text);

/* Prints a line with an object that has only this member. */
void json_print_failure(FILE *to, int status, const char *text);

#endif
