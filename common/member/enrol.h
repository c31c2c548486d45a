/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enrolment: how a daemon or a tool gets its certificate. A key is made in a private directory. A
 * CSR is sent with the token of the connection string to a mainsm whose CA has the pinned
 * fingerprint. The certificate comes back and is stored: key.pem (0600), cert.pem, ca.pem.
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
	struct net_ctx *ctx; /* borrowed; NULL: one of its own */
	const char *role; /* "lm", "sm", "tool" */
	const char *site, *host; /* NULL or "": whatever mainsm says */
	const char *name; /* of a tool or user, for the list of certificates; may be NULL */
	nsec_t timeout; /* 0 = 10 s over all hosts */
};

/*
 * What is stored in dir: 0 = fit for use now with this CA; 1 = none, expired, not ours, of another
 * CA, for another role, site or host: why (may be NULL) gets the reason as text. Negative: the
 * directory cannot be read safely.
 */
int enrol_check(const struct enrol_conf *c, nsec_t wall_now, struct err *why);

/* A network context with what is stored in dir; pin: of the authority, NULL = any. */
int enrol_open(struct loop *loop, const char *dir, const char *pin, struct net_ctx **out,
	       struct err *e);

/*
 * Takes what is stored in dir for the next handshakes of ctx, if it is fit by enrol_check(). Live
 * links stay; on failure ctx is as before.
 */
int enrol_reload(const struct enrol_conf *c, struct net_ctx *ctx, nsec_t wall_now, struct err *e);

/*
 * Wall time at which to renew: two thirds of the certificate's life. 0 when there is none that is
 * valid now.
 */
nsec_t enrol_renew_at(const char *dir);

/*
 * Tries the hosts in turn; on_done comes from the loop, once: NULL = stored. Texts say what to do:
 * token refused or expired (ERR_DENIED), another CA than the pinned one (ERR_DENIED), no host
 * answers (ERR_TIMEOUT, ERR_CLOSED). The object ends after on_done; enrol_cancel() ends it without.
 * NULL: no memory.
 */
struct enrol *enrol_run(const struct enrol_conf *c,
			void (*on_done)(void *arg, const struct err *why), void *arg);
void enrol_cancel(struct enrol *n);

/*
 * Renewal over a live link: enrol_renew_begin makes a new key and an ENROL message (valid until the
 * next call of either); the caller sends it and gives ENROL_ACK to enrol_renew_end, which stores
 * both. Without a connection string it must be of the authority whose certificate ctx uses.
 */
struct enrol_renewal;
int enrol_renew_begin(const struct enrol_conf *c, struct enrol_renewal **out, struct msg_enrol *m,
		      struct err *e);
int enrol_renew_end(struct enrol_renewal *r, const struct msg_enrol_ack *ack, struct err *e);
void enrol_renew_free(struct enrol_renewal *r);

#endif
