/* SPDX-License-Identifier: Apache-2.0 */
/* Strict parser for the head of a request: doubtful input is refused. */
#include "common/base/str.h"
#include "tools/web/internal.h"
#include "common/base/array.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

size_t web_head_end(const char *p, size_t n)
{
	const char *at = memmem(p, n, "\r\n\r\n", 4);

	return at ? (size_t)(at - p) + 4 : 0;
}

static bool is_token_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* Ends the line at p. Returns the next one, or NULL if this one contains a control character. */
static char *cut_line(char *p)
{
	char *end = strstr(p, "\r\n");

	if (!end)
		return NULL;
	for (char *c = p; c < end; c++)
		if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f)
			return NULL;
	*end = '\0';
	return end + 2;
}

/* METHOD SP /path SP HTTP/1.x */
static int read_request_line(char *line, struct web_head *out)
{
	char *target = strchr(line, ' '), *version;

	if (!target || target == line)
		return 400;
	*target++ = '\0';
	version = strchr(target, ' ');
	if (!version)
		return 400;
	*version++ = '\0';
	if (!str_eq(version, "HTTP/1.1") && !str_eq(version, "HTTP/1.0"))
		return str_has_prefix(version, "HTTP/") ? 505 : 400;
	out->is_head = str_eq(line, "HEAD");
	out->is_post = str_eq(line, "POST");
	if (!out->is_head && !out->is_post && !str_eq(line, "GET"))
		return 405;
	if (*target != '/')
		return 400;
	target[strcspn(target, "?")] = '\0';
	out->path = target;
	return 0;
}

/*
 * Refuses a repeated header that may occur once only: two readers could interpret it differently.
 */
static int keep(const char **into, const char *value)
{
	if (*into)
		return 400;
	*into = value;
	return 0;
}

/* A length that cannot be read is a body of unknown length, which is refused. */
static int take_length(struct web_head *out, const char *value)
{
	uint64_t n;

	if (out->has_length)
		return 400;
	out->has_length = true;
	out->has_body |= !str_eq(value, "0");
	if (str_to_u64(value, 0, WEB_BODY_MAX_BYTES, &n))
		return 413;
	out->nbody = (size_t)n;
	return 0;
}

static int take_field(struct web_head *out, const char *name, const char *value)
{
	if (!strcasecmp(name, "Host"))
		return keep(&out->host, value);
	if (!strcasecmp(name, "Authorization"))
		return keep(&out->authorization, value);
	if (!strcasecmp(name, "Origin"))
		return keep(&out->origin, value);
	if (!strcasecmp(name, "Accept"))
		return keep(&out->accept, value);
	if (!strcasecmp(name, "Content-Type"))
		return keep(&out->type, value);
	if (!strcasecmp(name, "Sec-Fetch-Site"))
		return keep(&out->site, value);
	if (!strcasecmp(name, "Content-Length"))
		return take_length(out, value);
	return strcasecmp(name, "Transfer-Encoding") ? 0 : 413;
}

static int read_field(char *line, struct web_head *out)
{
	char *colon = line, *value;

	while (is_token_char(*colon))
		colon++;
	if (colon == line || *colon != ':')
		return 400; /* also a continuation line */
	*colon = '\0';
	value = colon + 1 + strspn(colon + 1, " \t");
	for (char *end = value + strlen(value); end > value && strchr(" \t", end[-1]); end--)
		end[-1] = '\0';
	return take_field(out, line, value);
}

int web_head_read(char *p, size_t n, struct web_head *out)
{
	char *line = p, *next;
	int status;

	memset(out, 0, sizeof(*out));
	p[n] = '\0';
	if (memchr(p, '\0', n))
		return 400;
	next = cut_line(line);
	status = next ? read_request_line(line, out) : 400;
	while (!status && *(line = next) != '\r') {
		next = cut_line(line);
		status = next ? read_field(line, out) : 400;
	}
	if (status)
		return status;
	if (!out->host)
		return 400;
	return out->has_body && !out->is_post ? 413 : 0;
}

/* A number of 127/8 is not a name, so that no name server can make it another address. */
static bool is_loopback_number(const char *host, size_t n)
{
	char text[INET_ADDRSTRLEN];
	struct in_addr a;

	if (n >= sizeof(text))
		return false;
	memcpy(text, host, n);
	text[n] = '\0';
	return inet_pton(AF_INET, text, &a) == 1 && ntohl(a.s_addr) >> 24 == 127;
}

static bool is_loopback_name(const char *host, size_t n)
{
	static const char *const names[] = { "localhost", "[::1]" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (n == strlen(names[i]) && !strncasecmp(host, names[i], n))
			return true;
	return is_loopback_number(host, n);
}

bool web_is_local_name(const char *host)
{
	size_t n = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	uint64_t port;

	if (!is_loopback_name(host, n))
		return false;
	return !host[n] || (host[n] == ':' && !str_to_u64(host + n + 1, 0, 65535, &port));
}

/* --- content negotiation */

/* The quality of `type` in thousandths; -1 when it is not named. */
static int quality(const char *accept, const char *type)
{
	size_t len = strlen(type), n;
	int best = -1;

	for (; *accept; accept += n + (accept[n] == ',')) {
		const char *q;
		int quality = 1000;

		accept += strspn(accept, " \t");
		n = strcspn(accept, ",");
		if (n < len || strncasecmp(accept, type, len) ||
		    (n > len && !strchr("; \t", accept[len])))
			continue;
		q = memmem(accept, n, ";q=", 3);
		if (q)
			quality = q[3] == '1' ? 1000 : 0;
		for (int i = 0, unit = 100; q && q[3] == '0' && q[4] == '.' && i < 3;
		     i++, unit /= 10) {
			if (q[5 + i] < '0' || q[5 + i] > '9')
				break;
			quality += (q[5 + i] - '0') * unit;
		}
		best = quality > best ? quality : best;
	}
	return best;
}

bool web_prefers(const char *accept, const char *type, const char *other)
{
	int q = quality(accept, type);

	return q > 0 && q >= quality(accept, other);
}
