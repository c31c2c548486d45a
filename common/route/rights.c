/* SPDX-License-Identifier: Apache-2.0 */
#include "common/route/rights.h"

#include "common/base/str.h"

bool route_may(enum omis_right has, const struct omis_service *s)
{
	if (!s || s->right < OMIS_OBSERVE || s->right > OMIS_ADMIN)
		return false;
	return has >= OMIS_OBSERVE && has <= OMIS_ADMIN && has >= s->right;
}

enum omis_right route_right_of_role(const char *role)
{
	if (str_eq(role, "tool-observe"))
		return OMIS_OBSERVE;
	if (str_eq(role, "tool-manipulate"))
		return OMIS_MANIPULATE;
	if (str_eq(role, "tool-admin"))
		return OMIS_ADMIN;
	return OMIS_NO_RIGHT;
}

/* More than anybody has, for a call that was not checked or has no rule. */
static enum omis_right needed(const struct omis_call *c)
{
	if (!c->service || c->service->right < OMIS_OBSERVE)
		return (enum omis_right)(OMIS_ADMIN + 1);
	return c->service->right;
}

enum omis_right route_right_needed(const struct omis_request *r)
{
	enum omis_right most = r->event ? needed(r->event) : OMIS_OBSERVE;

	for (size_t i = 0; i < r->naction; i++)
		if (needed(&r->action[i]) > most)
			most = needed(&r->action[i]);
	return most;
}
