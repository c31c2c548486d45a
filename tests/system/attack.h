/* SPDX-License-Identifier: Apache-2.0 */
/* A misbehaving peer, for the fault tests of ports of mainsm and sm. */
#ifndef TESTS_SYSTEM_ATTACK_H
#define TESTS_SYSTEM_ATTACK_H

#include "proto/frame.h"
#include "proto/msg.h"

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

struct attack {
	char host[256];
	uint16_t port;
	const char *creds; /* directory with key.pem and cert.pem; NULL: none */
	const char *alpn; /* "omig/1" */
	bool tls12;
	int extra; /* so many certificates more than one's own */
	SSL_SESSION *session; /* session to be resumed; owned */
	/* of the connection */
	SSL_CTX *ctx;
	SSL *ssl;
	int fd;
	struct frame_in in;
	int64_t began_ms;
	uint8_t cert[2048], ca[2048]; /* of the last ENROL_ACK */
	size_t ncert, nca;
	bool is_closed;
};

int64_t now_ms(void);
/* Reports an error and ends with status 2. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Both print the result on stdout. TLS 1.3: the server may refuse us after a good handshake. */
bool attack_open(struct attack *a);
/* The same as a server: accepts the listener's first peer within 20 s. */
bool attack_accept(struct attack *a, int listener);
void attack_close(struct attack *a);

/* False: the peer has closed the connection. */
bool attack_send(struct attack *a, const void *p, size_t n);
bool attack_send_msg(struct attack *a, const struct msg *m);

/*
 * Prints each message on stdout until one of this type (0: none) has come, the peer has closed, or
 * `ms` are over. True: it has come.
 */
bool attack_read(struct attack *a, uint8_t type, int64_t ms);

/* --- malicious frames: see attack_bombs.c for the names. NULL for an unknown name. */
struct buf *attack_bomb(const char *name);

#endif
