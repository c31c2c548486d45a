/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations of logs. */
#include "common/base/str.h"
#include "eventlog/netlogger/nlog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

int NL_file_mode = 0666;

/* Programs of NetLogger seldom examine the handle: one line says why there is no log. */
static int refuse_url(const char *url, int code, const char *why)
{
	fprintf(stderr, "libomig-netlogger: %s: %s; write file://PATH, or a path with a /\n", url,
		why);
	errno = code;
	return -1;
}

/* Opens files only. Otherwise the handle is NULL, as when a file cannot be opened. */
int nlurl_open(const char *url, bool is_append, bool *is_borrowed)
{
	static const char scheme[] = "file://";

	*is_borrowed = str_eq(url, "-") || str_eq(url, "&");
	if (*is_borrowed)
		return url[0] == '-' ? 1 : 2;
	if (str_has_prefix(url, scheme)) {
		url += sizeof(scheme) - 1;
	} else if (strstr(url, "://")) {
		return refuse_url(url, EPROTONOSUPPORT, "no such destination is offered");
	} else if (!strchr(url, '/')) { /* NetLogger took a name for a host */
		return refuse_url(url, EINVAL, "is neither a path nor a destination");
	}
	return open(url, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (is_append ? 0 : O_TRUNC),
		    NL_file_mode);
}
