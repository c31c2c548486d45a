/* SPDX-License-Identifier: Apache-2.0 */
/* Services that only an sm for many users has: a mainsm refuses them. */
#include "mainsm/service/service.h"

static int ask_the_site(struct service_call *c)
{
	return reply_add(
		c->into, c->action, NULL, STATUS_UNSPECIFIED_ERROR,
		"a mainsm serves one user: ask the sm of the site (omig admin, omig site)");
}

const struct service mainsm_site_services[] = {
	{ "omig_site_drain", ask_the_site },
	{ "omig_site_drop", ask_the_site },
	{ "omig_site_join", ask_the_site },
	{ "omig_site_limit", ask_the_site },
	{ "omig_site_status", ask_the_site },
	{ "omig_site_users", ask_the_site },
	{ 0 },
};
