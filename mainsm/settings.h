/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of mainsm: one table for file, environment, options and manual. */
#ifndef MAINSM_SETTINGS_H
#define MAINSM_SETTINGS_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/conf/conf.h"
#include "mainsm/directory/sites.h"

struct settings {
	const char *listen, *advertise, *launcher, *site, *sm_command;
	int64_t port;
	nsec_t linger, token_lifetime, cert_lifetime, history;
	int64_t history_size;
	struct site_conf *sites; /* [site NAME] */
	size_t nsites;
};

extern const struct conf_schema mainsm_settings_schema;

/*
 * Reads the sites of --site and of the sections into one array, which the caller frees (text too).
 * ERR_PARSE, ERR_INVALID, ERR_NOMEM.
 */
int mainsm_settings_sites(const struct settings *s, struct site_conf **out, size_t *n, char **text,
			  struct err *e);

/* Checks launchers and names, which the table alone cannot check. ERR_PARSE, ERR_INVALID. */
int mainsm_settings_check(const void *settings, struct err *e);

#endif
