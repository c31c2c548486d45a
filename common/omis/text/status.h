/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status codes of reply entries and kinds of replies. The numbers are those of the OMIS
 * specification. An odd one (bit 0) means that the object was changed in part.
 */
#ifndef COMMON_OMIS_TEXT_STATUS_H
#define COMMON_OMIS_TEXT_STATUS_H

#include <stdbool.h>

enum status {
	STATUS_OK = 0,
	STATUS_FATAL = 1, /* bit 0 */
	STATUS_CSR_DEFINED = 2,
	STATUS_CSR_ENABLED = 4,
	STATUS_CSR_DISABLED = 6,
	STATUS_CSR_DELETED = 8,
	STATUS_CSR_TRIGGERED = 10,
	STATUS_FIRST_ERROR = 16,
	STATUS_SYNTAX_ERROR = 16,
	STATUS_UNKNOWN_SERVICE = 18,
	STATUS_UNSUPPORTED_SERVICE = 20,
	STATUS_UNKNOWN_ECP = 22,
	STATUS_UNKNOWN_OBJECT = 24,
	STATUS_TYPE_MISMATCH = 26,
	STATUS_PARAMETER_ERROR = 28,
	STATUS_OS_ERROR = 30,
	STATUS_NO_PERMISSION = 32,
	STATUS_NO_MEMORY = 34,
	STATUS_INTERNAL_ERROR = 36,
	STATUS_UNSPECIFIED_ERROR = 1000,
};

/*
 * Returns a name such as "UNKNOWN_OBJECT"; the bit STATUS_FATAL has no influence. Returns "?" for
 * an invalid number.
 */
const char *status_name(unsigned status);

bool status_is_error(unsigned status);

/*
 * Converts an error code to a status: -ERR_NOMEM to NO_MEMORY, -ERR_DENIED to NO_PERMISSION, and so
 * on.
 */
enum status status_from_err(int code);

#endif
