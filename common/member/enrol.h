/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enrolment: how a daemon or a tool gets its certificate. A key is made in a private directory. A
 * CSR is sent with the token of the connection string to a mainsm whose CA has the pinned
 * fingerprint. The received certificate is stored: key.pem (0600), cert.pem, ca.pem.
 */
#ifndef COMMON_MEMBER_ENROL_H
#define COMMON_MEMBER_ENROL_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/link/connstr.h"
#include "proto/msg.h"

#include <stdbool.h>

struct enrol;
struct loop;
struct net_ctx;

struct enrol_conf {
	struct loop *loop; /* borrowed */
	const char *dir; /* private directory; made if missing */
	const struct connstr *conn; /* copied */
	struct net_ctx *ctx; /* borrowed; NULL: makes its own */
	const char *role; /* "lm", "sm", "tool" */
	const char *site, *host; /* NULL or "": mainsm decides */
	const char *name; /* name of a tool or user, for the list of certificates; may be NULL */
	nsec_t timeout; /* 0 = 10 s over all hosts */
};

/*
 * Checks the certificate in dir. 0 = usable now with this CA; 1 = none, expired, not ours, of
 * another CA, for another role, site or host: why (may be NULL) gets the reason as text. Negative:
 * the directory cannot be read safely.
 */
int enrol_check(const struct enrol_conf *c, nsec_t wall_now, struct err *why);

/* Opens a network context with the certificate in dir; pin: of the authority, NULL = any. */
int enrol_open(struct loop *loop, const char *dir, const char *pin, struct net_ctx **out,
	       struct err *e);

/*
 * Uses the certificate in dir for the next handshakes of ctx, if enrol_check() accepts it. Live
 * links stay; on failure ctx is unchanged.
 */
int enrol_reload(const struct enrol_conf *c, struct net_ctx *ctx, nsec_t wall_now, struct err *e);

/*
 * Returns the wall time for a renewal: two thirds of the certificate's life. 0 if none is valid
 * now.
 */
nsec_t enrol_renew_at(const char *dir);

/*
 * Tries the hosts in turn; the loop calls on_done once: NULL = stored. Texts contain the remedy:
 * token refused or expired (ERR_DENIED), another CA than the pinned one (ERR_DENIED), no host
 * answers (ERR_TIMEOUT, ERR_CLOSED). The object ends after on_done; enrol_cancel() ends it without.
 * NULL: no memory.
 */
struct enrol *enrol_run(const struct enrol_conf *c,
			void (*on_done)(void *arg, const struct err *why), void *arg);
void enrol_cancel(struct enrol *n);

/*
 * Renewal over a live link: enrol_renew_begin makes a new key and an ENROL message (valid until the
 * next call of either). The caller sends it and passes ENROL_ACK to enrol_renew_end, which stores
 * both. Without a connection string, it must be of the authority of ctx's certificate.
 */
struct enrol_renewal;
int enrol_renew_begin(const struct enrol_conf *c, struct enrol_renewal **out, struct msg_enrol *m,
		      struct err *e);
int enrol_renew_end(struct enrol_renewal *r, const struct msg_enrol_ack *ack, struct err *e);
void enrol_renew_free(struct enrol_renewal *r);

#endif
