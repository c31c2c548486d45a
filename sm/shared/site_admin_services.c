/* SPDX-License-Identifier: Apache-2.0 */
/* Services of the site. The log and the audit record each manipulation with its admin and user. */
#include "common/base/array.h"
#include "common/audit/audit.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/route/rights.h"
#include "sm/shared/site_admin_internal.h"

#include <string.h>

#define VALUE_MAX_BYTES (64 * 1024)

static const char *text_at(const struct site_admin_call *c, size_t at)
{
	const char *s = at < c->call->nparam ? omis_value_text(&c->call->param[at], NULL) : NULL;

	return s ? s : "";
}

static int64_t int_at(const struct site_admin_call *c, size_t at)
{
	int64_t v = 0;

	if (at < c->call->nparam)
		omis_value_i64(&c->call->param[at], &v);
	return v;
}

static int add_value(struct site_admin_call *c, struct buf *b)
{
	int rc = b->failed ? -ERR_LIMIT
			   : reply_add_n(c->into, c->action, NULL, STATUS_OK, buf_bytes(b));

	buf_done(b);
	return rc;
}

static int done(struct site_admin_call *c)
{
	return reply_add(c->into, c->action, NULL, STATUS_OK, NULL);
}

/* The user that the first parameter names; NULL: answered. */
static struct tenant *user_of(struct site_admin_call *c, int *rc)
{
	struct tenant *t = NULL;
	struct err e = { 0 };

	*rc = tenants_meant(c->visitor->site_admin->conf.tenants, text_at(c, 0), &t, &e);
	if (*rc)
		*rc = reply_add(c->into, c->action, NULL, STATUS_UNKNOWN_OBJECT, e.text);
	return t;
}

static void record(const struct site_admin_call *c, const struct tenant *t, const char *what)
{
	char name[128];

	log_notice("admin", "%s user=%.8s by %s", what, tenant_pin(t),
		   str_escape(name, sizeof(name), c->visitor->name, strlen(c->visitor->name)));
}

/* --- information */

static void write_limits(struct omis_writer *w, const struct quota *q)
{
	omis_write_list(w);
	for (int i = 0; i < QUOTA_COUNT; i++)
		omis_write_int(w, q->max[i]);
	omis_write_list_end(w);
}

static void write_user(struct omis_writer *w, const struct tenant_counters *f)
{
	omis_write_string(w, f->pin);
	omis_write_string(w, f->name);
	omis_write_string(w, f->state);
	omis_write_int(w, f->is_draining);
	omis_write_string(w, f->address);
	omis_write_int(w, f->port);
	omis_write_int(w, f->wall_since);
	omis_write_int(w, f->wall_seen);
	omis_write_int(w, (int64_t)f->hosts);
	omis_write_int(w, (int64_t)f->procs);
	omis_write_int(w, (int64_t)f->objects);
	omis_write_int(w, (int64_t)f->csrs);
	omis_write_int(w, (int64_t)f->bytes);
	omis_write_int(w, (int64_t)f->messages);
	omis_write_int(w, (int64_t)f->bytes_read);
	omis_write_int(w, f->read_later);
	omis_write_int(w, (int64_t)f->refused);
	write_limits(w, &f->quota);
	omis_write_string(w, f->trouble);
}

static int users(struct site_admin_call *c)
{
	const struct tenants *ts = c->visitor->site_admin->conf.tenants;
	struct tenant_counters f;
	int rc = tenants_count(ts) ? 0 : done(c);

	for (size_t i = 0; !rc && i < tenants_count(ts); i++) {
		struct buf b = BUF_INIT(VALUE_MAX_BYTES);
		struct omis_writer w = OMIS_WRITER(&b);

		tenant_get_counters(tenants_at(ts, i), &f);
		write_user(&w, &f);
		rc = add_value(c, &b);
	}
	return rc;
}

static int status(struct site_admin_call *c)
{
	const struct site_admin *f = c->visitor->site_admin;
	struct net_listener_stats l;
	struct buf b = BUF_INIT(VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);

	net_listener_get_stats(f->listener, &l);
	omis_write_string(&w, "sm");
	omis_write_string(&w, OMIG_VERSION);
	omis_write_int(&w, loop_now(f->conf.loop) - f->started);
	omis_write_pair(&w, "users", (int64_t)tenants_count(f->conf.tenants));
	omis_write_pair(&w, "visitors", (int64_t)f->nvisitor);
	omis_write_pair(&w, "requests", (int64_t)f->requests);
	omis_write_pair(&w, "requests_refused", (int64_t)f->refused);
	omis_write_pair(&w, "accepted", (int64_t)l.accepted);
	omis_write_pair(&w, "refused", (int64_t)l.refused);
	omis_write_pair(&w, "penalised", (int64_t)l.penalised);
	if (f->conf.health)
		f->conf.health(f->conf.arg, &w);
	return add_value(c, &b);
}

static int read_audit(struct site_admin_call *c)
{
	struct buf b = BUF_INIT(VALUE_MAX_BYTES);
	int rc;

	if (!c->visitor->site_admin->conf.audit)
		return done(c);
	rc = audit_read(c->visitor->site_admin->conf.audit, int_at(c, 1), int_at(c, 2), &b);
	if (!rc)
		return add_value(c, &b);
	buf_done(&b);
	return rc;
}

/* --- manipulation */

static int limit(struct site_admin_call *c)
{
	enum quota_what what = quota_from_name(text_at(c, 1));
	int64_t n = int_at(c, 2);
	char line[96];
	int rc;
	struct tenant *t = user_of(c, &rc);

	if (!t)
		return rc;
	if (what == QUOTA_COUNT || n < -1)
		return reply_add(c->into, c->action, NULL, STATUS_PARAMETER_ERROR,
				 "hosts, objects, csrs, messages or bytes; a number, 0 = no limit, "
				 "-1 = as configured");
	tenant_limit(t, what, n);
	snprintf(line, sizeof(line), "limit %s=%lld", quota_name(what), (long long)n);
	record(c, t, line);
	return done(c);
}

static int drain(struct site_admin_call *c)
{
	bool on = int_at(c, 1) != 0;
	int rc;
	struct tenant *t = user_of(c, &rc);

	if (!t)
		return rc;
	tenant_drain(t, on);
	record(c, t, on ? "drain" : "drain=off");
	return done(c);
}

static int drop(struct site_admin_call *c)
{
	int rc;
	struct tenant *t = user_of(c, &rc);

	if (!t)
		return rc;
	record(c, t, "drop");
	tenants_drop(c->visitor->site_admin->conf.tenants, t);
	return done(c);
}

/* --- joining */

static void write_joined(const struct site_admin *f, const char *pin, struct buf *b)
{
	struct omis_writer w = OMIS_WRITER(b);
	const struct tenant *t = tenants_find(f->conf.tenants, pin);

	omis_write_string(&w, f->conf.site);
	omis_write_int(&w, t ? tenant_port(t) : 0);
}

static void on_joined(void *arg, const struct err *why)
{
	struct visitor *v = arg;
	struct reply *r = reply_new();
	struct buf b = BUF_INIT(VALUE_MAX_BYTES);
	int rc = r ? 0 : -ERR_NOMEM;

	v->is_joining = false;
	write_joined(v->site_admin, v->pin, &b);
	if (!rc)
		rc = why ? reply_add(r, 1, NULL,
				     why->code == ERR_DENIED ? STATUS_NO_PERMISSION
							     : STATUS_OS_ERROR,
				     why->text)
			 : reply_add_n(r, 1, NULL, STATUS_OK, buf_bytes(&b));
	if (!rc) {
		r->id = v->joining;
		site_admin_reply(v, r);
	}
	buf_done(&b);
	reply_free(r);
}

static int refuse_join(struct site_admin_call *c, int rc, const struct err *why)
{
	return reply_add(c->into, c->action, NULL,
			 rc == -ERR_PARSE || rc == -ERR_INVALID ? STATUS_PARAMETER_ERROR
			 : rc == -ERR_DENIED			? STATUS_NO_PERMISSION
								: STATUS_UNSPECIFIED_ERROR,
			 why->text);
}

/* A certificate occupies one place, however many connections it has. */
static bool is_joining(const struct visitor *v)
{
	const struct identity *id = link_identity(v->link);

	list_each (i, &v->site_admin->visitors) {
		const struct visitor *other = list_entry(i, struct visitor, in_visitors);
		const struct identity *other_id = other->link ? link_identity(other->link) : NULL;

		if (other->is_joining && (other == v || !id || !other_id ||
					  !memcmp(id->serial, other_id->serial, SERIAL_BYTES)))
			return true;
	}
	return false;
}

static int join(struct site_admin_call *c)
{
	struct visitor *v = c->visitor;
	struct buf b = BUF_INIT(VALUE_MAX_BYTES);
	struct connstr conn = { .nhost = 0 };
	struct err e = { 0 };
	int rc = is_joining(v) ? err_set(&e, ERR_EXISTS, "you are joining already")
			       : connstr_parse(text_at(c, 0), &conn, &e);

	if (!rc)
		rc = tenants_join(v->site_admin->conf.tenants, &conn, v->name, on_joined, v, &e);
	if (rc == 1)
		write_joined(v->site_admin, conn.pin, &b);
	if (!rc)
		str_copy(v->pin, sizeof(v->pin), conn.pin);
	str_wipe(&conn, sizeof(conn));
	if (rc == 1)
		return add_value(c, &b);
	if (rc)
		return refuse_join(c, rc, &e);
	v->is_joining = true;
	v->joining = c->id;
	return 1;
}

void site_admin_abandon(struct visitor *v)
{
	if (v->is_joining)
		tenants_cancel(v->site_admin->conf.tenants, v);
	v->is_joining = false;
}

/* --- all of them */

static const struct {
	const char *name;
	int (*fn)(struct site_admin_call *c);
} services[] = {
	{ "omig_site_users", users }, { "omig_site_status", status }, { "omig_site_limit", limit },
	{ "omig_site_drain", drain }, { "omig_site_drop", drop },     { "omig_site_join", join },
	{ "omig_audit", read_audit },
};

/* reply: NULL = it was refused. */
static void note(const struct site_admin_call *c, const struct reply *reply, size_t first)
{
	const struct site_admin *f = c->visitor->site_admin;

	audit_note(f->conf.audit, &(struct audit_entry){ .identity = c->visitor->identity,
							 .session = c->visitor->number,
							 .call = c->call,
							 .reply = reply,
							 .action = c->action,
							 .first = first,
							 .wall = f->conf.wall_now(f->conf.arg) });
}

int site_admin_execute(struct site_admin_call *c)
{
	size_t first = c->into->nentry;
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(services); i++) {
		int rc;

		if (!str_eq(services[i].name, c->call->name))
			continue;
		if (route_may_call(c->visitor->right, c->call)) {
			rc = services[i].fn(c);
			note(c, c->into, first);
			return rc;
		}
		c->visitor->site_admin->refused++;
		note(c, NULL, 0);
		route_denied(c->call, &e);
		return reply_add(c->into, c->action, NULL, STATUS_NO_PERMISSION, e.text);
	}
	return reply_add(c->into, c->action, NULL, STATUS_UNSUPPORTED_SERVICE,
			 "this is the sm of a site: it answers omig_site_... and nothing about "
			 "programs; ask your mainsm");
}
