/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enrolment: how a daemon or a tool gets its certificate. It makes a key in a private directory. It
 * sends a CSR with the token of the connection string to mainsm. The CA of mainsm must have the
 * pinned fingerprint. It stores the received certificate: key.pem (0600), cert.pem, ca.pem.
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
	const char *dir; /* private directory, made if it is missing */
	const struct connstr *conn; /* copied */
	struct net_ctx *ctx; /* borrowed; NULL: enrolment makes its own */
	const char *role; /* "lm", "sm", "tool" */
	const char *site, *host; /* NULL or "": mainsm decides */
	const char *name; /* name of a tool or user, for the list of certificates; may be NULL */
	nsec_t timeout; /* 0 = 10 s over all hosts */
};

/*
 * Checks the certificate in dir. Returns 0 if it is usable now with this CA. Returns 1 if there is
 * none, or it is expired, not ours, or for another CA, role, site or host. why (may be NULL) gets
 * the reason. Fails if the directory cannot be read safely.
 */
int enrol_check(const struct enrol_conf *c, nsec_t wall_now, struct err *why);

/* Opens a network context with the certificate in dir. pin: that of the authority; NULL = any. */
int enrol_open(struct loop *loop, const char *dir, const char *pin, struct net_ctx **out,
	       struct err *e);

/*
 * Uses the certificate in dir for the next handshakes of ctx, if enrol_check() accepts it. Live
 * links stay. On failure ctx is unchanged.
 */
int enrol_reload(const struct enrol_conf *c, struct net_ctx *ctx, nsec_t wall_now, struct err *e);

/*
 * Returns the wall time at which to renew: after two thirds of the certificate's life. Returns 0 if
 * none is valid now.
 */
nsec_t enrol_renew_at(const char *dir);

/*
 * Enrols: tries the hosts in turn. The loop calls on_done once, with NULL if the certificate is
 * stored. Errors have the remedy in their text: ERR_DENIED for a refused or expired token, and for
 * another CA than the pinned one; ERR_TIMEOUT, ERR_CLOSED if no host answers. The object ends after
 * on_done; enrol_cancel() ends it without that call. Returns NULL without memory.
 */
struct enrol *enrol_run(const struct enrol_conf *c,
			void (*on_done)(void *arg, const struct err *why), void *arg);
void enrol_cancel(struct enrol *n);

/*
 * Renewal over a live link. enrol_renew_begin() makes a new key and an ENROL message, which is
 * valid until the next call of either function. The caller sends it, and passes ENROL_ACK to
 * enrol_renew_end(), which stores key and certificate. Without a connection string, the certificate
 * must be of the authority of ctx's certificate.
 */
struct enrol_renewal;
int enrol_renew_begin(const struct enrol_conf *c, struct enrol_renewal **out, struct msg_enrol *m,
		      struct err *e);
int enrol_renew_end(struct enrol_renewal *r, const struct msg_enrol_ack *ack, struct err *e);
void enrol_renew_free(struct enrol_renewal *r);

#endif
