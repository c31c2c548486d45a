/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The users of an sm that serves many: admission, membership and administration. A user is a
 * mainsm, identified by the pin of its authority. A join needs a token from that mainsm.
 */
#ifndef SM_SHARED_TENANTS_H
#define SM_SHARED_TENANTS_H

#include "sm/shared/tenant.h"

#define TENANTS_MAX 1024 /* each has two descriptors, and those of its hosts */
#define TENANTS_JOINING_MAX 16 /* at a time: each dials an address from outside */
#define TENANTS_STRANGERS_MAX 12 /* connections of users that the configuration does not name */
#define TENANTS_STRANGERS_DEFAULT 64 /* one person can create many mainsms */
#define TENANT_KEY_MIN 8 /* digits of a pin that name a user */

/* A user in the admin's configuration. The first member is the section's name. */
struct user_conf {
	const char *name;
	const char *pin; /* "" = for all users that are not listed */
	int64_t max[QUOTA_COUNT];
	int64_t users; /* without a pin: number of users that it admits; 0 = no limit */
};

struct tenants;

struct tenants_conf {
	/*
	 * is_taken, on_joined, on_gone and arg are set by tenants_open(); wall_now may ignore its
	 * argument. Borrowed.
	 */
	struct tenant_conf tenant;
	nsec_t forget; /* time after which a user without mainsm is removed; 0 = never */
};

/*
 * Serves the stored users again, spread over a second. A file that cannot be read is logged and
 * left alone. ERR_DENIED, ERR_SYS, ERR_NOMEM.
 */
int tenants_open(const struct tenants_conf *conf, const struct user_conf *user, size_t nuser,
		 struct tenants **out, struct err *e);
void tenants_free(struct tenants *ts);

/* Another configuration: drops users that it does not permit. -ERR_NOMEM: as before. */
int tenants_set_policy(struct tenants *ts, const struct user_conf *user, size_t nuser);

/*
 * on_done is called once, later (NULL: the user is served), unless it is cancelled by its arg.
 * ERR_DENIED: the policy; ERR_LIMIT, ERR_EXISTS, ERR_INVALID (no token), ERR_NOMEM. Returns 1 if
 * the user is served already; then on_done is not called.
 */
int tenants_join(struct tenants *ts, const struct connstr *conn, const char *name,
		 void (*on_done)(void *arg, const struct err *why), void *arg, struct err *e);
void tenants_cancel(struct tenants *ts, void *arg);

/* Finds a tenant by the whole pin; NULL: there is none. */
struct tenant *tenants_find(const struct tenants *ts, const char *pin);

/*
 * Finds a user by a pin, a prefix of one, or a name. A name in the configuration means that user
 * only, whatever names others send. ERR_NOTFOUND; ERR_EXISTS: several, and *e names two.
 */
int tenants_meant(const struct tenants *ts, const char *key, struct tenant **out, struct err *e);

/* Disconnects and removes the user, which may join again. */
void tenants_drop(struct tenants *ts, struct tenant *t);

size_t tenants_count(const struct tenants *ts);
struct tenant *tenants_at(const struct tenants *ts, size_t i);

#endif
