/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/internal.h"

#include <openssl/err.h>

/* two certificates of 600 bytes with room; checked before they are decoded */
#define PRESENTED_MAX_BYTES 8192

static bool set_common(SSL_CTX *s, bool server)
{
	/*
	 * AUTO_RETRY off: otherwise one SSL_read() would process KeyUpdates as long as the peer
	 * sends them, without a check of their number.
	 */
	SSL_CTX_clear_mode(s, SSL_MODE_AUTO_RETRY);
	SSL_CTX_set_mode(s, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	/*
	 * A server may have thousands of idle links, so each frees its 34 KiB after every record. A
	 * client has one link, and keeps its buffer.
	 */
	if (server)
		SSL_CTX_set_mode(s, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_options(s, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
				       SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_session_cache_mode(s, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_max_cert_list(s, PRESENTED_MAX_BYTES);
	SSL_CTX_set_read_ahead(s, 1);
	return SSL_CTX_set_min_proto_version(s, TLS1_3_VERSION) &&
	       SSL_CTX_set_max_proto_version(s, TLS1_3_VERSION) && SSL_CTX_set_num_tickets(s, 0) &&
	       SSL_CTX_set_ciphersuites(s, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
					   "TLS_CHACHA20_POLY1305_SHA256") &&
	       SSL_CTX_set1_groups_list(s, "X25519:P-256") &&
	       SSL_CTX_set1_sigalgs_list(s, "ecdsa_secp256r1_sha256");
}

static bool set_creds(SSL_CTX *s, bool server, const struct creds_parsed *creds)
{
	if (!creds)
		return true;
	if (SSL_CTX_use_certificate(s, creds->cert) != 1 ||
	    SSL_CTX_use_PrivateKey(s, creds->key) != 1)
		return false;
	/* A server sends its CA, too, because an enrolling peer has only the pin of the CA. */
	return !server || SSL_CTX_add1_chain_cert(s, creds->ca) == 1;
}

static int tls_ctx_make(SSL_CTX **out, const struct net_ctx *ctx, bool server,
			const struct creds_parsed *creds, struct err *e)
{
	SSL_CTX *s = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());

	if (!s || !set_common(s, server) || !set_creds(s, server, creds)) {
		SSL_CTX_free(s);
		return crypto_failed(e, "cannot set up TLS");
	}
	SSL_CTX_set_cert_verify_callback(s, tls_verify_cb, (void *)(uintptr_t)ctx);
	if (server) {
		SSL_CTX_set_verify(s, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
		SSL_CTX_set_client_hello_cb(s, tls_hello_cb, NULL);
		SSL_CTX_set_alpn_select_cb(s, tls_alpn_cb, NULL);
	} else {
		SSL_CTX_set_verify(s, SSL_VERIFY_PEER, NULL);
	}
	*out = s;
	return 0;
}

static int tls_reload(struct net_ctx *ctx, struct creds_parsed *creds, struct err *e)
{
	SSL_CTX *server = NULL, *client = NULL;
	int rc = tls_ctx_make(&server, ctx, true, creds, e);

	if (!rc)
		rc = tls_ctx_make(&client, ctx, false, creds, e);
	if (rc) {
		SSL_CTX_free(server);
		return rc;
	}
	SSL_CTX_free(ctx->server);
	SSL_CTX_free(ctx->client);
	X509_free(ctx->ca);
	ctx->server = server;
	ctx->client = client;
	ctx->ca = creds->ca;
	creds->ca = NULL;
	return 0;
}

static void tls_done(struct net_ctx *ctx)
{
	SSL_CTX_free(ctx->server);
	SSL_CTX_free(ctx->client);
	SSL_CTX_free(ctx->enrol);
	X509_free(ctx->ca);
	BIO_meth_free(ctx->sock_method);
}

static const struct net_ctx_ops tls_ctx_ops = {
	.dial = tls_dial,
	.listen = tls_listen,
	.reload = tls_reload,
	.done = tls_done,
};

int net_ctx_open(struct loop *l, const struct net_conf *conf, struct net_ctx **out, struct err *e)
{
	struct net_ctx *ctx;
	int rc = ctx_new(l, &tls_ctx_ops, conf, &ctx, e);

	if (rc)
		return rc;
	ctx->sock_method = sock_bio_method_new();
	rc = ctx->sock_method ? tls_ctx_make(&ctx->enrol, ctx, false, NULL, e) : err_nomem(e);
	if (!rc && conf->creds)
		rc = net_ctx_reload(ctx, conf->creds, e);
	if (rc)
		net_ctx_free(ctx);
	else
		*out = ctx;
	return rc;
}
