/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are refused for their head: of a foreign page, or without the token. */
#include "common/base/str.h"
#include "tools/web/internal.h"

#include <string.h>
#include <strings.h>

const char *web_bearer(const char *header)
{
	static const char scheme[] = "Bearer ";

	if (!header || strncasecmp(header, scheme, sizeof(scheme) - 1))
		return "";
	return header + sizeof(scheme) - 1;
}

/* Takes the same time for any wrong token of the right length; its length is not secret. */
static bool is_authorised(const struct web *w, const char *header)
{
	const char *given = web_bearer(header);

	if (!w->token)
		return true;
	return strlen(given) == strlen(w->token) && str_equal_ct(given, w->token, strlen(w->token));
}

/*
 * A page in the operator's browser can reach loopback by a name that resolves to it. It cannot make
 * the browser send another name.
 */
static bool is_ours(const struct web *w, const struct web_head *h)
{
	const char *at = h->origin ? strstr(h->origin, "://") : NULL;

	if (h->origin && (!at || !web_is_local_name(at + 3)))
		return false;
	return !w->is_loopback || web_is_local_name(h->host);
}

/* Another server of this machine is local, too: its pages have another port in their origin. */
static bool is_of_this_page(const struct web_head *h)
{
	const char *at = h->origin ? strstr(h->origin, "://") : NULL;

	if (at && strcasecmp(at + 3, h->host))
		return false;
	return !h->site || str_eq(h->site, "same-origin") || str_eq(h->site, "none");
}

static bool is_json(const char *type)
{
	static const char json[] = "application/json";

	return type && !strncasecmp(type, json, sizeof(json) - 1) &&
	       (!type[sizeof(json) - 1] || strchr("; \t", type[sizeof(json) - 1]));
}

int web_judge(const struct web *w, const struct web_head *h)
{
	if (!is_ours(w, h))
		return 403;
	if (h->is_post && !w->conf.page_headers)
		return 405;
	if (h->is_post && !is_of_this_page(h))
		return 403;
	if (h->is_post && !is_json(h->type))
		return 415;
	return is_authorised(w, h->authorization) ? 0 : 401;
}
