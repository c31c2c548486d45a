/* SPDX-License-Identifier: Apache-2.0 */
#include "common/omis/text/status.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"

static const struct {
	unsigned status;
	const char *name;
} names[] = {
	{ STATUS_OK, "OK" },
	{ STATUS_CSR_DEFINED, "CSR_DEFINED" },
	{ STATUS_CSR_ENABLED, "CSR_ENABLED" },
	{ STATUS_CSR_DISABLED, "CSR_DISABLED" },
	{ STATUS_CSR_DELETED, "CSR_DELETED" },
	{ STATUS_CSR_TRIGGERED, "CSR_TRIGGERED" },
	{ STATUS_SYNTAX_ERROR, "SYNTAX_ERROR" },
	{ STATUS_UNKNOWN_SERVICE, "UNKNOWN_SERVICE" },
	{ STATUS_UNSUPPORTED_SERVICE, "UNSUPPORTED_SERVICE" },
	{ STATUS_UNKNOWN_ECP, "UNKNOWN_ECP" },
	{ STATUS_UNKNOWN_OBJECT, "UNKNOWN_OBJECT" },
	{ STATUS_TYPE_MISMATCH, "TYPE_MISMATCH" },
	{ STATUS_PARAMETER_ERROR, "PARAMETER_ERROR" },
	{ STATUS_OS_ERROR, "OS_ERROR" },
	{ STATUS_NO_PERMISSION, "NO_PERMISSION" },
	{ STATUS_NO_MEMORY, "NO_MEMORY" },
	{ STATUS_INTERNAL_ERROR, "INTERNAL_ERROR" },
	{ STATUS_UNSPECIFIED_ERROR, "UNSPECIFIED_ERROR" },
};

const char *status_name(unsigned status)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].status == (status & ~(unsigned)STATUS_FATAL))
			return names[i].name;
	return "?";
}

bool status_is_error(unsigned status)
{
	return status >= STATUS_FIRST_ERROR;
}

enum status status_from_err(int code)
{
	switch (code < 0 ? -code : code) {
	case ERR_OK:
		return STATUS_OK;
	case ERR_NOMEM:
		return STATUS_NO_MEMORY;
	case ERR_SYS:
		return STATUS_OS_ERROR;
	case ERR_PARSE:
		return STATUS_SYNTAX_ERROR;
	case ERR_DENIED:
		return STATUS_NO_PERMISSION;
	case ERR_NOTFOUND:
		return STATUS_UNKNOWN_OBJECT;
	case ERR_LIMIT:
	case ERR_EXISTS:
	case ERR_INVALID:
		return STATUS_PARAMETER_ERROR;
	case ERR_UNSUPPORTED:
		return STATUS_UNSUPPORTED_SERVICE;
	case ERR_AGAIN:
	case ERR_CLOSED:
	case ERR_TIMEOUT:
	case ERR_PROTO:
		return STATUS_UNSPECIFIED_ERROR;
	default:
		return STATUS_INTERNAL_ERROR;
	}
}
