/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Destinations of events that are not files: x-netlog://HOST[:PORT] (TCP), x-netlogs://HOST[:PORT]
 * (TLS), x-netlog-udp://HOST[:PORT], and x-syslog://[HOST[:PORT]]. These names are NetLogger's.
 */
#ifndef EVENTLOG_SEND_EVURL_H
#define EVENTLOG_SEND_EVURL_H

#include "common/base/err.h"

#include <stdint.h>

enum evurl_kind {
	EVURL_FILE, /* any other text: a path, or file://PATH */
	EVURL_TCP,
	EVURL_TLS, /* like EVURL_TCP, with certificates of a monitor on both sides */
	EVURL_UDP,
	EVURL_SYSLOG, /* syslog of this host: `host` is the path of its socket */
};

#define EVURL_HOST_BYTES 256
#define EVURL_SYSLOG_PORT 514
#define EVURL_PORT 14830 /* the port of NetLogger's receiver */
#define EVURL_TLS_PORT 14831

struct evurl {
	enum evurl_kind kind;
	const char *path; /* for a file: a part of the text; otherwise NULL */
	char host[EVURL_HOST_BYTES]; /* a name or an address, IPv6 without []; "" = none */
	uint16_t port;
};

/*
 * Any thread. A text with :// is a URL, and any other text is a path. Fails with ERR_UNSUPPORTED
 * for an unknown scheme, and with ERR_INVALID for an invalid host or port.
 */
int evurl_parse(const char *text, struct evurl *out, struct err *e);

#endif
