/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this room. */
#ifndef TOOLS_WEB_INTERNAL_H
#define TOOLS_WEB_INTERNAL_H

#include "common/base/limits.h"
#include "common/container/list.h"
#include "tools/web/web.h"

enum web_state { WEB_READS, WEB_WRITES, WEB_DRAINS, WEB_STREAMS };

/* The parts of a request's head, which are terminated in place. */
struct web_head {
	bool is_head, is_post; /* else GET */
	char *path;
	const char *host, *accept, *authorization, *origin; /* NULL = not there */
	const char *type, *site; /* Content-Type, Sec-Fetch-Site; the same */
	bool has_length, has_body;
	size_t nbody; /* of a POST */
};

struct web_conn {
	struct list item;
	struct web *web;
	int fd;
	enum web_state state;
	nsec_t until; /* end of the connection's time */
	size_t n; /* bytes of the head so far */
	char head[WEB_HEAD_MAX_BYTES + 1];
	bool has_head; /* it is parsed, and the body follows */
	struct web_head parsed;
	struct buf body;
	void *viewer; /* of a stream; NULL: none */
	struct buf out; /* the answer's head and body */
	size_t sent;
};

struct web {
	struct web_conf conf;
	char *token; /* owned; NULL = not required */
	bool is_loopback;
	unsigned conns_max;
	int epoll, listener;
	struct list conns;
	struct web_stats stats;
};

/* Returns the length of the head with its final empty line; 0 = incomplete. */
size_t web_head_end(const char *p, size_t n);

/*
 * Splits a complete head: n bytes with the empty line, p[n] writable. Returns 0 or the status of
 * the answer.
 */
int web_head_read(char *p, size_t n, struct web_head *out);

/* True for a Host (or the part of an Origin after ://) that names this machine's loopback. */
bool web_is_local_name(const char *host);

/* Takes the descriptor; closes it without memory. */
void web_conn_new(struct web *w, int fd);
void web_conn_free(struct web_conn *c);

/* Reads or writes as much as possible; ends a connection at its deadline. All may free it. */
void web_conn_turn(struct web_conn *c);
void web_conn_expire(struct web_conn *c);
/* Sends more of a stream, if there is more and all before has left. */
void web_conn_feed(struct web_conn *c);

/* --- web_judge.c */

/* Returns 0 or the status with which a request is refused for its head. */
int web_judge(const struct web *w, const struct web_head *h);
/* The token of an Authorization header (NULL is fine); "" = none. */
const char *web_bearer(const char *header);

#endif
