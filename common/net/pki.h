/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate authority of one user's monitor, and the credentials of its clients. Everything
 * is EC P-256 with SHA-256. Files with keys are 0600 in 0700 directories; anything more open is
 * refused, and the text has the remedy. These calls read and write files and so may block for a
 * moment.
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
#define PKI_BACKDATE_NS (INT64_C(3600) * NSEC_PER_SEC) /* clocks of two hosts differ */
#define PKI_CA_LIFETIME_NS (INT64_C(3650) * 86400 * NSEC_PER_SEC)

/*
 * The pin of a CA: base32 of the first 16 bytes of the SHA-256 of its
 * certificate. Its first 8 characters are the CA's short name in file names.
 */
void pki_pin(char out[PKI_PIN_BYTES], const void *ca_der, size_t n);
/* True for a valid form of a pin: the right length and alphabet. */
bool pki_pin_is_valid(const char *pin);

/* --- the CA (mainsm only) */

struct pki_ca;

/*
 * Loads ca.key and ca.crt from dir, or makes them (and dir) if neither exists. `name` becomes the
 * CA's common name (user@host, say; a name). ERR_INVALID: key and certificate do not match, the key
 * is missing, not a CA of ours, expired. ERR_DENIED (modes), ERR_PARSE, ERR_SYS, ERR_NOMEM.
 */
int pki_ca_open(const char *dir, const char *name, struct pki_ca **out, struct err *e);
void pki_ca_free(struct pki_ca *ca);

const char *pki_ca_pin(const struct pki_ca *ca);
const char *pki_ca_pem(const struct pki_ca *ca);
const uint8_t *pki_ca_der(const struct pki_ca *ca, size_t *n);
/* Returns the end of the CA's own certificate; no issued certificate lasts longer. */
nsec_t pki_ca_wall_not_after(const struct pki_ca *ca);

/*
 * Checks the request (P-256, signed by the key in it) and signs a certificate for `as`. Of `as`,
 * role, site, host and the two times are read; wall_not_before 0 is PKI_BACKDATE_NS ago; both are
 * limited to the CA's. Only the public key of the request is used. Appends DER to cert. *issued,
 * unless NULL, becomes the issued identity, serial included. ERR_PARSE, ERR_DENIED (request),
 * ERR_INVALID (as), ERR_NOMEM.
 */
int pki_ca_issue(struct pki_ca *ca, struct bytes csr_der, const struct identity *as,
		 struct buf *cert, struct err *e);

/* --- keys and requests (all roles) */

struct pki_key;

int pki_key_new(struct pki_key **out, struct err *e);
void pki_key_free(struct pki_key *k);

/* Appends a DER request signed by the key: proof of possession. */
int pki_csr_make(const struct pki_key *k, struct buf *der, struct err *e);

/* --- credentials of one side of a link: PEM texts, owned; the key's text is wiped when freed */

struct pki_creds {
	char *cert_pem, *key_pem, *ca_pem;
};

void pki_creds_done(struct pki_creds *c);

/*
 * Makes credentials from key, issued certificate and CA. Checks them as pki_creds_check() without a
 * pin.
 */
int pki_creds_make(struct pki_creds *out, const struct pki_key *k, const struct buf *cert_der,
		   const struct buf *ca_der, struct err *e);

/*
 * key.pem, cert.pem, ca.pem in dir. Loading: ERR_NOTFOUND if not all exist (not enrolled yet),
 * ERR_DENIED (modes), ERR_PARSE. Storing makes dir; the certificate is written last. Blocks while
 * another process stores there; after two seconds ERR_AGAIN.
 */
int pki_creds_load(const char *dir, struct pki_creds *out, struct err *e);
int pki_creds_store(const char *dir, const struct pki_creds *c, struct err *e);

/* Removes the key first: the other files are useless without it. */
void pki_creds_erase(const char *dir);

/*
 * Checks credentials: the key belongs to the certificate, and `wall` is in its validity. The CA has
 * signed it and has this pin (NULL: any). *out, unless NULL, becomes its identity. The text of the
 * error has the remedy. ERR_INVALID, ERR_DENIED (pin), ERR_TIMEOUT (expired), ERR_PARSE.
 */
int pki_creds_check(const struct pki_creds *c, const char *pin, nsec_t wall, struct identity *out,
		    struct err *e);

/*
 * Reads role, names, serial, times and fingerprint of a certificate without verifying it.
 * ERR_PARSE.
 */
int pki_identity_from_der(struct identity *out, const void *cert_der, size_t n, struct err *e);

#endif
