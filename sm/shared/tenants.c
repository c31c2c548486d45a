/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/shared/tenants.h"

#include "common/base/array.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "eventlog/keep/keeps.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define SPREAD_NS NSEC_PER_SEC
#define FORGET_CHECK_NS (600 * NSEC_PER_SEC)
/* Part of the time to forget: the precision of the stored time, and how often it is written. */
#define SEEN_STEPS 32

/* The request that waits for the end of a join. */
struct waiting {
	struct tenant *tenant; /* NULL: the place is free */
	void (*on_done)(void *arg, const struct err *why);
	void *arg;
};

struct tenants {
	struct tenants_conf conf;
	struct tenant_conf tenant;
	struct keeps_all keeps; /* limits shared by their subscriptions */
	struct user_conf *user; /* owned, with its strings */
	size_t nuser;
	struct tenant **v;
	size_t n, cap;
	struct waiting waiting[TENANTS_JOINING_MAX];
	struct loop_timer *timer;
};

size_t tenants_count(const struct tenants *ts)
{
	return ts->n;
}

struct tenant *tenants_at(const struct tenants *ts, size_t i)
{
	return i < ts->n ? ts->v[i] : NULL;
}

struct tenant *tenants_find(const struct tenants *ts, const char *pin)
{
	for (size_t i = 0; i < ts->n; i++)
		if (str_eq(tenant_pin(ts->v[i]), pin))
			return ts->v[i];
	return NULL;
}

/* --- the policy */

static const struct user_conf *policy_for(const struct tenants *ts, const char *pin)
{
	const struct user_conf *anybody = NULL;

	for (size_t i = 0; i < ts->nuser; i++) {
		if (str_eq(ts->user[i].pin, pin))
			return &ts->user[i];
		if (!ts->user[i].pin[0] && !anybody)
			anybody = &ts->user[i];
	}
	return anybody;
}

/* --- names of users */

/* Returns the pin that the configuration assigns to the name, or NULL. */
static const char *pin_named(const struct tenants *ts, const char *name)
{
	for (size_t i = 0; i < ts->nuser; i++)
		if (ts->user[i].pin[0] && str_eq(ts->user[i].name, name))
			return ts->user[i].pin;
	return NULL;
}

/* True if the tenant may use the user's name: the admin has not assigned it to another pin. */
static bool is_meant(const struct tenants *ts, const struct tenant *t, const char *key)
{
	const char *owner = pin_named(ts, key);
	struct tenant_counters f;

	if (strlen(key) >= TENANT_KEY_MIN && str_has_prefix(tenant_pin(t), key))
		return true;
	tenant_get_counters(t, &f);
	return owner ? str_eq(owner, f.pin) : f.name[0] && str_eq(f.name, key);
}

static int several_meant(const char *key, const struct tenant *a, const struct tenant *b,
			 struct err *e)
{
	struct tenant_counters f, g;
	char name[48], first[32], second[32];

	tenant_get_counters(a, &f);
	tenant_get_counters(b, &g);
	return err_set(e, ERR_EXISTS,
		       "'%s' may be %.8s (%s) or %.8s (%s): give more digits of the pin",
		       str_escape(name, sizeof(name), key, strlen(key)), f.pin,
		       str_escape(first, sizeof(first), f.name, strlen(f.name)), g.pin,
		       str_escape(second, sizeof(second), g.name, strlen(g.name)));
}

int tenants_meant(const struct tenants *ts, const char *key, struct tenant **out, struct err *e)
{
	struct tenant *whole = tenants_find(ts, key), *found = whole;
	char name[128];

	for (size_t i = 0; !whole && i < ts->n; i++) {
		if (!is_meant(ts, ts->v[i], key))
			continue;
		if (found)
			return several_meant(key, found, ts->v[i], e);
		found = ts->v[i];
	}
	if (!found)
		return err_set(e, ERR_NOTFOUND, "no user here is meant by '%s'",
			       str_escape(name, sizeof(name), key, strlen(key)));
	*out = found;
	return 0;
}

static void free_policy(struct user_conf *user, size_t n)
{
	for (size_t i = 0; user && i < n; i++) {
		free((char *)user[i].name);
		free((char *)user[i].pin);
	}
	free(user);
}

static struct user_conf *copy_policy(const struct user_conf *user, size_t n)
{
	struct user_conf *v = calloc(n + 1, sizeof(*v));

	for (size_t i = 0; v && i < n; i++) {
		v[i] = user[i];
		v[i].name = str_dup(user[i].name);
		v[i].pin = str_dup(user[i].pin);
		if (v[i].name && v[i].pin)
			continue;
		free_policy(v, i + 1);
		return NULL;
	}
	return v;
}

/* Users without a section share one limit. */
static int check_room(const struct tenants *ts, const struct user_conf *u, struct err *e)
{
	int64_t n = 0;

	for (size_t i = 0; i < ts->n; i++)
		n += policy_for(ts, tenant_pin(ts->v[i])) == u;
	if (u->pin[0] || !u->users || n < u->users)
		return 0;
	return err_set(
		e, ERR_LIMIT,
		"this site serves no more than %lld users that it does not know: ask its admin",
		(long long)u->users);
}

/* False: the user is not permitted here. */
static bool apply_policy(const struct tenants *ts, struct tenant *t)
{
	const struct user_conf *u = policy_for(ts, tenant_pin(t));
	struct quota q;

	if (!u)
		return false;
	memcpy(q.max, u->max, sizeof(q.max));
	tenant_set_policy(t, &q);
	if (u->pin[0])
		tenant_set_name(t, u->name);
	return true;
}

/* --- leaving */

static void remove_tenant(struct tenants *ts, struct tenant *t)
{
	for (size_t i = 0; i < ts->n; i++)
		if (ts->v[i] == t)
			ts->v[i] = ts->v[--ts->n];
}

static void answer(struct tenants *ts, const struct tenant *t, const struct err *why)
{
	for (size_t i = 0; i < TENANTS_JOINING_MAX; i++) {
		struct waiting w = ts->waiting[i];

		if (w.tenant != t)
			continue;
		ts->waiting[i] = (struct waiting){ NULL, NULL, NULL };
		if (w.on_done)
			w.on_done(w.arg, why);
	}
}

void tenants_drop(struct tenants *ts, struct tenant *t)
{
	const struct err why = { .code = ERR_DENIED, .text = "dropped by the site's admin" };

	remove_tenant(ts, t);
	answer(ts, t, &why);
	tenant_erase(t);
	tenant_free(t);
}

static void on_gone(void *arg, struct tenant *t, const char *why)
{
	struct tenants *ts = arg;

	log_notice("site", "user=%.8s has left: %s", tenant_pin(t), why);
	tenants_drop(ts, t);
}

static void on_forget(void *arg)
{
	struct tenants *ts = arg;
	nsec_t now = ts->tenant.wall_now(ts);
	struct tenant_counters f;

	for (size_t i = ts->n; i-- > 0;) {
		tenant_note_seen(ts->v[i], ts->conf.forget / SEEN_STEPS);
		tenant_get_counters(ts->v[i], &f);
		if (f.wall_since && tenant_state(ts->v[i]) != TENANT_UP &&
		    now - f.wall_seen > ts->conf.forget)
			on_gone(ts, ts->v[i], "the user's mainsm was away for too long");
	}
	loop_timer_arm(ts->timer, FORGET_CHECK_NS);
}

int tenants_set_policy(struct tenants *ts, const struct user_conf *user, size_t nuser)
{
	struct user_conf *copy = copy_policy(user, nuser);

	if (!copy)
		return -ERR_NOMEM;
	free_policy(ts->user, ts->nuser);
	ts->user = copy;
	ts->nuser = nuser;
	for (size_t i = ts->n; i-- > 0;)
		if (!apply_policy(ts, ts->v[i]))
			on_gone(ts, ts->v[i], "the configuration no longer names the user");
	return 0;
}

/* --- joining */

static int add(struct tenants *ts, const char *pin, struct tenant **out, struct err *e)
{
	int rc;

	if (array_grow(&ts->v, &ts->cap, ts->n + 1, sizeof(*ts->v), TENANTS_MAX))
		return err_set(e, ERR_LIMIT, "this site serves no more users");
	rc = tenant_new(&ts->tenant, pin, out, e);
	if (!rc)
		ts->v[ts->n++] = *out;
	return rc;
}

static void on_joined(void *arg, struct tenant *t, const struct err *why)
{
	struct tenants *ts = arg;
	struct tenant_counters f;

	tenant_get_counters(t, &f);
	if (why)
		log_warn("site", "user=%.8s could not join: %s", f.pin, why->text);
	else
		log_notice("site", "user=%.8s has joined name=%s port=%u", f.pin, f.name, f.port);
	answer(ts, t, why);
	/* A user that is a member already stays a member. */
	if (!why || f.wall_since)
		return;
	remove_tenant(ts, t);
	tenant_erase(t);
	tenant_free(t);
}

/* Returns a free place. Strangers cannot occupy the places of users with a section. */
static struct waiting *free_place(struct tenants *ts, bool is_named)
{
	for (size_t i = 0; i < (is_named ? TENANTS_JOINING_MAX : TENANTS_STRANGERS_MAX); i++)
		if (!ts->waiting[i].tenant)
			return &ts->waiting[i];
	return NULL;
}

static int start_join(struct tenants *ts, const struct connstr *conn, const char *name,
		      struct tenant **out, struct err *e)
{
	struct tenant *t = tenants_find(ts, conn->pin);
	bool is_new = !t;
	int rc = t ? 0 : add(ts, conn->pin, &t, e);

	if (rc)
		return rc;
	if (is_new)
		apply_policy(ts, t);
	rc = tenant_join(t, conn, name, e);
	if (rc && is_new) {
		remove_tenant(ts, t);
		tenant_erase(t);
		tenant_free(t);
	}
	*out = t;
	return rc;
}

/* six: a callback and its argument are one. */
int tenants_join(struct tenants *ts, const struct connstr *conn, const char *name,
		 void (*on_done)(void *arg, const struct err *why), void *arg, struct err *e)
{
	const struct user_conf *u = policy_for(ts, conn->pin);
	struct waiting *w = free_place(ts, u && u->pin[0]);
	struct tenant *t = tenants_find(ts, conn->pin);
	int rc;

	if (!u)
		return err_set(e, ERR_DENIED,
			       "this site does not serve the mainsm %.8s: ask its admin",
			       conn->pin);
	if (t && tenant_state(t) == TENANT_UP)
		return 1;
	if (!conn->token_id[0])
		return err_set(e, ERR_INVALID, "the connection string has no token for an sm");
	if (!w)
		return err_set(e, ERR_LIMIT, "too many are joining: try again in a moment");
	if (!t && check_room(ts, u, e))
		return -ERR_LIMIT;
	rc = start_join(ts, conn, name, &t, e);
	if (!rc)
		*w = (struct waiting){ t, on_done, arg };
	return rc;
}

void tenants_cancel(struct tenants *ts, void *arg)
{
	for (size_t i = 0; i < TENANTS_JOINING_MAX; i++)
		if (ts->waiting[i].arg == arg)
			ts->waiting[i].on_done = NULL;
}

/* --- life */

static bool is_taken(void *arg, const struct tenant *t, uint16_t port)
{
	const struct tenants *ts = arg;

	for (size_t i = 0; i < ts->n; i++)
		if (ts->v[i] != t && tenant_port(ts->v[i]) == port)
			return true;
	return false;
}

static void recall(struct tenants *ts, const char *pin)
{
	struct tenant *t = NULL;
	struct err e = { 0 };
	int rc = add(ts, pin, &t, &e);

	if (!rc)
		rc = tenant_load(t, &e);
	if (!rc && !apply_policy(ts, t))
		rc = err_set(&e, ERR_DENIED, "the configuration no longer names the user");
	if (!rc) {
		tenant_start(t, (nsec_t)rng_below(ts->tenant.rng, (uint64_t)SPREAD_NS));
		return;
	}
	log_warn("site", "user=%.8s is not served: %s", pin, e.text);
	if (!t)
		return;
	remove_tenant(ts, t);
	tenant_free(t);
}

static int recall_all(struct tenants *ts, struct err *e)
{
	DIR *d = opendir(ts->tenant.dir);
	struct dirent *entry;

	if (!d)
		return err_sys(e, "%s", ts->tenant.dir);
	while ((entry = readdir(d)))
		if (pki_pin_is_valid(entry->d_name))
			recall(ts, entry->d_name);
	closedir(d);
	return 0;
}

int tenants_open(const struct tenants_conf *conf, const struct user_conf *user, size_t nuser,
		 struct tenants **out, struct err *e)
{
	struct tenants *ts = calloc(1, sizeof(*ts));
	int rc;

	if (!ts)
		return err_nomem(e);
	ts->conf = *conf;
	ts->tenant = conf->tenant;
	ts->tenant.is_taken = is_taken;
	ts->tenant.on_joined = on_joined;
	ts->tenant.on_gone = on_gone;
	ts->tenant.arg = ts;
	ts->tenant.keeps = &ts->keeps;
	ts->user = copy_policy(user, nuser);
	ts->nuser = nuser;
	ts->timer = loop_timer_new(conf->tenant.loop, on_forget, ts);
	rc = ts->user && ts->timer ? file_private_dir(conf->tenant.dir, e) : err_nomem(e);
	if (!rc)
		rc = recall_all(ts, e);
	if (rc) {
		tenants_free(ts);
		return rc;
	}
	if (conf->forget > 0)
		loop_timer_arm(ts->timer, FORGET_CHECK_NS);
	*out = ts;
	return 0;
}

void tenants_free(struct tenants *ts)
{
	if (!ts)
		return;
	for (size_t i = 0; i < ts->n; i++)
		tenant_free(ts->v[i]);
	free(ts->v);
	loop_timer_free(ts->timer);
	free_policy(ts->user, ts->user ? ts->nuser : 0);
	free(ts);
}
