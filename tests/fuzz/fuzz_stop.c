/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stop rules: any text is a rule or is refused with a reason; a written rule is read as the same
 * rule.
 */
#include "stats/stop.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static bool is_same_number(double a, double b)
{
	return fabs(a - b) <= 1e-14 * fabs(a);
}

static void check_same(const struct stop *a, const struct stop *b)
{
	if (a->n != b->n)
		abort();
	for (unsigned i = 0; i < a->n; i++) {
		const struct stop_term *x = &a->term[i], *y = &b->term[i];

		if (x->kind != y->kind || x->is_alternative != y->is_alternative ||
		    x->count != y->count || x->is_relative != y->is_relative ||
		    x->by_batches != y->by_batches || x->reading != y->reading ||
		    x->count_min != y->count_min || !is_same_number(x->width, y->width) ||
		    !is_same_number(x->level, y->level))
			abort();
	}
}

/* The state after each value: of none, one, equal ones and others. */
static void look(const struct stop *s)
{
	struct moments m = { 0 };
	struct batches b = { 0 };

	stop_is_reached(s, &m, &b);
	for (int i = 0; i < 70; i++) {
		moments_add(&m, i < 50 ? 1 : i);
		batches_add(&b, i < 50 ? 1 : i);
		stop_is_reached(s, &m, &b);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static struct buf text = BUF_INIT(1 << 16);
	struct stop first, again;
	struct err e = { 0 };
	char in[512];
	int rc;

	if (n >= sizeof(in))
		return 0;
	memcpy(in, p, n);
	in[n] = 0;
	rc = stop_parse(in, &first, &e);
	if (rc) {
		if (!e.text[0] || (rc == -ERR_PARSE && (e.col < 1 || e.col > n + 1)))
			abort();
		return 0;
	}
	buf_clear(&text);
	stop_print(&first, &text);
	if (text.failed || stop_parse(buf_str(&text), &again, &e))
		abort();
	check_same(&first, &again);
	look(&first);
	return 0;
}
