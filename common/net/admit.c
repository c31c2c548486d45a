/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/net/internal.h"

#include <openssl/x509_vfy.h>
#include <stdlib.h>
#include <string.h>

int admit_init(struct admit *a, const struct net_expect *x, struct err *e)
{
	*a = (struct admit){ .roles = x->roles,
			     .site = str_dup(x->site),
			     .host = str_dup(x->host) };
	if ((x->site && !a->site) || (x->host && !a->host)) {
		admit_done(a);
		return err_nomem(e);
	}
	return 0;
}

void admit_done(struct admit *a)
{
	free(a->site);
	free(a->host);
	a->site = a->host = NULL;
}

#define TEXT_BYTES 80

static int other_name(struct err *e, const char *what, const char *got, const char *want)
{
	char g[TEXT_BYTES / 2], w[TEXT_BYTES / 2];

	str_escape(g, sizeof(g), got, strlen(got));
	str_escape(w, sizeof(w), want, strlen(want));
	return err_set(e, ERR_DENIED,
		       "the peer is %s \"%s\", not \"%s\": this address belongs to another peer",
		       what, g, w);
}

int admit_identity(const struct admit *a, const struct identity *id, struct err *e)
{
	char want[TEXT_BYTES];

	if (!(a->roles & ROLE_BIT(id->role)))
		return err_set(e, ERR_DENIED, "the peer has the role %s, %s was expected",
			       role_name(id->role), role_set_names(want, sizeof(want), a->roles));
	if (a->site && strcmp(a->site, id->site))
		return other_name(e, "of site", id->site, a->site);
	if (a->host && strcmp(a->host, id->host))
		return other_name(e, "on host", id->host, a->host);
	return 0;
}

int ctx_admits(const struct net_ctx *ctx, const struct identity *id, struct verdict *v)
{
	nsec_t now = ctx_wall(ctx);
	char at[CLOCK_TEXT_BYTES];

	if (now >= id->wall_not_after) {
		v->x509_error = X509_V_ERR_CERT_HAS_EXPIRED;
		return err_set(&v->why, ERR_DENIED,
			       "the peer's certificate has expired on %s: it must enrol again",
			       clock_format_rfc3339(at, id->wall_not_after, 0));
	}
	if (now < id->wall_not_before) {
		v->x509_error = X509_V_ERR_CERT_NOT_YET_VALID;
		return err_set(
			&v->why, ERR_DENIED,
			"the peer's certificate is valid only from %s on: compare the clocks",
			clock_format_rfc3339(at, id->wall_not_before, 0));
	}
	if (serial_set_has(ctx->revoked, id->serial)) {
		v->x509_error = X509_V_ERR_CERT_REVOKED;
		return err_set(&v->why, ERR_DENIED,
			       "the peer's certificate is revoked: it needs a new one");
	}
	return 0;
}
