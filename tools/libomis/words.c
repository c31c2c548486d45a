/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/libomis/words.h"

#include "common/base/str.h"
#include "common/omis/text/status.h"

static char last[ERR_TEXT_BYTES];

Omis_status words_keep(const struct err *e)
{
	if (!e || e->code == ERR_OK) {
		last[0] = '\0';
		return OMIS_OK;
	}
	str_copy(last, sizeof(last), e->text);
	switch (e->code) {
	case ERR_NOMEM:
		return OMIS_NO_MEMORY;
	case ERR_DENIED:
		return OMIS_NO_PERMISSION;
	case ERR_NOTFOUND:
	case ERR_PARSE:
	case ERR_INVALID:
	case ERR_EXISTS:
		return OMIS_PARAMETER_ERROR;
	default:
		return OMIS_OS_ERROR;
	}
}

const char *omis_last_error(void)
{
	return last;
}

const char *omis_strerror(Omis_status status)
{
	return status_name((unsigned)status);
}

const char *omis_library_version(void)
{
	return OMIG_VERSION;
}
