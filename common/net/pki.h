/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate authority of one user's monitor, and the credentials of its clients. Everything
 * is EC P-256 with SHA-256. Files with keys are 0600 in 0700 directories. Wider modes are refused,
 * and the text has the remedy. These calls read and write files, and may block.
 */
#ifndef COMMON_NET_PKI_H
#define COMMON_NET_PKI_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/net/identity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PKI_DER_MAX_BYTES 4096 /* our certificates and requests have below 700 bytes */
#define PKI_PEM_MAX_BYTES 8192
#define PKI_PIN_BYTES 27 /* 26 digits and a 0 */
/* certificates begin this much earlier, because clocks of two hosts differ */
#define PKI_BACKDATE_NS (INT64_C(3600) * NSEC_PER_SEC)
#define PKI_CA_LIFETIME_NS (INT64_C(3650) * 86400 * NSEC_PER_SEC)

/*
 * The pin of a CA: base32 of the first 16 bytes of the SHA-256 of its
 * certificate. Its first 8 characters are the CA's short name in file names.
 */
void pki_pin(char out[PKI_PIN_BYTES], const void *ca_der, size_t n);
/* True for a pin of the right length and alphabet. */
bool pki_pin_is_valid(const char *pin);

/* --- the CA (mainsm only) */

struct pki_ca;

/*
 * Loads ca.key and ca.crt from dir, or makes them (and dir) if neither exists. `name`, such as
 * user@host, becomes the CA's common name. Fails with ERR_INVALID if the key is missing, does not
 * match, or the CA is foreign or expired. Fails with ERR_DENIED for wrong modes, ERR_PARSE,
 * ERR_SYS, ERR_NOMEM.
 */
int pki_ca_open(const char *dir, const char *name, struct pki_ca **out, struct err *e);
void pki_ca_free(struct pki_ca *ca);

const char *pki_ca_pin(const struct pki_ca *ca);
const char *pki_ca_pem(const struct pki_ca *ca);
const uint8_t *pki_ca_der(const struct pki_ca *ca, size_t *n);
/* Returns the end of the CA's own certificate. No issued certificate is valid longer. */
nsec_t pki_ca_wall_not_after(const struct pki_ca *ca);

/*
 * Checks the request (P-256, signed by the key in it). Signs a certificate for `as`, which has
 * role, site, host and two times. wall_not_before 0 means PKI_BACKDATE_NS ago; both times are
 * limited by the CA's. Only the public key of the request is used. Appends DER to cert. *issued,
 * unless NULL, becomes the issued identity with its serial. Fails with ERR_PARSE, ERR_DENIED for
 * the request, ERR_INVALID for `as`, ERR_NOMEM.
 */
int pki_ca_issue(struct pki_ca *ca, struct bytes csr_der, const struct identity *as,
		 struct buf *cert, struct err *e);

/* --- keys and requests (all roles) */

struct pki_key;

int pki_key_new(struct pki_key **out, struct err *e);
void pki_key_free(struct pki_key *k);

/* Appends a DER request that is signed by the key, as a proof of possession. */
int pki_csr_make(const struct pki_key *k, struct buf *der, struct err *e);

/* --- credentials of one side of a link: PEM texts; owned; the text of the key is wiped */

struct pki_creds {
	char *cert_pem, *key_pem, *ca_pem;
};

void pki_creds_done(struct pki_creds *c);

/*
 * Makes credentials from key, issued certificate and CA. Checks them like pki_creds_check() without
 * a pin.
 */
int pki_creds_make(struct pki_creds *out, const struct pki_key *k, const struct buf *cert_der,
		   const struct buf *ca_der, struct err *e);

/*
 * Load and store key.pem, cert.pem, ca.pem in dir. Loading fails with ERR_NOTFOUND unless all
 * exist, which means not enrolled yet, ERR_DENIED for wrong modes, and ERR_PARSE. Storing makes
 * dir, and writes the certificate last. Both block while another process stores there, and fail
 * with ERR_AGAIN after two seconds.
 */
int pki_creds_load(const char *dir, struct pki_creds *out, struct err *e);
int pki_creds_store(const char *dir, const struct pki_creds *c, struct err *e);

/* Removes the key first, because the other files are useless without it. */
void pki_creds_erase(const char *dir);

/*
 * Checks credentials: the key must belong to the certificate, and `wall` must be in its validity.
 * The CA must have signed it, and must have this pin (NULL: any). *out, unless NULL, becomes its
 * identity. Fails with ERR_INVALID, ERR_DENIED for the pin, ERR_TIMEOUT if it has expired,
 * ERR_PARSE. The text of an error has the remedy.
 */
int pki_creds_check(const struct pki_creds *c, const char *pin, nsec_t wall, struct identity *out,
		    struct err *e);

/*
 * Reads role, names, serial, times and fingerprint of a certificate without verifying it. Fails
 * with ERR_PARSE.
 */
int pki_identity_from_der(struct identity *out, const void *cert_der, size_t n, struct err *e);

#endif
