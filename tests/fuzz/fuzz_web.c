/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of an HTTP request: parsed or refused with a status. A parsed one has a path and a host;
 * only a POST has a body, of limited length.
 */
#include "tools/web/internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void demand(int truth)
{
	if (!truth)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static char head[WEB_HEAD_MAX_BYTES + 1];
	struct web_head h;
	size_t end;
	int status;

	n = n > WEB_HEAD_MAX_BYTES ? WEB_HEAD_MAX_BYTES : n;
	memcpy(head, p, n);
	end = web_head_end(head, n);
	if (!end)
		return 0;
	demand(end <= n);
	status = web_head_read(head, end, &h);
	demand(status == 0 || (status >= 400 && status <= 505));
	if (status)
		return 0;
	demand(h.path && *h.path == '/' && h.host);
	demand(h.is_post || !h.has_body);
	demand(h.nbody <= WEB_BODY_MAX_BYTES);
	web_bearer(h.authorization);
	web_is_local_name(h.host);
	if (h.accept)
		web_prefers(h.accept, "application/openmetrics-text", "text/plain");
	return 0;
}
