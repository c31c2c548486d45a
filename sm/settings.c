/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/settings.h"

#include "sm/sm.h"

#include <stddef.h>
#include <string.h>

#define DAY (86400 * NSEC_PER_SEC)
#define AT(member) offsetof(struct settings, member)

static const struct conf_key keys[] = {
	{ .name = "mainsm",
	  .kind = CONF_STRING,
	  .offset = AT(mainsm),
	  .def = "",
	  .max = 4096,
	  .flags = CONF_OPTION | CONF_SECRET,
	  .arg = "STRING",
	  .help = "connection string of the mainsm; empty: that of a mainsm of this user and state "
		  "directory" },
	{ .name = "mainsm-stdin",
	  .kind = CONF_BOOL,
	  .offset = AT(mainsm_stdin),
	  .def = "no",
	  .flags = CONF_OPTION | CONF_NOENV,
	  .arg = "YES",
	  .help = "read the connection string from the first line of standard input, where nobody "
		  "else sees it" },
	{ .name = "site",
	  .kind = CONF_STRING,
	  .offset = AT(site),
	  .def = "default",
	  .min = 1,
	  .max = SITE_NAME_MAX_BYTES,
	  .flags = CONF_OPTION,
	  .arg = "NAME",
	  .help = "the site that is served" },
	{ .name = "listen",
	  .kind = CONF_STRING,
	  .offset = AT(listen),
	  .def = "127.0.0.1",
	  .min = 1,
	  .max = 64,
	  .flags = CONF_OPTION | CONF_NOENV,
	  .arg = "ADDR",
	  .help = "numeric address to listen on; 0.0.0.0 or :: for all, which other hosts need" },
	{ .name = "port",
	  .kind = CONF_INT,
	  .offset = AT(port),
	  .def = "0",
	  .min = 0,
	  .max = 65535,
	  .flags = CONF_OPTION | CONF_NOENV,
	  .arg = "PORT",
	  .help = "port to listen on; 0: any" },
	{ .name = "advertise",
	  .kind = CONF_STRING,
	  .offset = AT(advertise),
	  .def = "",
	  .max = 1024,
	  .flags = CONF_OPTION | CONF_NOENV,
	  .arg = "HOSTS",
	  .help = "names or addresses by commas where lms find this sm; empty: the listening one, "
		  "or this host's name" },
	{ .name = "linger",
	  .kind = CONF_NSEC,
	  .offset = AT(linger),
	  .def = "60s",
	  .min = 0,
	  .max = 365 * DAY,
	  .flags = CONF_OPTION | CONF_RELOAD | CONF_NOENV,
	  .arg = "TIME",
	  .help = "end after no lm was connected for this long; 0: never" },
	{ .name = "grace",
	  .kind = CONF_NSEC,
	  .offset = AT(grace),
	  .def = "120s",
	  .min = NSEC_PER_SEC,
	  .max = DAY,
	  .flags = CONF_OPTION | CONF_RELOAD | CONF_NOENV,
	  .arg = "TIME",
	  .help = "keep what tools had asked for, for this long without mainsm" },
	{ 0 },
};

const struct conf_schema settings_schema = {
	.program = "sm",
	.bytes = sizeof(struct settings),
	.key = keys,
};

_Static_assert(SM_LINGER_DEFAULT_NS == 60 * NSEC_PER_SEC &&
		       SM_GRACE_DEFAULT_NS == 120 * NSEC_PER_SEC,
	       "the defaults above are those of sm.h");

int settings_check(const struct settings *s, struct err *e)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	if (strspn(s->site, allowed) == strlen(s->site) && s->site[0] != '.' && s->site[0] != '-')
		return 0;
	return err_set(e, ERR_INVALID,
		       "site: letters, digits, '.', '_', '-' make a name, not '%.63s'", s->site);
}
