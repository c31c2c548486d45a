/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/shared.h"

#include "common/audit/audit.h"
#include "common/authority/state.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/net/net.h"
#include "common/omis/text/value.h"
#include "sm/shared/site_admin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADMIN_FILE "admin.conn" /* for admins */
#define JOIN_FILE "join.conn" /* for the admin to hand out */
#define TOKEN_LIFETIME_NS (INT64_C(366) * 86400 * NSEC_PER_SEC)
#define RENEW_CHECK_NS (3600 * NSEC_PER_SEC)

struct shared {
	struct daemon *daemon;
	struct state state;
	struct tokens *tokens;
	struct certs *certs;
	struct audit *audit;
	struct net_ctx *ctx;
	struct tenants *tenants;
	struct site_admin *site_admin;
	struct loop_timer *renew;
	struct timebase timebase;
	char users_dir[FILE_PATH_BYTES];
	char host[NAME_MAX_BYTES + 1];
	/* Owned, because a reload frees the first settings. */
	char *site, *listen, *advertise;
};

static const struct settings *settings_of(const struct shared *sh)
{
	return daemon_conf(sh->daemon);
}

static nsec_t wall_now(void *arg)
{
	return clock_wall();
}

static void health(void *arg, struct omis_writer *w)
{
	struct shared *sh = arg;
	const struct identity *self = net_ctx_self(sh->ctx);

	daemon_write_health(sh->daemon, self, w);
}

/* --- the connection strings of the site */

static int hosts_of(const struct shared *sh, struct connstr *c, struct err *e)
{
	const struct settings *s = settings_of(sh);
	bool is_any = str_eq(sh->listen, "0.0.0.0") || str_eq(sh->listen, "::");
	const char *list = s->advertise[0] ? s->advertise : is_any ? sh->host : sh->listen;

	c->nhost = 0;
	while (*list && c->nhost < CONNSTR_HOSTS_MAX) {
		size_t n = strcspn(list, ",");

		if (!n || n > NAME_MAX_BYTES)
			return err_set(e, ERR_LIMIT, "advertise: a name is empty or too long");
		memcpy(c->host[c->nhost], list, n);
		c->host[c->nhost++][n] = 0;
		list += n + (list[n] == ',');
	}
	return 0;
}

/* A valid token is kept, because scripts of users may contain the string. */
static int publish(struct shared *sh, const char *file, enum role role, struct err *e)
{
	nsec_t now = clock_wall();
	const struct token_grant g = { .roles = ROLE_BIT(role),
				       .wall_until = now + TOKEN_LIFETIME_NS };
	struct connstr c = { .nhost = 0 };
	int rc;

	if (state_read_conn(&sh->state, file, &c, NULL))
		c = (struct connstr){ .nhost = 0 };
	c.port = site_admin_port(sh->site_admin);
	str_copy(c.pin, sizeof(c.pin), pki_ca_pin(sh->state.ca));
	rc = hosts_of(sh, &c, e);
	if (!rc)
		rc = state_keep_token(sh->tokens, &g, now, &c, e);
	if (!rc)
		rc = state_save_conn(&sh->state, file, &c, e);
	str_wipe(&c, sizeof(c));
	return rc;
}

static int publish_all(struct shared *sh, struct err *e)
{
	int rc = publish(sh, ADMIN_FILE, ROLE_TOOL_ADMIN, e);

	return rc ? rc : publish(sh, JOIN_FILE, ROLE_TOOL_OBSERVE, e);
}

static void on_renew(void *arg)
{
	struct shared *sh = arg;
	struct err e = { 0 };
	int got = state_renew(&sh->state, clock_wall(), SITE_ADMIN_CERT_LIFETIME_NS, &e);

	if (got > 0)
		got = net_ctx_reload(sh->ctx, &sh->state.creds, &e);
	if (!got)
		got = publish_all(sh, &e);
	if (got < 0)
		log_warn("site",
			 "certificates that expire soon could not be renewed, trying again: %s",
			 e.text);
	loop_timer_arm(sh->renew, RENEW_CHECK_NS);
}

/* --- making */

static int open_state(struct shared *sh, const struct settings *s, struct err *e)
{
	char name[SITE_NAME_MAX_BYTES + 8], path[FILE_PATH_BYTES];
	int rc;

	snprintf(name, sizeof(name), "site-%s", s->site);
	rc = state_init(&sh->state, daemon_state_dir(sh->daemon), name, e);
	if (!rc)
		rc = state_path(&sh->state, "lock", path, e);
	if (!rc)
		rc = daemon_lock(sh->daemon, path, e);
	if (rc == -ERR_EXISTS)
		err_add(e, "a shared sm of site %s runs here already", s->site);
	if (!rc)
		rc = state_open(&sh->state, clock_wall(), SITE_ADMIN_CERT_LIFETIME_NS, e);
	if (!rc)
		rc = state_path(&sh->state, "tokens", path, e);
	if (!rc)
		rc = tokens_open(NULL, path, &sh->tokens, e);
	if (!rc)
		rc = state_path(&sh->state, "issued", path, e);
	if (!rc)
		rc = certs_open(NULL, path, &sh->certs, e);
	if (!rc && certs_damaged(sh->certs))
		log_warn("sm", "%zu bytes of %s are damaged and left out", certs_damaged(sh->certs),
			 path);
	return rc ? rc : state_path(&sh->state, "users", sh->users_dir, e);
}

static int open_audit(struct shared *sh, struct err *e)
{
	char path[FILE_PATH_BYTES];
	const struct audit_conf c = { .path = path,
				      .daemon = "sm",
				      .host = sh->host,
				      .on_trouble = audit_log_trouble,
				      .arg = (void *)(uintptr_t) "actions of admins" };
	int rc = state_path(&sh->state, "audit", path, e);

	if (rc)
		return rc;
	return audit_open(&c, &sh->audit) ? err_nomem(e) : 0;
}

static int open_tenants(struct shared *sh, const struct settings *s, struct err *e)
{
	struct tenants_conf c = { .forget = s->forget };

	c.tenant = (struct tenant_conf){ .loop = daemon_loop(sh->daemon),
					 .rng = daemon_rng(sh->daemon),
					 .epoch = daemon_epoch(sh->daemon),
					 .dir = sh->users_dir,
					 .site = sh->site,
					 .host = sh->host,
					 .listen = sh->listen,
					 .advertise = sh->advertise,
					 .software = "sm " OMIG_VERSION " shared",
					 .net = &tenant_net_tls,
					 .grace = s->grace,
					 .wall_now = wall_now };
	int rc = sm_settings_ports(s, &c.tenant.port_first, &c.tenant.port_last, e);

	return rc ? rc : tenants_open(&c, s->users, s->nusers, &sh->tenants, e);
}

/* Uses the last port, if it is free: issued strings contain it. */
static int open_front(struct shared *sh, const struct settings *s, struct err *e)
{
	struct site_admin_conf c = { .loop = daemon_loop(sh->daemon),
				     .rng = daemon_rng(sh->daemon),
				     .timebase = &sh->timebase,
				     .ctx = sh->ctx,
				     .ca = sh->state.ca,
				     .tokens = sh->tokens,
				     .certs = sh->certs,
				     .tenants = sh->tenants,
				     .audit = sh->audit,
				     .epoch = daemon_epoch(sh->daemon),
				     .site = sh->site,
				     .listen = sh->listen,
				     .port = (uint16_t)s->port,
				     .wall_now = wall_now,
				     .health = health,
				     .arg = sh };
	int rc;

	if (!c.port)
		c.port = state_last_port(&sh->state);
	rc = site_admin_open(&c, &sh->site_admin, e);
	if (rc == -ERR_SYS && !s->port && c.port) {
		log_warn("site", "port %u of the last start is taken, another one is used", c.port);
		c.port = 0;
		rc = site_admin_open(&c, &sh->site_admin, e);
	}
	return rc ? rc : state_save_port(&sh->state, site_admin_port(sh->site_admin), e);
}

static void revoke_one(void *arg, const uint8_t serial[SERIAL_BYTES])
{
	struct shared *sh = arg;

	if (net_ctx_revoke(sh->ctx, serial))
		log_error("site", "no memory to revoke a certificate");
}

static int keep_names(struct shared *sh, const struct settings *s, struct err *e)
{
	char listen[NET_ADDR_BYTES];
	int rc = net_own_address(s->listen, listen, e);

	if (rc)
		return rc;
	sh->site = str_dup(s->site);
	sh->listen = str_dup(listen);
	sh->advertise = str_dup(s->advertise);
	return sh->site && sh->listen && sh->advertise ? 0 : err_nomem(e);
}

static int open_all(struct shared *sh, const struct settings *s, struct err *e)
{
	struct loop *loop = daemon_loop(sh->daemon);
	int rc = open_state(sh, s, e);

	timebase_init_root(&sh->timebase, loop_now(loop), clock_wall());
	if (!rc)
		rc = net_ctx_open(loop, &(struct net_conf){ .creds = &sh->state.creds }, &sh->ctx,
				  e);
	if (!rc)
		rc = open_audit(sh, e);
	if (!rc)
		certs_each_revoked(sh->certs, revoke_one, sh);
	if (!rc)
		rc = open_tenants(sh, s, e);
	if (!rc)
		rc = open_front(sh, s, e);
	if (!rc)
		rc = publish_all(sh, e);
	if (rc)
		return rc;
	sh->renew = loop_timer_new(loop, on_renew, sh);
	if (!sh->renew)
		return err_nomem(e);
	loop_timer_arm(sh->renew, RENEW_CHECK_NS);
	return 0;
}

int shared_start(struct daemon *d, const struct settings *s, const char *host, struct shared **out,
		 struct err *e)
{
	struct shared *sh = calloc(1, sizeof(*sh));
	int rc;

	if (!sh)
		return err_nomem(e);
	sh->daemon = d;
	str_copy(sh->host, sizeof(sh->host), host);
	rc = keep_names(sh, s, e);
	if (!rc)
		rc = open_all(sh, s, e);
	if (rc) {
		shared_free(sh);
		return rc;
	}
	log_notice("site", "serving site=%s port=%u users=%zu admin=%s/" ADMIN_FILE, s->site,
		   site_admin_port(sh->site_admin), tenants_count(sh->tenants), sh->state.dir);
	*out = sh;
	return 0;
}

int shared_reload(struct shared *sh, const struct settings *s, struct err *e)
{
	return tenants_set_policy(sh->tenants, s->users, s->nusers) ? err_nomem(e) : 0;
}

void shared_dump(struct shared *sh, struct buf *out)
{
	for (size_t i = 0; i < tenants_count(sh->tenants); i++)
		tenant_dump(tenants_at(sh->tenants, i), out);
}

void shared_free(struct shared *sh)
{
	if (!sh)
		return;
	loop_timer_free(sh->renew);
	site_admin_free(sh->site_admin);
	tenants_free(sh->tenants);
	net_ctx_free(sh->ctx);
	audit_close(sh->audit);
	certs_free(sh->certs);
	tokens_free(sh->tokens);
	state_done(&sh->state);
	free(sh->site);
	free(sh->listen);
	free(sh->advertise);
	free(sh);
}
