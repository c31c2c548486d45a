/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/task/rights.h"

#include "common/net/identity.h"
#include "common/route/rights.h"

#include <string.h>

enum omis_right rights_of(const char *identity)
{
	struct identity id = { 0 };

	if (identity_from_uri(&id, identity, strlen(identity), NULL))
		return OMIS_NO_RIGHT;
	return route_right_of_role(role_name(id.role));
}

enum omis_right rights_least(const char *identity, uint32_t claimed)
{
	enum omis_right has = rights_of(identity);

	return claimed < (uint32_t)has ? (enum omis_right)claimed : has;
}

bool rights_allow(const char *identity, const struct omis_request *r, size_t prefix,
		  enum omis_right *right)
{
	*right = rights_of(identity);
	if (!route_may_call(*right, r->event))
		return false;
	for (size_t i = 0; i < prefix && i < r->naction; i++)
		if (!route_may_call(*right, &r->action[i]))
			return false;
	return true;
}
