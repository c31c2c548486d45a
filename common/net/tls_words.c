/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSSL's reasons as texts with the remedy. */
#include "common/net/internal.h"
#include "common/base/array.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <string.h>

#define ALERT(n) (SSL_AD_REASON_OFFSET + (n))

static const struct word {
	int reason;
	enum err_code code;
	const char *text;
} words[] = {
	/* alerts that the peer has sent about us */
	{ ALERT(SSL_AD_CERTIFICATE_EXPIRED), ERR_DENIED,
	  "the peer says that our certificate has expired: enrol again" },
	{ ALERT(SSL_AD_CERTIFICATE_REVOKED), ERR_DENIED,
	  "the peer says that our certificate is revoked: ask for a new "
	  "connection string and enrol again" },
	{ ALERT(SSL_AD_UNKNOWN_CA), ERR_DENIED,
	  "the peer says that our certificate is from another CA: it belongs to "
	  "another monitor; enrol with this one's connection string" },
	{ ALERT(SSL_AD_UNSUPPORTED_CERTIFICATE), ERR_DENIED,
	  "the peer does not admit our role or name" },
	{ ALERT(SSL_AD_BAD_CERTIFICATE), ERR_DENIED,
	  "the peer does not accept our certificate: compare the clocks of "
	  "both hosts, or enrol again" },
	{ ALERT(SSL_AD_CERTIFICATE_UNKNOWN), ERR_DENIED,
	  "the peer does not accept our certificate: enrol again" },
	{ ALERT(SSL_AD_CERTIFICATE_REQUIRED), ERR_DENIED,
	  "the peer wants a certificate and we have none: enrol first" },
	{ ALERT(SSL_AD_ACCESS_DENIED), ERR_DENIED, "the peer does not admit us" },
	{ ALERT(SSL_AD_NO_APPLICATION_PROTOCOL), ERR_PROTO,
	  "the peer does not offer this service: it runs another "
	  "version, or it does not enrol" },
	{ ALERT(SSL_AD_PROTOCOL_VERSION), ERR_PROTO, "the peer does not speak TLS 1.3" },
	{ ALERT(SSL_AD_HANDSHAKE_FAILURE), ERR_PROTO,
	  "the peer found nothing in common in the TLS handshake" },
	/* our own findings about the peer */
	{ SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, ERR_DENIED,
	  "the peer shows no certificate: it must enrol first" },
	{ SSL_R_UNSUPPORTED_PROTOCOL, ERR_PROTO, "the peer does not speak TLS 1.3" },
	{ SSL_R_HTTP_REQUEST, ERR_PROTO, "the peer uses HTTP, not Omig's protocol" },
	{ SSL_R_HTTPS_PROXY_REQUEST, ERR_PROTO, "the peer uses HTTP, not Omig's protocol" },
	{ SSL_R_WRONG_VERSION_NUMBER, ERR_PROTO,
	  "the peer does not speak TLS: the port belongs to another program" },
	{ SSL_R_EXCESSIVE_MESSAGE_SIZE, ERR_PROTO, "the peer shows more certificates than it may" },
	{ SSL_R_NO_APPLICATION_PROTOCOL, ERR_PROTO,
	  "the peer asks for a service that is not offered here" },
	{ SSL_R_CALLBACK_FAILED, ERR_PROTO,
	  "the peer asks for a service that is not offered here" },
};

static int say_reason(const char *doing, unsigned long code, struct err *e)
{
	int reason = ERR_GET_REASON(code);
	const char *text;

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (words[i].reason == reason)
			return err_set(e, words[i].code, "%s", words[i].text);
	}
	if (reason == ERR_R_MALLOC_FAILURE)
		return err_nomem(e);
	text = ERR_reason_error_string(code);
	return err_set(e, ERR_PROTO, "%s: TLS says %s (%d)", doing, text ? text : "error", reason);
}

void tls_forget_errors(void)
{
	/*
	 * Checks first, because clearing the error queue costs as much as decrypting a request,
	 * even when it is empty.
	 */
	if (ERR_peek_error())
		ERR_clear_error();
}

int tls_end(struct tls_chan *t, int ret, const char *doing, struct err *e)
{
	int sys = errno, kind = SSL_get_error(t->ssl, ret), rc;
	unsigned long code = ERR_peek_error();

	t->broken = kind != SSL_ERROR_ZERO_RETURN;
	if (kind == SSL_ERROR_ZERO_RETURN || (kind == SSL_ERROR_SYSCALL && !sys)) {
		rc = err_set(e, ERR_CLOSED,
			     SSL_is_init_finished(t->ssl)
				     ? "the peer has closed the link"
				     : "the peer has closed the link during the handshake: it is "
				       "busy, or another program");
	} else if (kind == SSL_ERROR_SYSCALL) {
		errno = sys;
		rc = err_sys(e, "%s", doing);
	} else {
		rc = say_reason(doing, code, e);
	}
	ERR_clear_error();
	return rc;
}

bool tls_is_bad_auth(const struct tls_chan *t, const struct err *why)
{
	if (t->hs && t->hs->verdict.why.code)
		return true;
	return t->broken && (why->code == ERR_PROTO || why->code == ERR_DENIED);
}
