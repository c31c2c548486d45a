/* SPDX-License-Identifier: Apache-2.0 */
/* For the files of a tenant: tenant.c (states), tenant_file.c (its file). */
#ifndef SM_SHARED_TENANT_INTERNAL_H
#define SM_SHARED_TENANT_INTERNAL_H

#include "common/link/meter.h"
#include "common/loop/loop.h"
#include "sm/shared/tenant.h"

struct tenant {
	const struct tenant_conf *conf; /* borrowed */
	char pin[PKI_PIN_BYTES];
	char dir[FILE_PATH_BYTES];
	char spool[FILE_PATH_BYTES]; /* directory in it: subscriptions of the user's tools */
	char name[NAME_MAX_BYTES + 1];
	struct connstr conn; /* address of the user's mainsm; without a token */
	struct connstr next; /* while joining: with the token; wiped */
	char next_name[NAME_MAX_BYTES + 1];
	char address[NAME_MAX_BYTES + 8]; /* of conn, for people */
	struct enrol *enrol;
	struct net_ctx *ctx;
	struct link_net *dialer;
	struct sm *sm; /* NULL: asleep, or not a member yet */
	struct timebase timebase;
	struct meter *meter;
	struct loop_timer *wake, *save;
	struct loop_job ending;
	struct quota policy;
	int64_t own[QUOTA_COUNT]; /* -1: as the policy says */
	enum tenant_state state; /* while there is no sm */
	uint16_t port;
	nsec_t wall_since, wall_seen;
	nsec_t away_since; /* loop time; 0 = the mainsm is connected */
	nsec_t patience; /* how long it may be disconnected before the tenant sleeps */
	unsigned naps; /* in a row */
	uint64_t refused; /* of the sms that were */
	char trouble[ERR_TEXT_BYTES]; /* "" = none */
	bool is_draining;
};

/* tenant_file.c */
int tenant_read(struct tenant *t, struct err *e);
int tenant_write(const struct tenant *t, struct err *e);
void tenant_set_address(struct tenant *t);

#endif
