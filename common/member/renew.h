/* SPDX-License-Identifier: Apache-2.0 */
/* Renews our certificate over a link to mainsm before it expires. */
#ifndef COMMON_MEMBER_RENEW_H
#define COMMON_MEMBER_RENEW_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "proto/msg.h"

/* shortest interval, so that a short-lived certificate causes no flood of requests */
#define RENEW_PERIOD_MIN_NS (5 * NSEC_PER_SEC)
/* longest interval: wall clocks may be set, so the time is checked at least this often */
#define RENEW_PERIOD_MAX_NS (3600 * NSEC_PER_SEC)

struct loop;
struct net_ctx;
struct renew;

/* Pointers are borrowed, strings are copied. */
struct renew_conf {
	struct loop *loop;
	struct net_ctx *ctx; /* gets the new credentials */
	const char *role; /* "sm", "factory"; must live as long as the renewal */
	const char *dir, *site, *host;
	int (*send)(void *arg, const struct msg *m); /* sends a message to mainsm */
	void *arg;
};

struct renew *renew_new(const struct renew_conf *conf);
void renew_free(struct renew *r);

/* Called when mainsm is connected: requests a renewal if it is due. */
void renew_connected(struct renew *r);

/* Stores and uses the certificate. Fails with ERR_NOTFOUND if no renewal was requested. */
int renew_answer(struct renew *r, const struct msg_enrol_ack *ack, struct err *e);

#endif
