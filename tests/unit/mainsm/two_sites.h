/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of conditional requests: a tool that may change what two sites have, and one condition
 * of it. */
#ifndef TESTS_UNIT_MAINSM_TWO_SITES_H
#define TESTS_UNIT_MAINSM_TWO_SITES_H

#include "tests/unit/mainsm/csr/csrs.h"

static struct world w;
static struct fake_branch a, b;
static struct above t;
static char token[CSR_TOKEN_BYTES], text[256];

static inline void open_sites(void)
{
	sites_open(&w, &a, &b, &t, ROLE_TOOL_MANIPULATE);
}

static inline void close_sites(void)
{
	sites_close(&w, &a, &b, &t);
}

static inline void define(const char *request)
{
	above_define(&t, request, token);
}

static inline unsigned with_token(const char *service)
{
	uint64_t id;
	const struct reply *r;

	snprintf(text, sizeof(text), ":%s([%s])", service, token);
	id = above_send(&t, text, 0);
	world_run(&w, 100 * MS);
	r = t.of_kind[0];
	return r && r->id == id ? reply_status(r) : STATUS_UNSPECIFIED_ERROR;
}

#endif
