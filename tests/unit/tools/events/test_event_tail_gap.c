/* SPDX-License-Identifier: Apache-2.0 */
/* omig events tail when the next mainsm is not ready at once. */
#include "tests/suite.h"
#include "tools/events/event_tail.h"
#include "tools/session/session.h"

#include <string.h>

static bool refuses;
static Omis_object_result result[2];
static Omis_service_result all[] = { result, NULL };

int __wrap_session_attach(const char *job);
int __wrap_session_ask_value(Omis_value **out, const char *fmt, ...);
int __wrap_session_ask(Omis_reply *out, const char *fmt, ...);
Omis_reply __wrap_omis_request_n(const char *text, size_t n, void (*cb)(Omis_reply, void *),
				 void *arg, Omis_flags flags);
void __real_omis_reply_free(Omis_reply r);
void __wrap_omis_reply_free(Omis_reply r);

int __wrap_session_attach(const char *job)
{
	return CMD_OK;
}

int __wrap_session_ask_value(Omis_value **out, const char *fmt, ...)
{
	*out = omis_value_parse("b_1", 3);
	return CMD_OK;
}

int __wrap_session_ask(Omis_reply *out, const char *fmt, ...)
{
	*out = NULL;
	return refuses ? cmd_fail(CMD_FAILURE, "what was there has gone") : CMD_OK;
}

void __wrap_omis_reply_free(Omis_reply r)
{
	if (r != all)
		__real_omis_reply_free(r);
}

Omis_reply __wrap_omis_request_n(const char *text, size_t n, void (*cb)(Omis_reply, void *),
				 void *arg, Omis_flags flags)
{
	static char none[] = "", token[] = "c_1", words[] = "not yet";

	result[0] =
		refuses ? (Omis_object_result){ none, OMIS_OS_ERROR, words, sizeof(words) - 1 }
			: (Omis_object_result){ none, OMIS_CSR_DEFINED, token, sizeof(token) - 1 };
	return all;
}

TEST(a_mainsm_that_is_not_ready_is_asked_again)
{
	char name[] = "all", *names[] = { name, NULL }, words[64] = "";
	const struct event_tail_options options = { .names = names, .reconnect_ns = NSEC_PER_SEC };
	struct event_tail f = { .options = &options };

	ck_assert_int_eq(event_tail_begin(&f), CMD_OK);
	refuses = true;
	cmd_hush(words, sizeof(words));
	ck_assert_int_ne(f.csr.gap.again(f.csr.gap.arg), CMD_OK);
	cmd_hush(NULL, 0);
	/* The cause, and not its effect. */
	ck_assert_msg(strstr(words, "not yet"), "%s", words);
	ck_assert_int_eq(f.status, CMD_OK);
	ck_assert(!f.is_over);
	refuses = false;
	ck_assert_int_eq(f.csr.gap.again(f.csr.gap.arg), CMD_OK);
	ck_assert_str_eq(f.csr.token, "c_1");
	event_tail_end(&f);
}

SUITE("following gap")
