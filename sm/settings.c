/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/settings.h"

#include "common/base/str.h"
#include "common/daemon/daemon.h"
#include "common/link/connstr.h"
#include "common/net/net.h"
#include "sm/hosts/nodes.h"
#include "sm/node/sm.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define DAY (86400 * NSEC_PER_SEC)
#define AT(member) offsetof(struct settings, member)
#define OF_USER(member) offsetof(struct user_conf, member)
#define LIMIT(what) (OF_USER(max) + QUOTA_##what * sizeof(int64_t))
/* A number of [user NAME]; 0: no limit. */
#define USER_MAX(key, at, what, by_default, most, text)                                \
	{                                                                              \
		.section = "user", .name = (key), .kind = (what), .offset = (at),      \
		.def = (by_default), .max = (most), .flags = CONF_NOENV | CONF_RELOAD, \
		.arg = (what) == CONF_BYTES ? "BYTES" : "N", .help = (text)            \
	}

static const struct conf_key keys[] = {
	{ .name = "mainsm",
	  .kind = CONF_STRING,
	  .offset = AT(mainsm),
	  .def = "",
	  .max = 4096,
	  .flags = CONF_OPTION | CONF_SECRET | CONF_NOENV,
	  .arg = "STRING",
	  .help = "connection string of the mainsm, or @FILE that has it; empty: OMIG_MAINSM, else "
		  "that of a mainsm of this user and state directory" },
	{ .name = "mainsm-stdin",
	  .kind = CONF_BOOL,
	  .offset = AT(mainsm_stdin),
	  .def = "no",
	  .flags = CONF_OPTION | CONF_NOENV,
	  .arg = "YES",
	  .help = "read the connection string from the first line of standard input, where other "
		  "users do not see it" },
	{ .name = "site",
	  .kind = CONF_STRING,
	  .offset = AT(site),
	  .def = "default",
	  .min = 1,
	  .max = SITE_NAME_MAX_BYTES,
	  .flags = CONF_OPTION,
	  .arg = "NAME",
	  .help = "the site that is served" },
	DAEMON_LISTEN_KEYS(struct settings, CONF_NOENV, "port to listen on; 0: any",
			   "names or addresses by commas where lms find this sm; empty: the "
			   "listening one, or this host's name"),
	{ .name = "parent",
	  .kind = CONF_STRING,
	  .offset = AT(parent),
	  .def = "",
	  .max = 1024,
	  .flags = CONF_OPTION | CONF_NOENV,
	  .arg = "site|HOST:PORT",
	  .help = "serve a part of the site's hosts below its sm (site), or below the sm at that "
		  "address; empty: below mainsm, for all of the site" },
	{ .name = "fan-in",
	  .kind = CONF_INT,
	  .offset = AT(fan_in),
	  .def = "0",
	  .min = 0,
	  .max = NODES_MAX,
	  .flags = CONF_OPTION | CONF_NOENV,
	  .arg = "N",
	  .help = "lms that are served directly if there are sms below this one; further lms are redirected to those sms" },
	{ .name = "linger",
	  .kind = CONF_NSEC,
	  .offset = AT(linger),
	  .def = "60s",
	  .min = 0,
	  .max = 365 * DAY,
	  .flags = CONF_OPTION | CONF_RELOAD | CONF_NOENV,
	  .arg = "TIME",
	  .help = "end when no lm was connected for this long; 0: never" },
	{ .name = "grace",
	  .kind = CONF_NSEC,
	  .offset = AT(grace),
	  .def = "120s",
	  .min = NSEC_PER_SEC,
	  .max = DAY,
	  .flags = CONF_OPTION | CONF_RELOAD | CONF_NOENV,
	  .arg = "TIME",
	  .help = "keep the requests of tools for this long without mainsm" },
	{ .name = "shared",
	  .kind = CONF_BOOL,
	  .offset = AT(shared),
	  .def = "no",
	  .flags = CONF_OPTION | CONF_NOENV,
	  .arg = "YES",
	  .help = "serve many users, each with a mainsm; run it as a separate user" },
	{ .name = "user-ports",
	  .kind = CONF_STRING,
	  .offset = AT(user_ports),
	  .def = "",
	  .max = 11,
	  .flags = CONF_OPTION | CONF_NOENV,
	  .arg = "FIRST-LAST",
	  .help = "with shared: the ports for the lms of users, one for each user; empty: any" },
	{ .name = "forget",
	  .kind = CONF_NSEC,
	  .offset = AT(forget),
	  .def = "30d",
	  .min = 0,
	  .max = 3650 * DAY,
	  .flags = CONF_OPTION | CONF_NOENV,
	  .arg = "TIME",
	  .help = "with shared: remove a user whose mainsm was not connected for this long; 0: never" },
	{ .section = "user",
	  .name = "pin",
	  .kind = CONF_STRING,
	  .offset = OF_USER(pin),
	  .def = "",
	  .max = 26,
	  .flags = CONF_NOENV | CONF_RELOAD,
	  .arg = "PIN",
	  .help = "of the mainsm, as in its connection string; empty: all that are not listed" },
	USER_MAX("users", OF_USER(users), CONF_INT, "64", TENANTS_MAX,
		 "mainsms that a section without a pin lets in; 0: no limit"),
	USER_MAX("hosts", LIMIT(HOSTS), CONF_INT, "256", NODES_MAX,
		 "hosts that the user may have here; 0: no limit, as below"),
	USER_MAX("objects", LIMIT(OBJECTS), CONF_INT, "65536", OBJECTS_SITE_MAX,
		 "processes and threads"),
	USER_MAX("csrs", LIMIT(CSRS), CONF_INT, "4096", INT32_MAX, "armed conditional requests"),
	USER_MAX("messages", LIMIT(MESSAGES), CONF_INT, "20000", INT32_MAX,
		 "messages a second of the mainsm and the lms; more are read later"),
	USER_MAX("bytes", LIMIT(BYTES), CONF_BYTES, "64M", INT64_C(1) << 40,
		 "memory for objects, conditional requests and queues"),
	{ 0 },
};

static const struct conf_group groups[] = {
	{ .section = "user",
	  .item_bytes = sizeof(struct user_conf),
	  .offset_items = AT(users),
	  .offset_nitems = AT(nusers) },
	{ 0 },
};

const struct conf_schema sm_settings_schema = {
	.program = "sm",
	.bytes = sizeof(struct settings),
	.key = keys,
	.group = groups,
};

_Static_assert(TENANTS_STRANGERS_DEFAULT == 64, "the default above");
_Static_assert(SM_LINGER_DEFAULT_NS == 60 * NSEC_PER_SEC &&
		       SM_GRACE_DEFAULT_NS == 120 * NSEC_PER_SEC,
	       "the defaults above are those of sm.h");

int sm_settings_ports(const struct settings *s, uint16_t *first, uint16_t *last, struct err *e)
{
	const char *dash = strchr(s->user_ports, '-');
	char text[16] = "";
	uint64_t from, to;

	*first = *last = 0;
	if (!s->user_ports[0])
		return 0;
	if (dash && (size_t)(dash - s->user_ports) < sizeof(text))
		memcpy(text, s->user_ports, (size_t)(dash - s->user_ports));
	if (!dash || str_to_u64(text, 1, UINT16_MAX, &from) ||
	    str_to_u64(dash + 1, 1, UINT16_MAX, &to) || from > to)
		return err_set(e, ERR_INVALID, "user-ports: FIRST-LAST is expected, not '%.11s'",
			       s->user_ports);
	*first = (uint16_t)from;
	*last = (uint16_t)to;
	return 0;
}

static int check_users(const struct settings *s, struct err *e)
{
	unsigned anybody = 0;

	for (size_t i = 0; i < s->nusers; i++) {
		const struct user_conf *u = &s->users[i];

		if (!str_is_name(u->name, strlen(u->name)))
			return err_set(e, ERR_INVALID, "[user NAME]: this is not a name");
		if (u->pin[0] && !pki_pin_is_valid(u->pin))
			return err_set(e, ERR_INVALID,
				       "[user %.63s]: pin: 26 letters and digits are expected",
				       u->name);
		if (!u->pin[0] && anybody++)
			return err_set(e, ERR_INVALID,
				       "[user %.63s]: a second section without a pin: one is for "
				       "all others",
				       u->name);
	}
	return 0;
}

bool sm_settings_parent(const struct settings *s, const char **address)
{
	*address = str_eq(s->parent, "site") ? "" : s->parent;
	return s->parent[0] != 0;
}

/* Checks one daemon, given by one or more addresses. */
static int check_parent(const struct settings *s, struct err *e)
{
	char one[NAME_MAX_BYTES + 16], host[NAME_MAX_BYTES + 1];
	const char *at;
	uint16_t port;

	if (sm_settings_parent(s, &at) && s->shared)
		return err_set(e, ERR_INVALID,
			       "parent: an sm that serves many users has no parent");
	while (*at) {
		size_t n = strcspn(at, ",");

		snprintf(one, sizeof(one), "%.*s", (int)n, at);
		if (n >= sizeof(one) || hostport_parse(one, host, &port, e))
			return err_set(e, ERR_INVALID,
				       "parent: site or HOST:PORT is expected, not '%.63s'", at);
		at += n + (at[n] == ',');
	}
	return 0;
}

static int check_site(const struct settings *s, struct err *e)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	if (strspn(s->site, allowed) == strlen(s->site) && s->site[0] != '.' && s->site[0] != '-')
		return 0;
	return err_set(e, ERR_INVALID,
		       "site: letters, digits, '.', '_', '-' make a name, not '%.63s'", s->site);
}

int sm_settings_check(const void *settings, struct err *e)
{
	const struct settings *s = settings;
	char addr[NET_ADDR_BYTES];
	uint16_t first, last;
	int rc = check_site(s, e);

	if (!rc)
		rc = net_own_address(s->listen, addr, e);
	if (!rc)
		rc = check_parent(s, e);
	if (!rc)
		rc = sm_settings_ports(s, &first, &last, e);
	return rc ? rc : check_users(s, e);
}
