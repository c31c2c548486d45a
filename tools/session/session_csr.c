/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/session/session_csr.h"

#include "common/base/str.h"

int session_csr_define(struct session_csr *c, const char *text, size_t n,
		       void (*on_reply)(Omis_reply, void *), void *arg)
{
	Omis_reply r = omis_request_n(text, n, on_reply, arg, OMIS_WAIT_FOR_FIRST_REPLY);

	if (r)
		on_reply(r, arg);
	return c->token[0] ? CMD_OK : CMD_FAILURE;
}

Omis_status session_csr_note(struct session_csr *c, Omis_reply r)
{
	Omis_status s = r && r[0] && r[0]->obj_list ? r[0]->status : OMIS_NO_MEMORY;

	if (s == OMIS_CSR_DEFINED) {
		Omis_value *v =
			r[0]->result ? omis_value_parse(r[0]->result, r[0]->result_len) : NULL;

		str_copy(c->token, sizeof(c->token), value_text(v, 0));
		omis_value_free(v);
	} else if (s >= OMIS_FIRST_ERROR) {
		c->ended = s; /* session_csr_check() finds out whether the connection was lost */
		str_copy(c->why, sizeof(c->why),
			 r && r[0] && r[0]->result ? r[0]->result : omis_strerror(s));
	}
	return s;
}

int session_csr_enable(const struct session_csr *c)
{
	Omis_reply r = NULL;
	int rc = session_ask(&r, ":csr_enable([%s])", c->token);

	omis_reply_free(r);
	return rc;
}

void session_csr_delete(struct session_csr *c)
{
	Omis_reply r;

	if (c->token[0] && session_ask(&r, ":csr_delete([%s])", c->token) == CMD_OK)
		omis_reply_free(r);
	c->token[0] = '\0';
}

void session_csr_reset(struct session_csr *c)
{
	c->ended = 0;
	c->token[0] = '\0';
}

int session_csr_check(struct session_csr *c, bool *has_ended)
{
	int rc = session_bridge(&c->gap);

	*has_ended = rc == CMD_OK && c->ended && !c->gap.since;
	return rc;
}

int session_csr_fail(const struct session_csr *c, int status, const char *before)
{
	return cmd_fail(c->ended == OMIS_OS_ERROR ? CMD_UNREACHABLE : status, "%s%s", before,
			c->why);
}
