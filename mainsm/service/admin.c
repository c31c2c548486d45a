/* SPDX-License-Identifier: Apache-2.0 */
/* Services on certificates and tokens, and the one that ends the monitor. */
#include "common/audit/audit.h"
#include "common/authority/certs.h"
#include "common/authority/tokens.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/omis/text/value.h"
#include "mainsm/directory/sites.h"
#include "mainsm/service/expected.h"
#include "mainsm/service/service.h"

#include <string.h>

#define TOKEN_LIFETIME_MAX_S (INT64_C(366) * 86400)

static void write_cert(struct omis_writer *w, const struct cert *cert)
{
	omis_write_list(w);
	omis_write_string(w, cert->serial);
	omis_write_string(w, role_name(cert->role));
	omis_write_string(w, cert_name(cert));
	omis_write_int(w, cert->wall_issued);
	omis_write_int(w, cert->wall_until);
	omis_write_int(w, cert->revoked);
	omis_write_string(w, cert->site);
	omis_write_string(w, cert->host);
	omis_write_string(w, cert->token);
	omis_write_list_end(w);
}

static int cert_list(struct service_call *c)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);
	const struct cert *cert;

	for (size_t i = 0; (cert = certs_at(c->services->conf.certs, i)); i++)
		write_cert(&w, cert);
	return service_value(c, NULL, &b);
}

static int cert_revoke(struct service_call *c)
{
	const struct services_conf *t = &c->services->conf;
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	char what[128];
	struct err e = { 0 };
	size_t n = 0;
	int rc = certs_revoke(t->certs, service_text(c, 0), t->wall_now(t->arg), &n, &e);

	log_notice("certs", "%zu certificates revoked: %s by tool %u", n,
		   str_escape(what, sizeof(what), service_text(c, 0), strlen(service_text(c, 0))),
		   c->session->number);
	if (n)
		t->revoked(t->arg);
	if (rc && rc != -ERR_NOTFOUND)
		return reply_add_error(c->into, c->action, NULL, status_from_err(rc),
				       "in force, but a restart of mainsm would forget it: %s",
				       e.text);
	omis_write_int(&w, (int64_t)n);
	return service_value(c, NULL, &b);
}

static unsigned roles_of(const char *name)
{
	if (str_eq(name, "tool"))
		return ROLE_BIT(ROLE_TOOL_OBSERVE) | ROLE_BIT(ROLE_TOOL_MANIPULATE);
	return ROLE_BIT(role_from_name(name)) & ~(ROLE_BIT(ROLE_NONE) | ROLE_BIT(ROLE_MAINSM));
}

/* Sets the owner: of a daemon the user of the monitor, of a tool the name in the token. */
static int set_owner(struct service_call *c, struct token_grant *g, const char *name, struct err *e)
{
	const struct services_conf *t = &c->services->conf;
	const struct identity *id = &c->session->id;

	if (name[0] && !(g->roles & ROLES_TOOL))
		return err_set(e, ERR_INVALID,
			       "a name is for tools: a daemon is known by its host");
	if (g->roles && !(g->roles & ~ROLES_SERVER)) {
		str_copy(g->owner, sizeof(g->owner), id->owner);
		g->has_uid = id->has_uid;
		g->uid = id->uid;
	}
	if (!name[0])
		return 0;
	if (!identity_owner_is_valid(name) || !str_copy(g->owner, sizeof(g->owner), name))
		return err_set(e, ERR_INVALID,
			       "a name has 1 to %d letters, digits, '.', '_', '-', '+'",
			       IDENTITY_OWNER_MAX_BYTES);
	if (str_eq(name, id->owner))
		return err_set(e, ERR_EXISTS, "%s is your own name: give that of the token's user",
			       name);
	if (certs_has_owner(t->certs, name, "", t->wall_now(t->arg)))
		return err_set(
			e, ERR_EXISTS,
			"a valid certificate has the name %s: revoke it, or give another name",
			name);
	return 0;
}

/*
 * Sets the times of a token in seconds: lifetime of its certificates, 0 = unlimited; and time of
 * use, 0 = as long.
 */
static int set_times(const struct service_call *c, struct token_grant *g, int64_t life,
		     int64_t usable)
{
	nsec_t now = c->services->conf.wall_now(c->services->conf.arg);
	bool is_endless = !life && usable && !(g->roles & ROLES_TOOL);

	if (life < 0 || life > TOKEN_LIFETIME_MAX_S || usable < 0 ||
	    usable > TOKEN_LIFETIME_MAX_S || (!life && !is_endless))
		return -ERR_INVALID;
	if (life)
		g->wall_certs_until = now + life * NSEC_PER_SEC;
	g->wall_until = now + (usable && (!life || usable < life) ? usable : life) * NSEC_PER_SEC;
	return 0;
}

static int hand_out(struct service_call *c, const struct token_grant *g)
{
	const struct services_conf *t = &c->services->conf;
	struct buf line = BUF_INIT(SERVICE_VALUE_MAX_BYTES), b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	struct token_text text;
	struct err e = { 0 };
	int rc = tokens_mint(t->tokens, g, t->wall_now(t->arg), &text, &e);

	if (rc)
		return reply_add(c->into, c->action, NULL, status_from_err(rc), e.text);
	rc = t->connection(t->arg, &text, &line);
	str_wipe(&text, sizeof(text));
	if (!rc)
		omis_write_string(&w, buf_str(&line));
	if (line.p)
		str_wipe(line.p, line.n);
	buf_done(&line);
	return rc ? rc : service_value(c, NULL, &b);
}

static int cert_token(struct service_call *c)
{
	struct token_grant g = { .roles = roles_of(service_text(c, 0)) };
	int64_t uses = service_int(c, 2);
	struct err e = { 0 };
	int rc;

	if (!g.roles || uses < 0 || uses > UINT32_MAX ||
	    set_times(c, &g, service_int(c, 1), service_int(c, 4)))
		return reply_add(
			c->into, c->action, NULL, STATUS_PARAMETER_ERROR,
			"role lm, sm, factory, tool, tool-observe, tool-manipulate or tool-admin; 1 s to a year, of a "
			"daemon also 0 with a time to use it in; 0 = any number of uses");
	rc = set_owner(c, &g, service_text(c, 3), &e);
	if (rc)
		return reply_add(c->into, c->action, NULL, status_from_err(rc), e.text);
	g.uses = (uint32_t)uses;
	return hand_out(c, &g);
}

/* Makes a token for ranks: it admits their hosts while the job runs, and nothing else. */
static int job_token(struct service_call *c)
{
	const struct services_conf *t = &c->services->conf;
	struct token_grant g = { .roles = ROLE_BIT(ROLE_LM),
				 .wall_until = t->wall_now(t->arg) + TOKEN_JOB_IDLE_NS };
	const char *job = service_text(c, 0), *site = service_text(c, 1);

	if (!str_is_name(job, strlen(job)) || (site[0] && !site_name_is_valid(site)))
		return reply_add(c->into, c->action, NULL, STATUS_PARAMETER_ERROR,
				 "a job's name, and the name of a site or \"\"");
	str_copy(g.job, sizeof(g.job), job);
	str_copy(g.site, sizeof(g.site), site);
	expected_note(c->services, job);
	return hand_out(c, &g);
}

static int shut_down(struct service_call *c)
{
	log_notice("mainsm", "shutdown asked for by tool %u", c->session->number);
	c->services->conf.shutdown(c->services->conf.arg);
	return 0;
}

static int audit(struct service_call *c)
{
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	int rc;

	if (!c->services->conf.audit)
		return 0;
	rc = audit_read(c->services->conf.audit, service_int(c, 1), service_int(c, 2), &b);
	if (!rc)
		return service_value(c, NULL, &b);
	buf_done(&b);
	return rc;
}

const struct service mainsm_admin_services[] = {
	{ "omig_audit", audit },
	{ "omig_cert_list", cert_list },
	{ "omig_cert_revoke", cert_revoke },
	{ "omig_cert_token", cert_token },
	{ "omig_job_token", job_token },
	{ "omig_shutdown", shut_down },
	{ 0 },
};
