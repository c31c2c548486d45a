/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for a peer's certificate. OpenSSL alone is too lenient: it accepts a certificate without
 * extended key usage for any purpose. It does not check names, and follows chains of any length.
 */
#include "common/base/str.h"
#include "common/net/internal.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string.h>

/* The certificate and its CA, which is always directly above it. */
#define PRESENTED_MAX 2

static int refuse(struct verdict *v, int x509_error, enum err_code code, const char *text)
{
	v->x509_error = x509_error;
	return err_set(&v->why, code, "%s", text);
}

/*
 * Returns the CA with the pin, which must be among the peer's certificates; without a pin, our own
 * CA.
 */
static X509 *find_anchor(const struct net_ctx *ctx, const struct admit *a,
			 STACK_OF(X509) * presented)
{
	char pin[PKI_PIN_BYTES];

	if (!*a->pin)
		return ctx->ca;
	for (int i = 0; i < sk_X509_num(presented); i++) {
		X509 *cert = sk_X509_value(presented, i);

		if (!x509_pin(pin, cert, NULL) && str_equal_ct(pin, a->pin, PKI_PIN_BYTES))
			return cert;
	}
	return NULL;
}

static int chain_refused(struct verdict *v, int error)
{
	switch (error) {
	case X509_V_ERR_CERT_SIGNATURE_FAILURE:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_AKID_SKID_MISMATCH:
		return refuse(v, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, ERR_DENIED,
			      "the peer's certificate is from another CA: one of the two belongs "
			      "to another monitor and "
			      "must enrol with this one's connection string");
	case X509_V_ERR_OUT_OF_MEM:
		v->x509_error = error;
		return err_nomem(&v->why);
	default:
		v->x509_error = error;
		return err_set(&v->why, ERR_DENIED, "the peer's certificate is refused: %s",
			       X509_verify_cert_error_string(error));
	}
}

/*
 * Checks the signature. ctx_admits() checks times, with our clock and texts. Intermediate
 * certificates of a peer are not used.
 */
static int verify_chain(X509 *anchor, X509 *leaf, struct verdict *v)
{
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *sc = X509_STORE_CTX_new();
	X509_VERIFY_PARAM *param;
	int rc = 0, error = X509_V_ERR_OUT_OF_MEM;

	if (store && sc && X509_STORE_add_cert(store, anchor) &&
	    X509_STORE_CTX_init(sc, store, leaf, NULL)) {
		param = X509_STORE_CTX_get0_param(sc);
		X509_VERIFY_PARAM_set_flags(param,
					    X509_V_FLAG_X509_STRICT | X509_V_FLAG_NO_CHECK_TIME);
		X509_VERIFY_PARAM_set_depth(param, 0);
		error = X509_verify_cert(sc) == 1 ? X509_V_OK : X509_STORE_CTX_get_error(sc);
	}
	if (error != X509_V_OK)
		rc = chain_refused(v, error);
	X509_STORE_CTX_free(sc);
	X509_STORE_free(store);
	ERR_clear_error();
	return rc;
}

/*
 * Requires exactly the usage of role_usage(): a further one (or anyExtendedKeyUsage) is refused,
 * too.
 */
static bool usage_is_exact(const X509 *leaf, enum role role)
{
	EXTENDED_KEY_USAGE *usage = X509_get_ext_d2i(leaf, NID_ext_key_usage, NULL, NULL);
	bool both = role_listens(role);
	int n = sk_ASN1_OBJECT_num(usage), server = 0, client = 0;

	for (int i = 0; i < n; i++) {
		int nid = OBJ_obj2nid(sk_ASN1_OBJECT_value(usage, i));

		server += nid == NID_server_auth;
		client += nid == NID_client_auth;
	}
	sk_ASN1_OBJECT_pop_free(usage, ASN1_OBJECT_free);
	return n == 1 + both && client == 1 && server == both;
}

static int verify_use(X509 *leaf, enum role role, struct verdict *v)
{
	uint32_t bits = X509_get_key_usage(leaf);

	if ((X509_get_extension_flags(leaf) & EXFLAG_CA) || bits == UINT32_MAX ||
	    !(bits & KU_DIGITAL_SIGNATURE))
		return refuse(v, X509_V_ERR_INVALID_PURPOSE, ERR_DENIED,
			      "the peer's certificate is not made for links: it must enrol again");
	if (!usage_is_exact(leaf, role))
		return refuse(v, X509_V_ERR_INVALID_PURPOSE, ERR_DENIED,
			      "the peer's certificate has not the extended key usage of its role: "
			      "it must enrol again");
	return 0;
}

static int verify_identity(const struct net_ctx *ctx, const struct admit *a, X509 *leaf,
			   struct identity *id, struct verdict *v)
{
	int rc = identity_from_x509(id, leaf, &v->why);

	if (rc) {
		v->x509_error = X509_V_ERR_INVALID_PURPOSE;
		return rc;
	}
	rc = verify_use(leaf, id->role, v);
	if (!rc)
		rc = ctx_admits(ctx, id, v);
	if (rc)
		return rc;
	rc = admit_identity(a, id, &v->why);
	if (rc)
		v->x509_error = X509_V_ERR_INVALID_PURPOSE;
	return rc;
}

int verify_peer(const struct net_ctx *ctx, const struct admit *a, const struct presented *shown,
		struct identity *id, struct verdict *v)
{
	struct identity found;
	X509 *anchor;
	int rc;

	/*
	 * Cheap checks are first: nothing is computed for a peer that sends too much, or a large
	 * key.
	 */
	if (!shown->leaf)
		return refuse(v, X509_V_ERR_CERT_REJECTED, ERR_DENIED,
			      "the peer shows no certificate: it must enrol first");
	if (sk_X509_num(shown->others) > PRESENTED_MAX)
		return refuse(v, X509_V_ERR_CERT_CHAIN_TOO_LONG, ERR_DENIED,
			      "the peer shows more certificates than two");
	if (!pkey_is_p256(X509_get0_pubkey(shown->leaf)))
		return refuse(v, X509_V_ERR_EE_KEY_TOO_SMALL, ERR_DENIED,
			      "the peer's key is of another kind: it must be P-256");
	anchor = find_anchor(ctx, a, shown->others);
	if (!anchor)
		return refuse(v, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, ERR_DENIED,
			      "the server's CA has not the pin of the connection string: the "
			      "address leads to another "
			      "monitor, or the string is old");
	rc = verify_chain(anchor, shown->leaf, v);
	if (!rc)
		rc = verify_identity(ctx, a, shown->leaf, &found, v);
	ERR_clear_error();
	if (!rc)
		*id = found;
	return rc;
}
