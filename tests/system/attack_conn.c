/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/attack.h"

#include "common/base/limits.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("attack: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(2);
}

static const char *tls_words(void)
{
	const char *word = ERR_reason_error_string(ERR_peek_last_error());

	return word ? word : "without a word";
}

static void report_closed(struct attack *a, const char *how)
{
	if (!a->is_closed)
		printf("closed after %lld ms: %s\n", (long long)(now_ms() - a->began_ms), how);
	a->is_closed = true;
	ERR_clear_error();
}

static int tcp(const struct attack *a)
{
	struct addrinfo want = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV }, *at;
	char port[8];
	int fd;

	snprintf(port, sizeof(port), "%u", a->port);
	if (getaddrinfo(a->host, port, &want, &at))
		die("no such host: %s", a->host);
	fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, at->ai_addr, at->ai_addrlen))
		die("%s port %u: %s", a->host, a->port, strerror(errno));
	freeaddrinfo(at);
	return fd;
}

static void load_creds(struct attack *a)
{
	char key[4096], cert[4096];

	snprintf(key, sizeof(key), "%s/key.pem", a->creds);
	snprintf(cert, sizeof(cert), "%s/cert.pem", a->creds);
	if (SSL_CTX_use_certificate_file(a->ctx, cert, SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_use_PrivateKey_file(a->ctx, key, SSL_FILETYPE_PEM) != 1)
		die("%s: %s", a->creds, tls_words());
	for (int i = 0; i < a->extra; i++)
		if (SSL_CTX_add1_chain_cert(a->ctx, SSL_CTX_get0_certificate(a->ctx)) != 1)
			die("chain: %s", tls_words());
}

static void set_alpn(struct attack *a)
{
	unsigned char list[64];
	size_t n = strlen(a->alpn);

	if (n >= sizeof(list))
		die("too long: %s", a->alpn);
	list[0] = (unsigned char)n;
	memcpy(list + 1, a->alpn, n);
	if (n && SSL_set_alpn_protos(a->ssl, list, (unsigned)n + 1))
		die("alpn: %s", tls_words());
}

bool attack_open(struct attack *a)
{
	a->ctx = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_max_proto_version(a->ctx, a->tls12 ? TLS1_2_VERSION : TLS1_3_VERSION);
	SSL_CTX_set_session_cache_mode(a->ctx, SSL_SESS_CACHE_CLIENT);
	if (a->creds)
		load_creds(a);
	a->ssl = SSL_new(a->ctx);
	set_alpn(a);
	if (a->session)
		SSL_set_session(a->ssl, a->session);
	a->fd = tcp(a);
	setsockopt(a->fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	a->is_closed = false;
	a->began_ms = now_ms();
	frame_in_init(&a->in, FRAME_MAX_BYTES);
	SSL_set_fd(a->ssl, a->fd);
	if (SSL_connect(a->ssl) == 1) {
		printf("handshake done%s\n", SSL_session_reused(a->ssl) ? ", session resumed" : "");
		return true;
	}
	printf("handshake failed: %s\n", tls_words());
	report_closed(a, "no handshake");
	return false;
}

/* six: OpenSSL calls it. */
static int take_alpn(SSL *ssl, const unsigned char **out, unsigned char *n, const unsigned char *in,
		     unsigned len, void *arg)
{
	*out = in + 1;
	*n = in[0];
	return len > in[0] ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* The CA's certificate too: a client that holds only its pin wants to see it. */
static void load_chain(struct attack *a)
{
	char path[4096];
	BIO *b;
	X509 *ca;

	snprintf(path, sizeof(path), "%s/ca.pem", a->creds);
	b = BIO_new_file(path, "r");
	ca = b ? PEM_read_bio_X509(b, NULL, NULL, NULL) : NULL;
	BIO_free(b);
	if (!ca || SSL_CTX_add0_chain_cert(a->ctx, ca) != 1)
		die("%s: %s", path, tls_words());
}

bool attack_accept(struct attack *a, int listener)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };

	a->ctx = SSL_CTX_new(TLS_server_method());
	SSL_CTX_set_alpn_select_cb(a->ctx, take_alpn, NULL);
	load_creds(a);
	load_chain(a);
	a->ssl = SSL_new(a->ctx);
	a->began_ms = now_ms();
	frame_in_init(&a->in, FRAME_MAX_BYTES);
	a->fd = poll(&p, 1, 20000) == 1 ? accept(listener, NULL, NULL) : -1;
	SSL_set_fd(a->ssl, a->fd);
	return a->fd >= 0 && SSL_accept(a->ssl) == 1;
}

void attack_close(struct attack *a)
{
	frame_in_done(&a->in);
	SSL_free(a->ssl);
	SSL_CTX_free(a->ctx);
	close(a->fd);
}

bool attack_send(struct attack *a, const void *p, size_t n)
{
	const uint8_t *at = p;
	int step;

	while (n && !a->is_closed) {
		step = SSL_write(a->ssl, at, n > 16384 ? 16384 : (int)n);
		if (step <= 0) /* the peer's error is still to be read */
			return false;
		at += step;
		n -= (size_t)step;
	}
	return !a->is_closed;
}

bool attack_send_msg(struct attack *a, const struct msg *m)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES + 64);
	bool sent;

	if (msg_put(&b, m))
		die("message %s cannot be written", msg_type_name(m->type));
	sent = attack_send(a, b.p, b.n);
	buf_done(&b);
	return sent;
}

static void report_reply(const struct msg_reply *r)
{
	printf("got reply id=%llu kind=%u\n", (unsigned long long)r->id, r->kind);
	for (size_t i = 0; i < r->nentry; i++)
		printf("entry action=%u objects=%s status=%u value=%.*s\n", r->entry[i].action,
		       r->entry[i].objects, r->entry[i].status, (int)r->entry[i].value.n,
		       (const char *)r->entry[i].value.p);
}

static void answer_ping(struct attack *a, const struct msg_ping *p)
{
	struct msg m = { .type = MSG_PONG,
			 .pong = { .seq = p->seq, .sent_ns = p->sent_ns, .error_ns = 1 } };

	attack_send_msg(a, &m);
}

static size_t copy_der(uint8_t *to, const struct bytes *from)
{
	if (from->n > 2048)
		die("a certificate of %zu bytes", from->n);
	if (from->n)
		memcpy(to, from->p, from->n);
	return from->n;
}

static void report(struct attack *a, const struct msg *m)
{
	switch (m->type) {
	case MSG_ERROR:
		printf("got error %u %s\n", m->error.code, m->error.text);
		break;
	case MSG_HELLO_ACK:
		printf("got hello_ack version=%u name=%s node=%u redirect=%s\n",
		       m->hello_ack.version, m->hello_ack.name, m->hello_ack.node,
		       m->hello_ack.redirect);
		break;
	case MSG_BYE:
		printf("got bye %s\n", m->bye.reason);
		break;
	case MSG_REPLY:
		report_reply(&m->reply);
		break;
	case MSG_PING:
		answer_ping(a, &m->ping);
		break;
	case MSG_ENROL_ACK:
		printf("got enrol_ack %zu bytes %s\n", m->enrol_ack.cert_der.n, m->enrol_ack.error);
		a->ncert = copy_der(a->cert, &m->enrol_ack.cert_der);
		a->nca = copy_der(a->ca, &m->enrol_ack.ca_der);
		break;
	default:
		printf("got %s\n", msg_type_name(m->type));
	}
}

/* Returns 1: a frame of the type has arrived, 0: more bytes are needed. */
static int take_frames(struct attack *a, uint8_t type)
{
	struct err e = { 0 };
	struct frame f;
	struct msg *m;
	int rc, seen = 0;

	while (!seen && (rc = frame_in_next(&a->in, &f, &e)) > 0) {
		if (msg_get(f.type, f.p, f.n, &m, &e))
			die("what came is not a message: %s", e.text);
		report(a, m);
		seen = type && m->type == type;
		msg_free(m);
	}
	return seen;
}

static void take_bytes(struct attack *a)
{
	uint8_t step[16384];
	struct err e = { 0 };
	int n = SSL_read(a->ssl, step, sizeof(step));

	if (n > 0) {
		if (frame_in_add(&a->in, step, (size_t)n, &e))
			die("%s", e.text);
		return;
	}
	switch (SSL_get_error(a->ssl, n)) {
	case SSL_ERROR_ZERO_RETURN:
		report_closed(a, "close_notify");
		break;
	case SSL_ERROR_SYSCALL:
		report_closed(a, errno ? strerror(errno) : "end of file");
		break;
	case SSL_ERROR_SSL:
		report_closed(a, tls_words());
		break;
	default:
		break;
	}
}

bool attack_read(struct attack *a, uint8_t type, int64_t ms)
{
	struct pollfd p = { .fd = a->fd, .events = POLLIN };
	int64_t until = now_ms() + ms, left;

	while (!a->is_closed) {
		if (take_frames(a, type))
			return true;
		left = until - now_ms();
		if (left <= 0)
			return false;
		if (SSL_pending(a->ssl) || poll(&p, 1, (int)left) > 0)
			take_bytes(a);
	}
	return take_frames(a, type);
}
