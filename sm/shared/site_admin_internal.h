/* SPDX-License-Identifier: Apache-2.0 */
/* site_admin.c (visitors), site_admin_services.c (their requests). */
#ifndef SM_SHARED_SITE_ADMIN_INTERNAL_H
#define SM_SHARED_SITE_ADMIN_INTERNAL_H

#include "common/authority/enrol_service.h"
#include "common/link/meter.h"
#include "common/net/net.h"
#include "common/omis/omis.h"
#include "sm/shared/site_admin.h"

struct site_admin {
	struct site_admin_conf conf;
	struct net_listener *listener;
	struct enrol_service *enrol;
	struct list visitors;
	size_t nvisitor, njoiner; /* of these: those without the admin right */
	uint32_t last_number;
	nsec_t started;
	uint64_t requests, refused;
};

struct visitor {
	struct site_admin *site_admin;
	struct link *link;
	struct meter *meter;
	struct list in_visitors;
	enum omis_right right;
	uint32_t number;
	char name[NAME_MAX_BYTES + 1]; /* from the certificate */
	char identity[IDENTITY_URI_BYTES]; /* the whole identity */
	char pin[PKI_PIN_BYTES]; /* of the mainsm that joins */
	uint64_t joining; /* id of the request that waits for a join */
	bool is_joining;
};

/* One action of a visitor's request. */
struct site_admin_call {
	struct visitor *visitor;
	const struct omis_call *call;
	uint32_t action;
	uint64_t id; /* of the request */
	struct reply *into;
};

/* Returns 0; 1: the answer follows by site_admin_reply(); negative: an error. */
int site_admin_execute(struct site_admin_call *c);

void site_admin_reply(struct visitor *v, const struct reply *r);

/* The visitor has disconnected: its pending requests end. */
void site_admin_abandon(struct visitor *v);

#endif
