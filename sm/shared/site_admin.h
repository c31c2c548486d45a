/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port of the site itself, for its admins and for users that join. It has a separate
 * authority, so certificates of users' monitors are not accepted. It answers only services named
 * omig_site_... . Its messages are about users, never about their programs.
 */
#ifndef SM_SHARED_SITE_ADMIN_H
#define SM_SHARED_SITE_ADMIN_H

#include "common/authority/certs.h"
#include "common/authority/tokens.h"
#include "common/base/buf.h"
#include "common/link/link.h"
#include "common/link/meter.h"
#include "sm/shared/tenants.h"

#define SITE_ADMIN_VISITORS_MAX 64
/* of these: an admin finds a place although others are connected and silent */
#define SITE_ADMIN_JOINERS_MAX 48
#define SITE_ADMIN_VISITOR_RATE METER_RATE_MIN /* frames a second: more than a person types */
#define SITE_ADMIN_CERT_LIFETIME_NS (INT64_C(90) * 86400 * NSEC_PER_SEC)
/*
 * A join needs its certificate for a moment only. Many are issued, and each is stored until it
 * expires.
 */
#define SITE_ADMIN_JOIN_CERT_LIFETIME_NS (3600 * NSEC_PER_SEC)

struct audit;
struct site_admin;
struct omis_writer;

/* Borrowed. */
struct site_admin_conf {
	struct loop *loop;
	struct rng *rng;
	struct timebase *timebase; /* the root of this small monitor */
	struct net_ctx *ctx; /* role mainsm, of our own authority */
	struct pki_ca *ca; /* NULL: no enrolment */
	struct tokens *tokens;
	struct certs *certs;
	struct tenants *tenants;
	struct audit *audit; /* may be NULL */
	uint64_t epoch;
	const char *site, *listen;
	uint16_t port;
	nsec_t (*wall_now)(void *arg);
	/* Writes [name, value]... of the process; may be NULL. */
	void (*health)(void *arg, struct omis_writer *w);
	void *arg;
};

/* Listens. ERR_SYS, ERR_INVALID, ERR_NOMEM. */
int site_admin_open(const struct site_admin_conf *conf, struct site_admin **out, struct err *e);

/* Must be called before the tenants are freed. NULL is fine. */
void site_admin_free(struct site_admin *f);

uint16_t site_admin_port(const struct site_admin *f);

#endif
