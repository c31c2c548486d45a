/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of an sm. */
#ifndef SM_SETTINGS_H
#define SM_SETTINGS_H

#include "common/base/clock.h"
#include "common/conf/conf.h"
#include "sm/shared/tenants.h"

#define SITE_NAME_MAX_BYTES 63 /* part of paths and command lines */

struct settings {
	const char *mainsm; /* connection string, "" = search for one */
	const char *site;
	const char *listen, *advertise;
	int64_t port;
	int64_t linger, grace; /* ns */
	bool mainsm_stdin;
	/* "" = mainsm, "site" = the sm of the site, else the address of an sm */
	const char *parent;
	int64_t fan_in;
	/* for an sm that serves many users */
	bool shared;
	const char *user_ports; /* "FIRST-LAST", "" = any */
	int64_t forget;
	struct user_conf *users; /* [user NAME] */
	size_t nusers;
};

extern const struct conf_schema sm_settings_schema;

/* Checks that the schema cannot express. ERR_INVALID. */
int sm_settings_check(const void *settings, struct err *e);

/* True if the sm connects to another sm. *address: its address; "" = requested from mainsm. */
bool sm_settings_parent(const struct settings *s, const char **address);

/* The range of user_ports; 0, 0: any. ERR_INVALID. */
int sm_settings_ports(const struct settings *s, uint16_t *first, uint16_t *last, struct err *e);

#endif
