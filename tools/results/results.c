/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/results/results.h"

#include <json-c/json_object.h>
#include <json-c/json_tokener.h>
#include <math.h>
#include <string.h>

/* Sets line and column, from 1. */
static void set_place(struct err *e, const char *text, size_t at)
{
	const char *begin = text;
	unsigned line = 1;

	for (const char *p = text; p < text + at; p++)
		if (*p == '\n') {
			begin = p + 1;
			line++;
		}
	err_at(e, line, (unsigned)(text + at - begin) + 1);
}

static int refuse(struct err *e, struct json_tokener *t, const char *text)
{
	enum json_tokener_error why = json_tokener_get_error(t);

	err_set(e, why == json_tokener_error_depth ? ERR_LIMIT : ERR_PARSE, "%s",
		why == json_tokener_continue ? "unexpected end of data"
					     : json_tokener_error_desc(why));
	if (e)
		set_place(e, text, json_tokener_get_parse_end(t));
	return why == json_tokener_error_depth ? -ERR_LIMIT : -ERR_PARSE;
}

int results_parse(const char *text, size_t n, struct json_object **out, struct err *e)
{
	struct json_tokener *t;
	struct json_object *v;
	int rc = 0;

	if (n > RESULTS_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "a JSON text has at most %u MiB",
			       RESULTS_MAX_BYTES >> 20);
	if (strlen(text) != n)
		return err_set(e, ERR_PARSE, "a zero byte is not JSON");
	t = json_tokener_new_ex(RESULTS_DEPTH_MAX);
	if (!t)
		return err_nomem(e);
	json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	/* Includes the final 0, which ends a number without brackets. */
	v = json_tokener_parse_ex(t, text, (int)n + 1);
	if (json_tokener_get_error(t) == json_tokener_success)
		*out = v;
	else
		rc = refuse(e, t, text);
	json_tokener_free(t);
	return rc;
}

void results_free(struct json_object *v)
{
	json_object_put(v);
}

struct json_object *results_get(const struct json_object *v, const char *name)
{
	struct json_object *found = NULL;

	return json_object_object_get_ex(v, name, &found) ? found : NULL;
}

bool results_is_array(const struct json_object *v)
{
	return json_object_is_type(v, json_type_array);
}

size_t results_count(const struct json_object *v)
{
	return results_is_array(v) ? json_object_array_length(v) : 0;
}

struct json_object *results_item(const struct json_object *v, size_t i)
{
	return i < results_count(v) ? json_object_array_get_idx(v, i) : NULL;
}

double results_number(const struct json_object *v, double otherwise)
{
	double d = json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double)
			   ? json_object_get_double(v)
			   : otherwise;

	return isfinite(d) ? d : otherwise;
}

double results_member(const struct json_object *v, const char *name)
{
	return results_number(results_get(v, name), NAN);
}

uint64_t results_u64(const struct json_object *v, uint64_t otherwise)
{
	return json_object_is_type(v, json_type_int) ? json_object_get_uint64(v) : otherwise;
}

const char *results_text(struct json_object *v, const char *otherwise)
{
	return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : otherwise;
}

bool results_truth(const struct json_object *v, bool otherwise)
{
	return json_object_is_type(v, json_type_boolean) ? json_object_get_boolean(v) : otherwise;
}
