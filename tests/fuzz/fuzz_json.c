/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON text is refused with words, or all of its values can be asked. */
#include "common/base/jsondoc.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static size_t walk(const struct json_value *v)
{
	const struct json_value *i;
	size_t seen = 0, all = 1;
	uint64_t whole;

	for (i = json_first(v); i; i = json_next(i)) {
		all += walk(i);
		seen++;
		if (json_name(i) && !json_get(v, json_name(i)))
			abort();
	}
	if (seen != json_count(v))
		abort();
	json_to_u64(v, &whole);
	return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct jsondoc *d = NULL;
	struct err e = { 0 };

	if (jsondoc_parse((const char *)p, n, &d, &e)) {
		if (d || !e.text[0])
			abort();
	} else if (!walk(jsondoc_root(d))) {
		abort();
	}
	jsondoc_free(d);
	return 0;
}
