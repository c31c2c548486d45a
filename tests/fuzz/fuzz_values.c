/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of values, as replies carry them: printing and parsing keep them. Tokens: what parses
 * prints as it was.
 */
#include "common/base/limits.h"
#include "common/omis/text/token.h"
#include "common/omis/text/value.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void print(struct buf *b, const struct omis_values *v)
{
	struct omis_writer w = OMIS_WRITER(b);

	for (size_t i = 0; i < v->n; i++)
		omis_write_value(&w, &v->v[i]);
	demand(!b->failed);
}

static void demand_token(const struct omis_value *v)
{
	struct token_parts parts;
	struct token text;

	if (v->kind != OMIS_TOKEN)
		return;
	demand(token_is_valid(v->s.p, v->s.n));
	if (!token_parse(v->s.p, v->s.n, &parts))
		demand(!strcmp(token_print(&text, &parts), v->s.p));
}

/* Buffers are reused for all inputs, because allocation would take most of the time. */
static void demand_fixpoint(const struct omis_values *v)
{
	static struct buf first = BUF_INIT(16 * FRAME_MAX_BYTES),
			  second = BUF_INIT(16 * FRAME_MAX_BYTES);
	struct omis_values *again = NULL;

	buf_clear(&first);
	buf_clear(&second);
	print(&first, v);
	demand(!omis_parse_values(buf_str(&first), first.n, &again, NULL));
	demand(again->n == v->n);
	for (size_t i = 0; i < v->n; i++) {
		demand(omis_value_equal(&v->v[i], &again->v[i]));
		demand_token(&v->v[i]);
	}
	print(&second, again);
	demand(first.n == second.n && !memcmp(buf_str(&first), buf_str(&second), first.n));
	omis_values_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct omis_values *v = NULL;
	struct err e = { 0 };

	if (omis_parse_values((const char *)p, n, &v, &e)) {
		demand(e.code != ERR_OK && e.col >= 1 && e.col <= n + 1);
		return 0;
	}
	demand_fixpoint(v);
	omis_values_free(v);
	return 0;
}
