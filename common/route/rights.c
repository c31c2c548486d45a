/* SPDX-License-Identifier: Apache-2.0 */
#include "common/route/rights.h"

#include "common/base/str.h"
#include "common/omis/services/added.h"

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

#define FLAGS_PARAM 1 /* index of the parameter for omis_service.guarded */

static bool asks_for_guarded(const struct omis_call *c)
{
	int64_t flags;

	if (!c->service->guarded || c->nparam <= FLAGS_PARAM)
		return false;
	return !omis_value_i64(&c->param[FLAGS_PARAM], &flags) || (flags & c->service->guarded);
}

enum omis_right route_right_of_call(const struct omis_call *c)
{
	if (!c->service || c->service->right < OMIS_OBSERVE)
		return (enum omis_right)(OMIS_ADMIN + 1);
	return asks_for_guarded(c) && c->service->right < OMIS_MANIPULATE ? OMIS_MANIPULATE
									  : c->service->right;
}

bool route_may_call(enum omis_right has, const struct omis_call *c)
{
	return route_may(has, c->service) && has >= route_right_of_call(c);
}

int route_denied(const struct omis_call *c, struct err *e)
{
	enum omis_right right = route_right_of_call(c);
	bool is_more = c->service && right > c->service->right;

	if (right > OMIS_ADMIN)
		return err_set(e, ERR_DENIED, "%s%s is for daemons alone", added_name_of(c),
			       is_more ? " with these flags" : "");
	return err_set(e, ERR_DENIED, "%s%s needs the right %s", added_name_of(c),
		       is_more ? " with these flags" : "", omis_right_name(right));
}

enum omis_right route_right_needed(const struct omis_request *r)
{
	enum omis_right most = r->event ? route_right_of_call(r->event) : OMIS_OBSERVE;

	for (size_t i = 0; i < r->naction; i++)
		if (route_right_of_call(&r->action[i]) > most)
			most = route_right_of_call(&r->action[i]);
	return most;
}
