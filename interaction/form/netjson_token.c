/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "interaction/form/netjson.h"

int netjson_expect(struct netjson *x, enum jsonread_token token, const char *what, struct err *e)
{
	int got = jsonread_next(x->r, e);

	if (got < 0)
		return got;
	return got == (int)token ? 0
				 : jsonread_fail(x->r, e, ERR_INVALID, "%s is expected, not %s",
						 what, jsonread_token_name(got));
}

int netjson_unknown(struct netjson *x, struct err *e)
{
	int token;

	if (!x->report->unknown_keys++) {
		str_escape(x->report->unknown_key, sizeof(x->report->unknown_key), x->r->text,
			   x->r->n);
		x->report->unknown_line = x->r->line;
	}
	token = jsonread_next(x->r, e);
	return token < 0 ? token : jsonread_skip(x->r, token, e);
}

unsigned netjson_find_key(const struct jsonread *r, const char *const *key, unsigned n)
{
	unsigned k = 0;

	while (k < n && !jsonread_is(r, key[k]))
		k++;
	return k;
}
