/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server with real TLS over loopback in this process, and two kinds of clients: a channel of
 * ours, and a raw one that misbehaves on command.
 */
#ifndef TESTS_UNIT_COMMON_NET_HARNESS_H
#define TESTS_UNIT_COMMON_NET_HARNESS_H

#include "common/loop/loop.h"
#include "common/net/net.h"
#include "tests/unit/common/net/certs.h"

#include <openssl/ssl.h>

#define PATIENCE (20 * NSEC_PER_SEC) /* only a failure waits that long */
#define ENROL_TYPE 3

/* The events of one end of a channel. */
struct seen {
	struct chan *chan;
	int opened, closed, writable, broken, frames;
	size_t bytes;
	uint8_t last_type;
	struct err why; /* of the end */
	bool echo; /* sends every frame back */
	bool close_on_frame;
	void (*on_frame)(struct seen *s, uint8_t type, const uint8_t *p, size_t n);
};

struct server {
	struct loop *loop;
	struct test_ca ca;
	struct net_ctx *ctx;
	struct net_listener *listener;
	uint16_t port;
	int accepted, refused;
	struct err refused_why;
	struct seen peer[512]; /* by order of accepting */
	nsec_t wall_shift; /* added to the real time in validity checks */
	bool echo, role_known;
	bool is_virtual; /* set before server_start(): the test moves the time */
};

/* conf may be NULL: lm and sm may come, no enrolling. */
void server_start(struct server *s, const struct net_listen_conf *conf);
void server_stop(struct server *s);

/* A context with these credentials (consumed) under the server's loop. */
struct net_ctx *client_ctx(struct server *s, struct pki_creds creds);
/* Dials the server as an lm would; expects a mainsm. Handlers fill *seen. */
struct chan *client_dial(struct server *s, struct net_ctx *ctx, struct seen *seen);
struct chan_handler seen_handler(struct seen *seen);

/* Turns the loop until the condition holds; fails the test after PATIENCE. */
#define UNTIL(s, condition)                                                                \
	do {                                                                               \
		nsec_t until_end = clock_mono() + PATIENCE;                                \
		while (!(condition)) {                                                     \
			ck_assert_int_eq(loop_wait((s)->loop, 20 * NSEC_PER_MSEC), 0);     \
			ck_assert_msg(clock_mono() < until_end, "waited for " #condition); \
		}                                                                          \
	} while (0)

/* Turns the loop for a while in which nothing should happen. */
void settle(struct server *s);

/* Sends one frame of n payload bytes; returns what chan_send() returned. */
int send_frame(struct chan *c, uint8_t type, size_t n);

/* --- raw clients */

struct raw {
	SSL_CTX *ctx;
	SSL *ssl;
	int fd;
	int sessions; /* that the server issued */
	bool connected, over;
	int error; /* SSL_get_error of the end */
};

struct raw_conf {
	const struct pki_creds *creds; /* NULL: no certificate */
	const char *alpn; /* wire form; NULL: "\x06omig/1" */
	int max_version; /* 0: TLS 1.3 */
	X509 *extra; /* shown `extras` times more */
	int extras;
	SSL_SESSION *session; /* to resume */
};

void raw_open(struct raw *r, struct server *s, const struct raw_conf *conf);
void raw_close(struct raw *r);
/* Both sides continue until the client is connected or refused. True: SSL_connect() succeeded. */
bool raw_handshake(struct raw *r, struct server *s);
/* One frame with n payload bytes; what TLS returned. */
int raw_frame(struct raw *r, uint8_t type, size_t n);
/* Connects without TLS. */
int raw_tcp(struct server *s, const char *from);
/*
 * The same, and sends the first byte of a possible TLS handshake, without which a listener ignores
 * it.
 */
int raw_silent(struct server *s, const char *from);

#endif
