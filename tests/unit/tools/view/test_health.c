/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/suite.h"
#include "common/base/array.h"
#include "tools/view/health.h"

#include <stdio.h>
#include <string.h>

#define NOW_S 1e9

/* Notes for the figures `pairs` of an lm of version 1.0: the first one, and their number. */
static size_t judge(const char *pairs, struct health_note note[4])
{
	char text[400];
	Omis_value *v;
	size_t n;

	snprintf(text, sizeof(text), "\"lm\",\"1.0\",5%s%s", *pairs ? "," : "", pairs);
	v = omis_value_parse(text, strlen(text));
	ck_assert_ptr_nonnull(v);
	note[0].text[0] = 0;
	n = health_notes(v, NOW_S, "1.0", note, 4);
	omis_value_free(v);
	return n;
}

static const struct {
	const char *pairs, *says; /* NULL: nothing */
} cells[] = {
	{ "", NULL },
	{ "[\"certificate_expires_ns\",1001209601000000000]", NULL },
	{ "[\"certificate_expires_ns\",1001209599000000000]", "the certificate ends in 13d23h" },
	{ "[\"certificate_expires_ns\",1000000000000000000]", "the certificate has ended" },
	{ "[\"certificate_expires_ns\",999999995000000000]", "the certificate has ended" },
	{ "[\"certificate_expires_ns\",1000086400000000000]", "the certificate ends in 1d00h" },
	{ "[\"certificate_expires_ns\",1000003600000000000]", "the certificate ends in 1h00m" },
	{ "[\"certificate_expires_ns\",1000604000000000000],[\"certificate_life_s\",604800]",
	  NULL },
	{ "[\"certificate_expires_ns\",1000120959000000000],[\"certificate_life_s\",604800]",
	  "the certificate ends in 1d09h" },
	{ "[\"certificate_expires_ns\",1000003600000000000],[\"certificate_life_s\",7200]",
	  "the certificate ends in 1h00m" },
	{ "[\"events_dropped\",0],[\"dropped\",0],[\"records_dropped\",0]", NULL },
	{ "[\"events_dropped\",3]", "events_dropped: 3 were lost" },
	{ "[\"dropped\",1]", "dropped: 1 were lost" },
	{ "[\"lag_max_ns\",499000000]", NULL },
	{ "[\"lag_max_ns\",2000000000]", "it answered up to 2.0s late" },
	{ "[\"lms_queued_bytes\",8388608]", NULL },
	{ "[\"lms_queued_bytes\",8388609]", "lms_queued_bytes: 8.0M wait" },
	{ "[\"parent_queued_bytes\",33554432]", "parent_queued_bytes: 32M wait" },
	{ "[\"parent_up\",1]", NULL },
	{ "[\"parent_up\",0]", "it has no connection to mainsm" },
	{ "[\"fds\",90],[\"fd_limit\",100]", NULL },
	{ "[\"fds\",91],[\"fd_limit\",100]", "91 of 100 descriptors are in use" },
	{ "[\"fds\",91]", NULL },
};

TEST_EACH(each_figure_is_judged_at_its_bound, at, ARRAY_LEN(cells))
{
	struct health_note note[4];
	size_t n = judge(cells[at].pairs, note);

	ck_assert_uint_eq(n, cells[at].says ? 1 : 0);
	if (!cells[at].says)
		return;
	ck_assert_msg(!strncmp(note[0].text, cells[at].says, strlen(cells[at].says)), "%s",
		      note[0].text);
	ck_assert(note[0].remedy && *note[0].remedy);
}

TEST(another_version_is_reported_and_what_has_no_room_is_counted)
{
	struct health_note note[4] = { { .text = "" } };
	char text[] = "\"sm\",\"0.9\",5,[\"dropped\",1],[\"parent_up\",0]";
	Omis_value *v = omis_value_parse(text, strlen(text));

	ck_assert_uint_eq(health_notes(v, NOW_S, "1.0", note, 2), 3);
	ck_assert_str_eq(note[0].text, "version 0.9, this omig is 1.0");
	ck_assert_str_eq(note[1].text, "dropped: 1 were lost");
	ck_assert_str_eq(note[2].text, "");
	omis_value_free(v);
}

SUITE("health")
