/* SPDX-License-Identifier: Apache-2.0 */
/* mainsm with two sms of two hosts each, which measure for one tool. */
#ifndef TESTS_UNIT_MAINSM_MEASURE_MEASURED_HOSTS_H
#define TESTS_UNIT_MAINSM_MEASURE_MEASURED_HOSTS_H

#include "tests/unit/mainsm/four_hosts.h"
#include "tests/unit/mainsm/measure/measuring.h"

static struct world w;
static struct fake_branch a, b;
static struct above t;
static struct measured in_a, in_b;
static char dfg[CSR_TOKEN_BYTES];
static double more; /* added to the value of each process */

/* Returns 100 and 110 for the processes of node 1, 200 and 210 for node 2, and so on. */
static inline double told(const char *process)
{
	return 100 * (process[2] - '0') + 10 * (process[4] - 'a') + more;
}

static inline void open_hosts(void)
{
	more = 0;
	four_hosts_open(&w, &a, &b);
	measured_open(&in_a, &a, told);
	measured_open(&in_b, &b, told);
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	above_attach_all(&t);
}

static inline void close_hosts(void)
{
	if (t.link)
		above_close(&t);
	four_hosts_close(&w, &a, &b);
	measured_clear(&in_a);
	measured_clear(&in_b);
}

static inline void create(const char *objects, const char *text, const char *metric,
			  const char *options)
{
	char request[1024];
	const struct reply *r;

	snprintf(request, sizeof(request), ":dfg_create(%s,\"%s\",\"%s\",%s)", objects, text,
		 metric, options);
	r = above_ask(&t, request);
	ck_assert_msg(reply_status(r) == STATUS_OK, "%s", r->entry[0].value);
	str_copy(dfg, sizeof(dfg), entry_of(r, 1, 0)->value);
}

/* Asks :service([dfg]more). */
static inline const struct reply *ask(const char *service, const char *rest)
{
	char request[256];

	snprintf(request, sizeof(request), ":%s([%s]%s)", service, dfg, rest);
	return above_ask(&t, request);
}

#endif
