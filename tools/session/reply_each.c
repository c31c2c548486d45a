/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/session/reply_each.h"

#include <stdbool.h>
#include <string.h>

static void each_token(const char *list, const Omis_value *v, reply_each_fn fn, void *arg)
{
	char token[REPLY_TOKEN_BYTES];
	size_t n;

	for (; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n >= sizeof(token))
			continue; /* no token of mainsm is so long */
		memcpy(token, list, n);
		token[n] = '\0';
		fn(arg, token, v);
	}
}

void reply_each(const Omis_object_result *entries, reply_each_fn fn, void *arg)
{
	for (const Omis_object_result *o = entries; o && o->obj_list; o++) {
		Omis_value *v = o->status == OMIS_OK && o->result
					? omis_value_parse(o->result, o->result_len)
					: NULL;

		if (v)
			each_token(o->obj_list, v, fn, arg);
		omis_value_free(v);
	}
}
