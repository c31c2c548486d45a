/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/events/logplace.h"

#include "eventlog/archive/archive.h"
#include "tools/term/say.h"

const char *logplace_name(const char *where)
{
	return arpg_is_url(where) ? "PostgreSQL" : where;
}

int logplace_fail(const char *where, const struct err *e)
{
	int status = e->code == ERR_NOTFOUND  ? CMD_NOTFOUND
		     : e->code == ERR_DENIED  ? CMD_DENIED
		     : e->code == ERR_TIMEOUT ? CMD_TIMEOUT
					      : CMD_FAILURE;

	return cmd_fail(status, "%s: %s", logplace_name(where), e->text);
}
