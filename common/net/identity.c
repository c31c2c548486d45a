/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/net/identity.h"

#include <ctype.h>
#include <inttypes.h>
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
	[ROLE_RECEIVER] = "receiver",
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

/* True for programs that a user starts: their host is a label. */
static bool is_of_user(enum role r)
{
	return (ROLES_TOOL | ROLES_SERVER) >> r & 1;
}

char *identity_describe(char *out, size_t size, const struct identity *id)
{
	char site[SHOWN_BYTES], host[SHOWN_BYTES];
	const char *owner = is_of_user(id->role) ? id->owner : "";

	str_escape(site, sizeof(site), id->site, strlen(id->site));
	str_escape(host, sizeof(host), id->host, strlen(id->host));
	snprintf(out, size, "%s%s%s%s%s%s%s", role_name(id->role), *site ? " of site " : "", site,
		 *owner ? " of " : "", owner, *host ? " on " : "", host);
	return out;
}

char *identity_principal(char *out, const struct identity *id)
{
	if (!is_of_user(id->role) || !(id->has_uid || id->owner[0]))
		snprintf(out, IDENTITY_PRINCIPAL_BYTES, "%s %s/%s", role_name(id->role), id->site,
			 id->host);
	else if (id->has_uid)
		snprintf(out, IDENTITY_PRINCIPAL_BYTES, "uid %" PRIu32, id->uid);
	else
		str_copy(out, IDENTITY_PRINCIPAL_BYTES, id->owner);
	return out;
}

bool identity_is_same_user(const struct identity *a, const struct identity *b)
{
	return a->has_uid && b->has_uid && a->uid == b->uid;
}

static bool is_made_of(const char *s, size_t max, const char *extra, bool is_wide)
{
	size_t n = strlen(s);

	if (n == 0 || n > max || s[0] == '-' || s[0] == '.')
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 128 ? !(isalnum(c) || strchr(extra, c)) : !is_wide)
			return false;
	}
	return true;
}

bool identity_owner_is_valid(const char *name)
{
	return is_made_of(name, IDENTITY_OWNER_MAX_BYTES, "._-+", false);
}

bool identity_host_is_valid(const char *name)
{
	return is_made_of(name, NAME_MAX_BYTES, "._-:", true) && str_is_name(name, strlen(name));
}

/*
 * True for unreserved characters of RFC 3986, and '@', which is frequent in user@host; never for
 * '/', '%' or ':'.
 */
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

static bool is_token(const char *s)
{
	return !*s || is_made_of(s, IDENTITY_TOKEN_MAX_BYTES, "-", false);
}

/* Writes /OWNER/UID/TOKEN, or nothing if all are empty. */
static int vouched_to_uri(char *at, const struct identity *id, struct err *e)
{
	char uid[16] = "";

	if (!id->owner[0] && !id->has_uid && !id->token[0])
		return 0;
	if ((id->owner[0] && !identity_owner_is_valid(id->owner)) || !is_token(id->token))
		return err_set(e, ERR_INVALID, "the owner of an identity is not a name");
	if (id->has_uid)
		snprintf(uid, sizeof(uid), "%" PRIu32, id->uid);
	*at++ = '/';
	at = encode_part(at, id->owner);
	snprintf(at, 2 + sizeof(uid) + IDENTITY_TOKEN_MAX_BYTES, "/%s/%s", uid, id->token);
	return 0;
}

int identity_to_uri(char *out, const struct identity *id, struct err *e)
{
	char *at;

	if (id->role <= ROLE_NONE || id->role >= ROLE_COUNT)
		return err_set(e, ERR_INVALID, "an identity needs a role");
	if (!is_name_or_empty(id->site))
		return err_set(e, ERR_INVALID, "the site of an identity is not a name");
	if (!is_name_or_empty(id->host))
		return err_set(e, ERR_INVALID, "the host of an identity is not a name");
	at = out + snprintf(out, IDENTITY_URI_BYTES, SCHEME "%s/", role_names[id->role]);
	at = encode_part(at, id->site);
	*at++ = '/';
	at = encode_part(at, id->host);
	*at = 0;
	return vouched_to_uri(at, id, e);
}

static int hex_digit(unsigned char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/*
 * Accepts only one encoding of each name. Otherwise two certificates of one host could look
 * different.
 */
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

#define PARTS_MAX 6

/* Cuts at each '/'. Returns the number of parts; PARTS_MAX + 1 if there are more. */
static size_t split(const char *p, const char *end, const char *part[PARTS_MAX],
		    size_t size[PARTS_MAX])
{
	size_t n = 0;

	while (n < PARTS_MAX) {
		const char *slash = memchr(p, '/', (size_t)(end - p));

		part[n] = p;
		size[n++] = (size_t)((slash ? slash : end) - p);
		if (!slash)
			return n;
		p = slash + 1;
	}
	return PARTS_MAX + 1;
}

/* Decodes "", or a number in the form in which it is printed. */
static bool decode_uid(struct identity *id, const char *text)
{
	char again[16];
	uint64_t uid;

	if (!*text)
		return true;
	if (str_to_u64(text, 0, UINT32_MAX, &uid))
		return false;
	snprintf(again, sizeof(again), "%" PRIu64, uid);
	id->has_uid = true;
	id->uid = (uint32_t)uid;
	return str_eq(again, text);
}

static bool decode_vouched(struct identity *id, const char *const part[PARTS_MAX],
			   const size_t size[PARTS_MAX])
{
	char text[3][NAME_MAX_BYTES + 1];

	for (size_t i = 0; i < 3; i++)
		if (!decode_part(text[i], part[3 + i], size[3 + i]))
			return false;
	if (!decode_uid(id, text[1]) || !str_copy(id->owner, sizeof(id->owner), text[0]) ||
	    !str_copy(id->token, sizeof(id->token), text[2]))
		return false;
	return (id->owner[0] || id->has_uid || id->token[0]) &&
	       (!id->owner[0] || identity_owner_is_valid(id->owner)) && is_token(id->token);
}

int identity_from_uri(struct identity *id, const char *p, size_t n, struct err *e)
{
	const char *end = p + n, *part[PARTS_MAX];
	size_t size[PARTS_MAX], nparts;
	struct identity got = *id;

	if (n < strlen(SCHEME) || memcmp(p, SCHEME, strlen(SCHEME)))
		return err_set(e, ERR_PARSE, "the certificate's URI is not one of Omig");
	nparts = split(p + strlen(SCHEME), end, part, size);
	got.role = role_from_part(part[0], size[0]);
	got.owner[0] = got.token[0] = 0;
	got.has_uid = false;
	got.uid = 0;
	if ((nparts != 3 && nparts != PARTS_MAX) || got.role == ROLE_NONE ||
	    !decode_part(got.site, part[1], size[1]) || !decode_part(got.host, part[2], size[2]) ||
	    (nparts == PARTS_MAX && !decode_vouched(&got, part, size)))
		return err_set(e, ERR_PARSE,
			       "the certificate's URI does not name a role, a site and a host");
	*id = got;
	return 0;
}
