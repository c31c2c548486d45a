/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations of logs. */
#include "common/base/str.h"
#include "eventlog/netlogger/nlog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int NL_file_mode = 0666;

/* Reports on stderr why there is no log: NetLogger's programs seldom check the handle. */
static int refuse_url(const char *url, int code, const char *why)
{
	fprintf(stderr,
		"libomig-netlogger: %s: %s; write x-netlog://HOST, file://PATH or a path with a /\n",
		url, why);
	errno = code;
	return -1;
}

static int open_file(const char *path, bool is_append)
{
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (is_append ? 0 : O_TRUNC),
		    NL_file_mode);
}

int nlurl_open(const char *url, bool is_append, struct nlout *out)
{
	struct evurl to;
	struct err e = { 0 };

	*out = (struct nlout){ .fd = -1, .is_borrowed = str_eq(url, "-") || str_eq(url, "&") };
	if (out->is_borrowed) {
		out->fd = url[0] == '-' ? 1 : 2;
		return 0;
	}
	if (evurl_parse(url, &to, &e))
		return refuse_url(url, e.code == ERR_INVALID ? EINVAL : EPROTONOSUPPORT, e.text);
	/* NetLogger would have taken this name for a host */
	if (to.kind == EVURL_FILE && !strchr(url, '/'))
		return refuse_url(url, EINVAL, "is neither a path nor a destination");
	if (to.kind == EVURL_FILE) {
		out->fd = open_file(to.path, is_append);
		return out->fd < 0 ? -1 : 0;
	}
	if (!evsend_open(&to, &out->send, &e))
		return 0;
	errno = e.code == ERR_NOMEM ? ENOMEM : EAGAIN;
	return -1;
}

void nlout_close(const struct nlout *out)
{
	if (out->fd >= 0 && !out->is_borrowed)
		close(out->fd);
	evsend_close(out->send, 0, NULL);
}
