/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads results that a command wrote as JSON, such as `omig neko run -o`. The file may come from
 * anywhere: each function accepts a value of any kind, and NULL for a missing one.
 */
#ifndef TOOLS_RESULTS_RESULTS_H
#define TOOLS_RESULTS_RESULTS_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESULTS_MAX_BYTES (64u << 20)
#define RESULTS_DEPTH_MAX 32

/* declared here because names of json-c clash with those of common/json/json.h */
struct json_object;

/*
 * text has a 0 behind its n bytes. ERR_PARSE with line and column, ERR_LIMIT, ERR_NOMEM. For
 * results_free().
 */
int results_parse(const char *text, size_t n, struct json_object **out, struct err *e);
void results_free(struct json_object *v);

struct json_object *results_get(const struct json_object *v, const char *name);

/* Access the elements of an array; 0 and NULL for other kinds and beyond the end. */
bool results_is_array(const struct json_object *v);
size_t results_count(const struct json_object *v);
struct json_object *results_item(const struct json_object *v, size_t i);

/* Return `otherwise` for a value of another kind or a number that is not finite. */
double results_number(const struct json_object *v, double otherwise);
const char *results_text(struct json_object *v, const char *otherwise);
uint64_t results_u64(const struct json_object *v, uint64_t otherwise);
bool results_truth(const struct json_object *v, bool otherwise);

/* Returns the number of that name in an object, or NaN as results_number(). */
double results_member(const struct json_object *v, const char *name);

#endif
