/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/send/evurl.h"
#include "tests/suite.h"

static const struct {
	const char *text;
	int rc;
	enum evurl_kind kind;
	const char *rest; /* the path, or the host */
	unsigned port;
} rows[] = {
	{ "run7.olog", 0, EVURL_FILE, "run7.olog", 0 },
	{ "./run7.olog", 0, EVURL_FILE, "./run7.olog", 0 },
	{ "file:///var/x", 0, EVURL_FILE, "/var/x", 0 },
	{ "x-netlog://host", 0, EVURL_TCP, "host", EVURL_PORT },
	{ "x-netlog://host/", 0, EVURL_TCP, "host", EVURL_PORT },
	{ "x-netlog://host:1", 0, EVURL_TCP, "host", 1 },
	{ "x-netlogs://host", 0, EVURL_TLS, "host", EVURL_TLS_PORT },
	{ "x-netlogs://:1", 0, EVURL_TLS, "", 1 },
	{ "x-netlog://:65535", 0, EVURL_TCP, "", 65535 },
	{ "x-netlog-udp://[::1]:9", 0, EVURL_UDP, "::1", 9 },
	{ "x-netlog-udp://[fe80::1%eth0]", 0, EVURL_UDP, "fe80::1%eth0", EVURL_PORT },
	{ "x-netlog://", 0, EVURL_TCP, "", EVURL_PORT },
	{ "x-netlog://host:65536", -ERR_INVALID, 0, NULL, 0 },
	{ "x-netlog://host:1x", -ERR_INVALID, 0, NULL, 0 },
	{ "x-netlog://host:123456789", -ERR_INVALID, 0, NULL, 0 },
	{ "x-netlog://host:", -ERR_INVALID, 0, NULL, 0 },
	{ "x-netlog://host/path", -ERR_INVALID, 0, NULL, 0 },
	{ "x-netlog://[::1", -ERR_INVALID, 0, NULL, 0 },
	{ "x-netlog://[::1]x", -ERR_INVALID, 0, NULL, 0 },
	{ "x-syslog://", 0, EVURL_SYSLOG, "/dev/log", 0 },
	{ "x-syslog:///run/x", 0, EVURL_SYSLOG, "/run/x", 0 },
	{ "x-syslog://host", 0, EVURL_SYSLOG, "host", 514 },
	{ "http://host", -ERR_UNSUPPORTED, 0, NULL, 0 },
};

TEST_EACH(a_url_is_parsed, row, ARRAY_LEN(rows))
{
	struct evurl url = { 0 };
	struct err e = { 0 };

	ck_assert_msg(evurl_parse(rows[row].text, &url, &e) == rows[row].rc, "%s: %s",
		      rows[row].text, e.text);
	if (rows[row].rc) {
		ck_assert_ptr_null(url.path);
		return;
	}
	ck_assert_int_eq(url.kind, rows[row].kind);
	ck_assert_str_eq(url.path ? url.path : url.host, rows[row].rest);
	ck_assert_uint_eq(url.port, rows[row].port);
}

TEST(a_host_has_at_most_255_bytes)
{
	char text[400];
	struct evurl url;

	snprintf(text, sizeof(text), "x-netlog://%0255d:1", 0);
	ck_assert_int_eq(evurl_parse(text, &url, NULL), 0);
	snprintf(text, sizeof(text), "x-netlog://%0256d:1", 0);
	ck_assert_int_eq(evurl_parse(text, &url, NULL), -ERR_INVALID);
}

SUITE("eventlog/send evurl")
