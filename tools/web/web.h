/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port for reading by HTTP/1.1: GET and HEAD, POST with a small body of JSON, and answers that go
 * on. One request per connection.
 *
 * No library does this. evhttp of libevent 2.1 bounds neither the number of connections nor the
 * time of a request: a byte at intervals keeps one open for ever. libmicrohttpd would load a second
 * TLS library into each omig. HTTP without persistent connections is small. Each connection costs
 * WEB_HEAD_MAX_BYTES, its body and its answer, and lasts for WEB_TIME_MAX_NS. At most WEB_CONNS_MAX
 * (of a page: WEB_PAGE_CONNS_MAX) exist at once.
 *
 * A stream is an answer without an end. It is pulled: `more` is called when all bytes before have
 * left. So a slow viewer holds one answer in memory, and gets newer ones than a fast one.
 */
#ifndef TOOLS_WEB_WEB_H
#define TOOLS_WEB_WEB_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct web;

/* The parsed request. Texts are valid during the call. */
struct web_request {
	const char *path; /* without what follows '?' */
	const char *accept; /* "" when the header is not there */
	const char *bearer; /* the token of the header Authorization; "" = none */
	bool is_post;
	const void *body; /* of a POST */
	size_t nbody;
};

/*
 * status 0 becomes 200. `body` is empty, capped, and owned by the caller. Another status with an
 * empty body gets its name as text.
 */
struct web_answer {
	int status;
	const char *type; /* a literal */
	struct buf *body;
	bool is_lasting; /* browsers may keep it: the path has a hash of the contents */
	void *viewer; /* not NULL: the answer is a stream, which begins with the body */
};

struct web_conf {
	const char *address; /* numeric, IPv6 without brackets */
	uint16_t port; /* 0: the system chooses */
	/*
	 * The token that each request must carry; NULL: none. An address that is not loopback
	 * requires one: ERR_DENIED.
	 */
	const char *token;
	void (*answer)(void *arg, const struct web_request *q, struct web_answer *a);
	void *arg;
	/*
	 * NULL: neither POST nor streams. Else the headers of all answers, a literal with its line
	 * ends. Then a POST must be JSON, and come from a page of this very port.
	 */
	const char *page_headers;
	/* Appends what the viewer of a stream has not seen yet. False: the stream ends here. */
	bool (*more)(void *arg, void *viewer, struct buf *out);
	/* The stream has ended, for any reason. */
	void (*gone)(void *arg, void *viewer);
};

struct web_stats {
	uint64_t answered, refused, cut; /* refused: 4xx; cut: too slow, too many, disconnected */
	unsigned open;
};

/* The address, port and token are copied. ERR_INVALID (address), ERR_DENIED, ERR_SYS, ERR_NOMEM. */
int web_open(const struct web_conf *conf, struct web **out, struct err *e);
void web_close(struct web *w);

uint16_t web_port(const struct web *w);

/* Polls readable when web_turn() has something to do; also call web_turn() once a second. */
int web_fd(const struct web *w);
void web_turn(struct web *w);

/* Calls `more` of each stream whose bytes have left: there is something new. */
void web_feed(struct web *w);

void web_get_stats(const struct web *w, struct web_stats *out);

/*
 * True if the Accept header ranks `type` at least as high as `other`, and names it: a wildcard does
 * not count.
 */
bool web_prefers(const char *accept, const char *type, const char *other);

#endif
