/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a JSON text (RFC 8259) of anybody, whole, into values that can be asked. Of a name that an
 * object has twice the first counts. Strings with U+0000 are refused: texts end with a 0 here.
 */
#ifndef COMMON_BASE_JSONDOC_H
#define COMMON_BASE_JSONDOC_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* a value of two bytes takes 48 here: 1.5 GiB at the worst */
#define JSONDOC_MAX_BYTES (64u << 20)

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct jsondoc;
struct json_value;

/* ERR_PARSE with line and column; ERR_LIMIT: too large, or deeper than JSON_DEPTH_MAX;
 * ERR_NOMEM. */
int jsondoc_parse(const char *text, size_t n, struct jsondoc **out, struct err *e);
void jsondoc_free(struct jsondoc *d);
const struct json_value *jsondoc_root(const struct jsondoc *d);

/* All take NULL, as a value that is not there: it is null, and has nothing. */
enum json_kind json_kind_of(const struct json_value *v);
size_t json_count(const struct json_value *v); /* of an array's or an object's values */
const struct json_value *json_first(const struct json_value *v); /* of them; NULL: none */
const struct json_value *json_next(const struct json_value *v);
const char *json_name(const struct json_value *v); /* of an object's value; NULL of others */
const struct json_value *json_get(const struct json_value *v, const char *name); /* O(count) */

/* Of another kind: otherwise. */
double json_number(const struct json_value *v, double otherwise);
const char *json_text(const struct json_value *v, const char *otherwise);
bool json_truth(const struct json_value *v, bool otherwise);

/* A whole number, all 64 bits of it. -ERR_INVALID. */
int json_to_u64(const struct json_value *v, uint64_t *out);

#endif
