/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/net/identity.h"

#include <stdio.h>
#include <string.h>

#define SCHEME "omig:"

static const char *const role_names[ROLE_COUNT] = {
	[ROLE_NONE] = "none",
	[ROLE_MAINSM] = "mainsm",
	[ROLE_SM] = "sm",
	[ROLE_LM] = "lm",
	[ROLE_TOOL_OBSERVE] = "tool-observe",
	[ROLE_TOOL_MANIPULATE] = "tool-manipulate",
	[ROLE_TOOL_ADMIN] = "tool-admin",
	[ROLE_FACTORY] = "factory",
};

const char *role_name(enum role r)
{
	return (unsigned)r < ROLE_COUNT ? role_names[r] : role_names[ROLE_NONE];
}

static enum role role_from_part(const char *p, size_t n)
{
	for (unsigned r = ROLE_NONE + 1; r < ROLE_COUNT; r++) {
		if (strlen(role_names[r]) == n && !memcmp(role_names[r], p, n))
			return (enum role)r;
	}
	return ROLE_NONE;
}

enum role role_from_name(const char *name)
{
	return role_from_part(name, strlen(name));
}

char *role_set_names(char *out, size_t size, unsigned roles)
{
	size_t at = 0;

	out[0] = 0;
	for (unsigned r = ROLE_NONE + 1; r < ROLE_COUNT && at < size; r++) {
		if (!(roles & ROLE_BIT(r)))
			continue;
		at += (size_t)snprintf(out + at, size - at, "%s%s", at ? " or " : "",
				       role_names[r]);
	}
	if (!at)
		str_copy(out, size, "nobody");
	return out;
}

#define SHOWN_BYTES 64

char *identity_describe(char *out, size_t size, const struct identity *id)
{
	char site[SHOWN_BYTES], host[SHOWN_BYTES];

	str_escape(site, sizeof(site), id->site, strlen(id->site));
	str_escape(host, sizeof(host), id->host, strlen(id->host));
	snprintf(out, size, "%s%s%s%s%s", role_name(id->role), *site ? " of site " : "", site,
		 *host ? " on " : "", host);
	return out;
}

/* RFC 3986 unreserved, and '@', which user@host is full of; never '/', '%' or ':'. */
static bool is_plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~' || c == '@';
}

static char *encode_part(char *out, const char *s)
{
	static const char digits[] = "0123456789ABCDEF";

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (is_plain(c)) {
			*out++ = (char)c;
			continue;
		}
		*out++ = '%';
		*out++ = digits[c >> 4];
		*out++ = digits[c & 15];
	}
	return out;
}

static bool is_name_or_empty(const char *s)
{
	return !*s || str_is_name(s, strlen(s));
}

int identity_to_uri(char *out, const struct identity *id, struct err *e)
{
	char *at;

	if (id->role <= ROLE_NONE || id->role >= ROLE_COUNT)
		return err_set(e, ERR_INVALID, "an identity needs a role");
	if (!is_name_or_empty(id->site))
		return err_set(e, ERR_INVALID, "the site of an identity is no name");
	if (!is_name_or_empty(id->host))
		return err_set(e, ERR_INVALID, "the host of an identity is no name");
	at = out + snprintf(out, IDENTITY_URI_BYTES, SCHEME "%s/", role_names[id->role]);
	at = encode_part(at, id->site);
	*at++ = '/';
	at = encode_part(at, id->host);
	*at = 0;
	return 0;
}

static int hex_digit(unsigned char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* One way to write each name: otherwise two certificates of one host look different. */
static bool decode_part(char out[NAME_MAX_BYTES + 1], const char *p, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		int c = (unsigned char)p[i];

		if (c == '%') {
			if (n - i < 3 || hex_digit((unsigned char)p[i + 1]) < 0 ||
			    hex_digit((unsigned char)p[i + 2]) < 0)
				return false;
			c = hex_digit((unsigned char)p[i + 1]) * 16 +
			    hex_digit((unsigned char)p[i + 2]);
			if (is_plain((unsigned char)c))
				return false;
			i += 2;
		} else if (!is_plain((unsigned char)c)) {
			return false;
		}
		if (at == NAME_MAX_BYTES)
			return false;
		out[at++] = (char)c;
	}
	out[at] = 0;
	return !at || str_is_name(out, at);
}

int identity_from_uri(struct identity *id, const char *p, size_t n, struct err *e)
{
	const char *end = p + n, *site, *host;
	struct identity got = *id;

	if (n < strlen(SCHEME) || memcmp(p, SCHEME, strlen(SCHEME)))
		return err_set(e, ERR_PARSE, "the certificate's URI is not one of ours");
	p += strlen(SCHEME);
	site = memchr(p, '/', (size_t)(end - p));
	host = site ? memchr(site + 1, '/', (size_t)(end - site - 1)) : NULL;
	got.role = site ? role_from_part(p, (size_t)(site - p)) : ROLE_NONE;
	if (!host || got.role == ROLE_NONE ||
	    !decode_part(got.site, site + 1, (size_t)(host - site - 1)) ||
	    !decode_part(got.host, host + 1, (size_t)(end - host - 1)))
		return err_set(e, ERR_PARSE,
			       "the certificate's URI does not name a role, a site and a host");
	*id = got;
	return 0;
}
