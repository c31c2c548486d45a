/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/profile/profile.h"

#include "tools/session/session.h"

#include <stdio.h>
#include <string.h>

/* Nodes are made of the rows by call. */
static const char *const asked[PROFILE_KINDS] = { "call", "rank", "call", "partner" };

int profile_ask(struct profile *p, enum profile_by by, enum profile_window window, Omis_reply *out)
{
	int rc = session_ask(out, ":omig_calls_profile([],\"%s\",%d) node_get_info([],1)",
			     asked[by], (int)window);

	*p = (struct profile){ .by = by };
	if (rc != CMD_OK)
		return rc;
	if (profile_read(p, by, (*out)[1], (*out)[1] ? (*out)[2] : NULL))
		return CMD_OK;
	omis_reply_free(*out);
	*out = NULL;
	return cmd_fail(CMD_FAILURE, "no memory");
}

/* A process that ended meanwhile is no failure; not being allowed to is. */
int profile_enable(enum profile_by by)
{
	char text[64];
	int n = snprintf(text, sizeof(text), ":omig_calls_enable([],\"%s\")",
			 by == PROFILE_PARTNER ? "partner" : "volume");
	Omis_reply r = omis_request_n(text, (size_t)n, NULL, NULL, 0);
	int rc = CMD_OK;

	if (!r)
		rc = cmd_fail(CMD_FAILURE, "no memory");
	else if (omis_reply_status(r) == OMIS_NO_PERMISSION)
		rc = cmd_fail(CMD_DENIED, "counting cannot be switched on: not permitted");
	omis_reply_free(r);
	return rc;
}
