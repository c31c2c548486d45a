/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL archives in a build without libpq: all are refused. */
#include "eventlog/archive/arsql.h"

int arpg_open(const char *url, enum armode mode, nsec_t time_ns, struct arsql *out, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED,
		       "this omig was built without PostgreSQL (Debian: libpq-dev); use a file");
}
