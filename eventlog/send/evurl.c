/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/send/evurl.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <stdio.h>
#include <string.h>

static const struct scheme {
	const char *name;
	enum evurl_kind kind;
} schemes[] = {
	{ "file://", EVURL_FILE },	 { "x-netlog://", EVURL_TCP },
	{ "x-netlogs://", EVURL_TLS },	 { "x-netlog-udp://", EVURL_UDP },
	{ "x-syslog://", EVURL_SYSLOG },
};

static uint16_t usual_port(enum evurl_kind kind)
{
	return kind == EVURL_SYSLOG ? EVURL_SYSLOG_PORT
	       : kind == EVURL_TLS  ? EVURL_TLS_PORT
				    : EVURL_PORT;
}

/* Parses "host", "host:port", "[::1]:port", ":port", each with an optional / at the end. */
static int parse_place(const char *text, struct evurl *out)
{
	size_t n = strcspn(text, "/");
	bool is_v6 = *text == '[';
	const char *end = is_v6 ? memchr(text, ']', n) : memchr(text, ':', n);
	const char *colon = is_v6 && end ? end + 1 : end;
	char port[8];
	uint64_t number = usual_port(out->kind);

	if (text[n] && text[n + 1])
		return -ERR_INVALID;
	if (!end)
		end = colon = is_v6 ? NULL : text + n;
	text += is_v6;
	if (!end || (size_t)(end - text) >= sizeof(out->host))
		return -ERR_INVALID;
	n -= (size_t)(colon - text) + is_v6;
	if (n && (*colon != ':' || n > sizeof(port)))
		return -ERR_INVALID;
	if (n) {
		snprintf(port, sizeof(port), "%.*s", (int)n - 1, colon + 1);
		if (str_to_u64(port, 0, 65535, &number))
			return -ERR_INVALID;
	}
	snprintf(out->host, sizeof(out->host), "%.*s", (int)(end - text), text);
	out->port = (uint16_t)number;
	return 0;
}

/* Parses x-syslog:// or x-syslog:///PATH, which mean the socket of syslog on this host. */
static int parse_socket(const char *path, struct evurl *out)
{
	path = *path ? path : "/dev/log";
	return str_copy(out->host, sizeof(out->host), path) ? 0 : -ERR_INVALID;
}

/* Parses the text behind the scheme. */
static int parse_rest(const char *text, struct evurl *out)
{
	if (out->kind == EVURL_FILE)
		return 0;
	if (out->kind == EVURL_SYSLOG && (!*text || *text == '/'))
		return parse_socket(text, out);
	return parse_place(text, out);
}

int evurl_parse(const char *text, struct evurl *out, struct err *e)
{
	const struct scheme *s = schemes, *last = schemes + ARRAY_LEN(schemes);
	struct evurl url = { .kind = EVURL_FILE, .path = text };

	if (!strstr(text, "://")) {
		*out = url;
		return 0;
	}
	while (s < last && !str_has_prefix(text, s->name))
		s++;
	if (s == last)
		return err_set(
			e, ERR_UNSUPPORTED,
			"%.40s is not one of file://, x-netlog://, x-netlogs://, x-netlog-udp:// and x-syslog://",
			text);
	text += strlen(s->name);
	url.kind = s->kind;
	url.path = s->kind == EVURL_FILE ? text : NULL;
	if (parse_rest(text, &url))
		return err_set(e, ERR_INVALID, "%.60s is not HOST:PORT", text);
	*out = url;
	return 0;
}
