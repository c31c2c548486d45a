/* SPDX-License-Identifier: Apache-2.0 */
/* The handshake: from a connected socket to an authenticated peer. */
#include "common/net/internal.h"

#include <openssl/err.h>
#include <string.h>

#define ENROL_MAX_NS FRAME_COMPLETE_MAX_NS /* time for one request and one answer */

static const uint8_t alpn_omig[] = "\x06" ALPN_OMIG, alpn_enrol[] = "\x0c" ALPN_ENROL;
_Static_assert(sizeof(ALPN_OMIG) - 1 == 6 && sizeof(ALPN_ENROL) - 1 == 12,
	       "the length bytes above");

int tls_verify_cb(X509_STORE_CTX *sc, void *arg)
{
	const struct net_ctx *ctx = arg;
	SSL *ssl = X509_STORE_CTX_get_ex_data(sc, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct tls_chan *t = SSL_get_app_data(ssl);

	if (!t->hs)
		return 0; /* there is no second handshake */
	if (verify_peer(ctx, &t->hs->admit,
			&(struct presented){ .leaf = X509_STORE_CTX_get0_cert(sc),
					     .others = X509_STORE_CTX_get0_untrusted(sc) },
			&t->hs->id, &t->hs->verdict)) {
		X509_STORE_CTX_set_error(sc, t->hs->verdict.x509_error);
		return 0;
	}
	t->hs->verified = true;
	X509_STORE_CTX_set_error(sc, X509_V_OK);
	return 1;
}

/* True if the extension of RFC 7301 has exactly our name: a u16 length before one name. */
static bool asks_for(const uint8_t *ext, size_t n, const uint8_t *alpn, size_t alpn_n)
{
	return n == 2 + alpn_n && ext[0] == 0 && ext[1] == alpn_n && !memcmp(ext + 2, alpn, alpn_n);
}

/*
 * Decides whether a certificate is required, before the server sends anything: enrolling peers have
 * none, all others must send one.
 */
int tls_hello_cb(SSL *ssl, int *alert, void *arg)
{
	struct tls_chan *t = SSL_get_app_data(ssl);
	const unsigned char *ext;
	size_t n;

	t->hs->has_hello = true;
	*alert = SSL_AD_NO_APPLICATION_PROTOCOL;
	if (!SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation,
				       &ext, &n))
		return SSL_CLIENT_HELLO_ERROR;
	if (asks_for(ext, n, alpn_omig, sizeof(alpn_omig) - 1))
		return SSL_CLIENT_HELLO_SUCCESS;
	if (!asks_for(ext, n, alpn_enrol, sizeof(alpn_enrol) - 1) || !t->listener ||
	    !tls_listener_enrols(t->listener))
		return SSL_CLIENT_HELLO_ERROR;
	t->c.enrol = true;
	SSL_set_verify(ssl, SSL_VERIFY_NONE, NULL);
	return SSL_CLIENT_HELLO_SUCCESS;
}

/* six: OpenSSL calls it. */
int tls_alpn_cb(SSL *ssl, const unsigned char **out, unsigned char *outn, const unsigned char *in,
		unsigned inn, void *arg)
{
	const struct tls_chan *t = SSL_get_app_data(ssl);
	const uint8_t *alpn = t->c.enrol ? alpn_enrol : alpn_omig;

	*outn = alpn[0];
	*out = alpn + 1;
	return SSL_TLSEXT_ERR_OK;
}

#define POST_WINDOW_NS (60 * NSEC_PER_SEC)

/* six: OpenSSL calls it. */
/* Counts KeyUpdate and NewSessionTicket messages, which TLS itself does not limit. */
static void count_post_handshake(int writing, int version, int type, const void *p, size_t n,
				 SSL *ssl, void *arg)
{
	struct tls_chan *t = arg;
	nsec_t now;

	if (writing || type != SSL3_RT_HANDSHAKE)
		return;
	now = loop_now(t->c.loop);
	if (now - t->post_since >= POST_WINDOW_NS) {
		t->post_since = now;
		t->post_count = 0;
	}
	t->post_count++;
}

static int make_ssl(struct tls_chan *t)
{
	struct net_ctx *ctx = t->c.ctx;
	SSL_CTX *from = t->server ? ctx->server : t->c.enrol ? ctx->enrol : ctx->client;
	const uint8_t *alpn = t->c.enrol ? alpn_enrol : alpn_omig;
	BIO *b = sock_bio_new(ctx->sock_method, &t->sock);

	t->ssl = SSL_new(from);
	if (!b || !t->ssl) {
		BIO_free(b);
		return -ERR_NOMEM;
	}
	SSL_set_bio(t->ssl, b, b);
	SSL_set_app_data(t->ssl, t);
	if (t->server)
		SSL_set_accept_state(t->ssl);
	else
		SSL_set_connect_state(t->ssl);
	/* this function returns 0 on success, unlike others */
	return !t->server && SSL_set_alpn_protos(t->ssl, alpn, alpn[0] + 1u) ? -ERR_NOMEM : 0;
}

int tls_shake_start(struct tls_chan *t, struct err *e)
{
	ERR_clear_error();
	if (make_ssl(t))
		return crypto_failed(e, "cannot start TLS");
	if (!t->watch)
		t->watch = loop_fd_new(
			t->c.loop,
			&(struct loop_watch){
				.fd = t->sock.fd, .what = LOOP_READ, .fn = tls_on_ready, .arg = t },
			e);
	if (!t->watch)
		return -ERR_SYS;
	t->shook_at = loop_now(t->c.loop);
	tls_deadline(t);
	return 0;
}

/* Checks properties of an accepted peer that OpenSSL may have missed. */
static int check_result(const struct tls_chan *t, struct err *e)
{
	const unsigned char *alpn;
	unsigned n;

	SSL_get0_alpn_selected(t->ssl, &alpn, &n);
	if (SSL_version(t->ssl) != TLS1_3_VERSION ||
	    n != (t->c.enrol ? alpn_enrol[0] : alpn_omig[0]) ||
	    memcmp(alpn, (t->c.enrol ? alpn_enrol : alpn_omig) + 1, n))
		return err_set(e, ERR_PROTO, "the peer does not use the protocol of Omig");
	if (SSL_session_reused(t->ssl))
		return err_set(e, ERR_DENIED, "the peer resumes an old session: not admitted");
	if (t->server && t->c.enrol)
		return 0;
	if (!t->hs->verified || !SSL_get0_peer_certificate(t->ssl))
		return err_set(e, ERR_DENIED, "the peer shows no certificate: it must enrol first");
	return 0;
}

static void finish(struct tls_chan *t)
{
	struct err why = { 0 };
	bool known = !(t->server && t->c.enrol);
	struct identity id;

	if (check_result(t, &why)) {
		tls_fail(t, &why);
		return;
	}
	id = t->hs->id;
	t->give_up_at = t->c.enrol ? loop_now(t->c.loop) + ENROL_MAX_NS : 0;
	t->more_to_read = true; /* frames may have arrived with the last flight */
	SSL_set_msg_callback(t->ssl, count_post_handshake);
	SSL_set_msg_callback_arg(t->ssl, t);
	chan_up(&t->c, known ? &id : NULL);
	tls_handshake_done(t);
	tls_watch(t);
	tls_deadline(t);
	tls_resume(t);
	if (t->server)
		tls_listener_accepted(t);
	else if (t->c.h.on_event)
		t->c.h.on_event(t->c.h.arg, &t->c, CHAN_OPEN, NULL);
}

void tls_shake(struct tls_chan *t)
{
	struct err why = { 0 };
	int rc, kind;

	t->shook_at = loop_now(t->c.loop);
	ERR_clear_error();
	rc = SSL_do_handshake(t->ssl);
	if (rc == 1) {
		finish(t);
		return;
	}
	kind = SSL_get_error(t->ssl, rc);
	if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) {
		if (!loop_fd_set(t->watch, kind == SSL_ERROR_WANT_READ ? LOOP_READ : LOOP_WRITE))
			return;
		err_sys(&why, "cannot watch a connection");
	} else {
		tls_end(t, rc, "the TLS handshake failed", &why);
		if (t->hs->verdict.why.code)
			why = t->hs->verdict.why;
	}
	tls_fail(t, &why);
}
