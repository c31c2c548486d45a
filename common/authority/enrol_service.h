/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The enrolment service: a peer without a certificate shows a token and a request for one. The
 * service decides the identity of the peer; it uses only the public key of the request. It also
 * renews certificates over a live link.
 */
#ifndef COMMON_AUTHORITY_ENROL_SERVICE_H
#define COMMON_AUTHORITY_ENROL_SERVICE_H

#include "common/base/clock.h"
#include "common/net/pki.h"
#include "common/authority/certs.h"
#include "common/authority/tokens.h"
#include "proto/msg.h"

/* Each certificate is written to the disk and stored until it expires. */
#define ENROL_RENEW_MIN_NS (5 * NSEC_PER_SEC)
/* lifetime of a certificate by a job's token, so that an unused one soon becomes worthless */
#define ENROL_JOB_LIFETIME_NS (7 * 86400 * NSEC_PER_SEC)
#define ENROL_URI_MAX_BYTES 1024 /* bytes of an identity, which is a part of each request */

struct enrol_service;
struct chan;
struct loop;

/* The members are borrowed. */
struct enrol_service_conf {
	struct loop *loop;
	struct pki_ca *ca;
	struct tokens *tokens;
	struct certs *certs;
	nsec_t cert_lifetime;
	nsec_t (*wall_now)(void *arg);
	/*
	 * Sets *out to the site of a daemon on that host which claims that site ("" = none). Fails
	 * with ERR_INVALID.
	 */
	int (*choose_site)(void *arg, const char *claim, const char *host, const char **out,
			   struct err *e);
	void *arg; /* of both */
	/* lifetime of certificates of tools that only observe; 0 = cert_lifetime */
	nsec_t observer_lifetime;
};

struct enrol_service *enrol_service_new(const struct enrol_service_conf *conf);

/* Closes the channels that it still owns. */
void enrol_service_free(struct enrol_service *s);

/*
 * Consumes an accepted channel of an enrolling peer. It gets one request, sends one answer, and
 * closes the channel.
 */
void enrol_service_take(struct enrol_service *s, struct chan *c);

/*
 * Answers ENROL by a token. `ack` gets certificate and CA, or a message for the peer. It borrows
 * the bytes of `cert`, which the caller owns.
 */
void enrol_service_grant(struct enrol_service *s, const struct msg_enrol *m, struct buf *cert,
			 struct msg_enrol_ack *ack);

/*
 * Answers ENROL of a peer that has a certificate: for the same names, without a token, for at most
 * the same lifetime. Refuses in the first half of the certificate's life, again within
 * ENROL_RENEW_MIN_NS, and after a revocation. The new certificate does not outlast the token's
 * limit.
 */
void enrol_service_renew(struct enrol_service *s, const struct identity *who,
			 const struct msg_enrol *m, struct buf *cert, struct msg_enrol_ack *ack);

#endif
