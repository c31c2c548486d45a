/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/net/harness.h"

#include "common/base/buf.h"
#include "common/base/limits.h"
#include "proto/frame.h"

#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Check's assertions allocate, and these are reached while allocations are made to fail. */
static void check_quietly(bool ok)
{
	if (!ok)
		abort();
}

static void seen_frame(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n)
{
	struct seen *s = arg;

	s->frames++;
	s->bytes += n;
	s->last_type = type;
	if (s->echo)
		send_frame(c, type, n);
	if (s->on_frame)
		s->on_frame(s, type, p, n);
	if (s->close_on_frame) {
		chan_close(c, "test");
		s->chan = NULL;
	}
}

static void seen_event(void *arg, struct chan *c, enum chan_event ev, const struct err *why)
{
	struct seen *s = arg;

	check_quietly((why != NULL) == (ev == CHAN_CLOSED || ev == CHAN_BROKEN));
	switch (ev) {
	case CHAN_OPEN:
		s->opened++;
		break;
	case CHAN_WRITABLE:
		s->writable++;
		break;
	case CHAN_BROKEN:
		s->broken++;
		break;
	case CHAN_CLOSED:
		s->closed++;
		s->why = *why;
		chan_close(c, NULL);
		s->chan = NULL;
		break;
	}
}

struct chan_handler seen_handler(struct seen *seen)
{
	return (struct chan_handler){ seen_frame, seen_event, seen };
}

static void on_accept(void *arg, struct chan *c)
{
	struct server *s = arg;
	struct seen *seen = &s->peer[s->accepted++ % 512];
	struct chan_handler h = seen_handler(seen);

	memset(seen, 0, sizeof(*seen));
	seen->chan = c;
	seen->echo = s->echo;
	chan_set_handler(c, &h);
	if (s->role_known)
		chan_role_known(c);
}

static void on_refused(void *arg, const char *remote, const struct err *why)
{
	struct server *s = arg;

	check_quietly(strchr(remote, ':') != NULL);
	s->refused++;
	s->refused_why = *why;
}

static nsec_t shifted_wall(void *arg)
{
	return clock_wall() + ((struct server *)arg)->wall_shift;
}

void server_start(struct server *s, const struct net_listen_conf *conf)
{
	struct net_listen_conf plain = { .roles = ROLE_BIT(ROLE_LM) | ROLE_BIT(ROLE_SM) };
	struct net_accept a = { on_accept, on_refused, s };
	struct pki_creds creds;
	struct net_conf ctx = { .creds = &creds,
				.wall_now = shifted_wall,
				.wall_arg = s,
				.check_period = 20 * NSEC_PER_MSEC };
	struct err e = { 0 };

	s->loop = s->is_virtual ? loop_new_virtual() : loop_new();
	test_ca_new(&s->ca, "our own CA");
	creds = test_creds(&s->ca, &MAINSM_SPEC);
	ck_assert_msg(!net_ctx_open(s->loop, &ctx, &s->ctx, &e), "%s", e.text);
	pki_creds_done(&creds);
	ck_assert_msg(!net_listen(s->ctx, conf ? conf : &plain, &a, &s->listener, &e), "%s",
		      e.text);
	s->port = net_listener_port(s->listener);
	ck_assert_uint_ne(s->port, 0);
}

void server_stop(struct server *s)
{
	for (int i = 0; i < 512; i++)
		chan_close(s->peer[i].chan, NULL);
	net_listener_close(s->listener);
	net_ctx_free(s->ctx);
	loop_turn(s->loop);
	loop_free(s->loop);
	test_ca_done(&s->ca);
}

struct net_ctx *client_ctx(struct server *s, struct pki_creds creds)
{
	struct net_conf conf = { .creds = &creds };
	struct net_ctx *ctx;
	struct err e = { 0 };

	ck_assert_msg(!net_ctx_open(s->loop, &conf, &ctx, &e), "%s", e.text);
	pki_creds_done(&creds);
	return ctx;
}

struct chan *client_dial(struct server *s, struct net_ctx *ctx, struct seen *seen)
{
	struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };
	struct chan_handler h = seen_handler(seen);
	struct err e = { 0 };

	memset(seen, 0, sizeof(*seen));
	ck_assert_msg(!net_dial(ctx,
				&(struct net_target){
					.host = "127.0.0.1", .port = s->port, .expect = &x },
				&h, &seen->chan, &e),
		      "%s", e.text);
	return seen->chan;
}

void settle(struct server *s)
{
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(loop_wait(s->loop, NSEC_PER_MSEC), 0);
}

int send_frame(struct chan *c, uint8_t type, size_t n)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES + 64);
	size_t mark = frame_begin(&b, type);
	int rc;

	for (size_t i = 0; i < n; i++)
		buf_putc(&b, (uint8_t)i);
	rc = frame_end(&b, mark);
	if (!rc)
		rc = chan_send(c, b.p, b.n);
	buf_done(&b);
	return rc;
}

static int on_session(SSL *ssl, SSL_SESSION *session)
{
	((struct raw *)SSL_get_app_data(ssl))->sessions++;
	return 0;
}

int raw_tcp(struct server *s, const char *from)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(s->port) };
	struct sockaddr_in local = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
	inet_pton(AF_INET, from ? from : "127.0.0.1", &local.sin_addr);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&local, sizeof(local)), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	/* An acknowledgement that the kernel holds back would take real time. */
	ck_assert_int_eq(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

int raw_silent(struct server *s, const char *from)
{
	int fd = raw_tcp(s, from);

	/* The kernel hands over a connection when something has come. */
	ck_assert_int_eq(send(fd, "\x16", 1, MSG_NOSIGNAL), 1);
	return fd;
}

static void use_creds(SSL_CTX *ctx, const struct raw_conf *conf)
{
	BIO *cert = BIO_new_mem_buf(conf->creds->cert_pem, -1);
	BIO *key = BIO_new_mem_buf(conf->creds->key_pem, -1);
	X509 *x = PEM_read_bio_X509(cert, NULL, NULL, NULL);
	EVP_PKEY *k = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);

	ck_assert_int_eq(SSL_CTX_use_certificate(ctx, x), 1);
	ck_assert_int_eq(SSL_CTX_use_PrivateKey(ctx, k), 1);
	for (int i = 0; i < conf->extras; i++)
		ck_assert_int_eq(SSL_CTX_add1_chain_cert(ctx, conf->extra), 1);
	X509_free(x);
	EVP_PKEY_free(k);
	BIO_free(cert);
	BIO_free(key);
}

void raw_open(struct raw *r, struct server *s, const struct raw_conf *conf)
{
	const char *alpn = conf->alpn ? conf->alpn : "\x06omig/1";

	memset(r, 0, sizeof(*r));
	r->ctx = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_session_cache_mode(r->ctx, SSL_SESS_CACHE_CLIENT);
	SSL_CTX_sess_set_new_cb(r->ctx, on_session);
	SSL_CTX_set_max_proto_version(r->ctx, conf->max_version);
	if (conf->creds)
		use_creds(r->ctx, conf);
	r->ssl = SSL_new(r->ctx);
	SSL_set_app_data(r->ssl, r);
	if (*alpn)
		SSL_set_alpn_protos(r->ssl, (const unsigned char *)alpn, (unsigned)strlen(alpn));
	if (conf->session)
		SSL_set_session(r->ssl, conf->session);
	r->fd = raw_tcp(s, NULL);
	SSL_set_fd(r->ssl, r->fd);
	SSL_set_connect_state(r->ssl);
}

void raw_close(struct raw *r)
{
	SSL_free(r->ssl);
	SSL_CTX_free(r->ctx);
	close(r->fd);
}

bool raw_handshake(struct raw *r, struct server *s)
{
	nsec_t end = clock_mono() + PATIENCE;

	while (!r->connected && !r->over) {
		int rc = SSL_do_handshake(r->ssl);

		ck_assert_msg(clock_mono() < end, "the handshake does not end");
		if (rc == 1) {
			r->connected = true;
			break;
		}
		r->error = SSL_get_error(r->ssl, rc);
		r->over = r->error != SSL_ERROR_WANT_READ && r->error != SSL_ERROR_WANT_WRITE;
		loop_wait(s->loop, NSEC_PER_MSEC);
	}
	return r->connected;
}

int raw_frame(struct raw *r, uint8_t type, size_t n)
{
	struct buf b = BUF_INIT(2 * FRAME_MAX_BYTES);
	size_t mark = frame_begin(&b, type);
	int rc;

	for (size_t i = 0; i < n; i++)
		buf_putc(&b, 'x');
	frame_end(&b, mark);
	rc = SSL_write(r->ssl, b.p, (int)b.n);
	buf_done(&b);
	return rc;
}
