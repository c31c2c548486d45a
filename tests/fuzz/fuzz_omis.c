/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests. What parses prints to a text that parses to an equal request and
 * prints the same; checking and binding it keep that true.
 */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "common/omis/services/check.h"
#include "common/omis/text/request.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void demand(int truth)
{
	if (!truth)
		abort();
}

/* Buffers are reused for all inputs, because allocation would take most of the time. */
static void demand_fixpoint(const struct omis_request *r)
{
	static struct buf first = BUF_INIT(16 * FRAME_MAX_BYTES),
			  second = BUF_INIT(16 * FRAME_MAX_BYTES);
	struct omis_request *again = NULL;

	buf_clear(&first);
	buf_clear(&second);
	omis_print_request(&first, r);
	demand(!first.failed);
	/* Octal escapes may quadruple a string, so the text may be too long for a tool. */
	demand(first.n > FRAME_MAX_BYTES ||
	       !omis_parse_inner(buf_str(&first), first.n, &again, NULL));
	if (!again)
		return;
	demand(omis_request_equal(r, again));
	omis_print_request(&second, again);
	demand(first.n == second.n && !memcmp(buf_str(&first), buf_str(&second), first.n));
	omis_request_free(again);
}

static void bind_all(const struct omis_request *r)
{
	static struct omis_value ranks[] = {
		{ .kind = OMIS_INT, .i = 1 },
		{ .kind = OMIS_INT, .i = 2 },
	};
	static const struct omis_ecp known[] = {
		{ "proc", { .kind = OMIS_TOKEN, .s = { "p_1_000000", 10 } } },
		{ "time", { .kind = OMIS_FLOAT, .f = 1.5 } },
		{ "par1", { .kind = OMIS_INT, .i = 7 } },
		{ "par2", { .kind = OMIS_LIST, .list = { ranks, 2 } } },
	};
	const struct omis_ecps ecps = { known, ARRAY_LEN(known) };
	struct omis_request *bound = NULL;
	struct omis_diag d = { 0 };

	if (omis_bind(&(struct omis_part){ r, 0, r->naction }, &ecps, &bound, &d)) {
		demand(d.status >= 16);
		return;
	}
	demand_fixpoint(bound);
	omis_request_free(bound);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct omis_request *r = NULL;
	struct omis_diag d = { 0 };
	struct err e = { 0 };

	if (omis_parse((const char *)p, n, &r, &e)) {
		demand(e.code != ERR_OK && e.col >= 1 && e.col <= n + 1);
		return 0;
	}
	demand_fixpoint(r);
	if (omis_check(r, &d)) {
		demand(d.status >= 16 && d.offset <= n && d.action <= r->naction);
	} else {
		demand_fixpoint(r);
		if (r->event)
			bind_all(r);
	}
	omis_request_free(r);
	return 0;
}
