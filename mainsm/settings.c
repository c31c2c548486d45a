/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/settings.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/daemon/daemon.h"
#include "common/net/net.h"
#include "mainsm/history/store.h"
#include "mainsm/mainsm.h"
#include "mainsm/start/template.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DAY (86400 * NSEC_PER_SEC)
#define AT(member) offsetof(struct settings, member)
/* A text of [site NAME]. */
#define OF_SITE(member, max_bytes, what, text)                                               \
	{                                                                                    \
		.section = "site", .name = #member, .kind = CONF_STRING,                     \
		.offset = offsetof(struct site_conf, member), .def = "", .max = (max_bytes), \
		.flags = CONF_NOENV | CONF_RELOAD, .arg = (what), .help = (text)             \
	}

static const struct conf_key keys[] = {
	DAEMON_LISTEN_KEYS(
		struct settings, 0, "port to listen on; 0: the one of the last start, else any",
		"names or addresses by commas for the connection string; default: detected"),
	{ .name = "linger",
	  .kind = CONF_NSEC,
	  .offset = AT(linger),
	  .def = "0",
	  .min = 0,
	  .max = 365 * DAY,
	  .flags = CONF_OPTION | CONF_RELOAD,
	  .arg = "TIME",
	  .help = "end after this long without a connection; 0: never" },
	{ .name = "history",
	  .kind = CONF_NSEC,
	  .offset = AT(history),
	  .def = "7d",
	  .min = 0,
	  .max = 366 * DAY,
	  .flags = CONF_OPTION | CONF_RELOAD,
	  .arg = "TIME",
	  .help = "keep samples of jobs for this long; 0: none" },
	{ .name = "history-size",
	  .kind = CONF_BYTES,
	  .offset = AT(history_size),
	  .def = "64M",
	  .min = HISTORY_MIN_BYTES,
	  .max = INT64_C(64) << 30,
	  .flags = CONF_OPTION | CONF_RELOAD,
	  .arg = "BYTES",
	  .help = "limit of the samples of jobs on disk; a job of 1,024 ranks needs 4M a day" },
	{ .name = "launcher",
	  .kind = CONF_STRING,
	  .offset = AT(launcher),
	  .def = "local",
	  .max = 2048,
	  .flags = CONF_OPTION,
	  .arg = "HOW",
	  .help = "how sms are started: local, ssh, srun, none, shared (by the site's admin), or a "
		  "command with {host} {site} {command} or {shell_command}" },
	{ .name = "site",
	  .kind = CONF_STRING,
	  .offset = AT(site),
	  .def = "",
	  .max = 4096,
	  .flags = CONF_OPTION | CONF_NOENV,
	  .arg = "NAME=HOSTS;...",
	  .help = "sites and the patterns of their hosts, by commas: a=node0*,node1*;b=gpu*" },
	{ .name = "sm-command",
	  .kind = CONF_STRING,
	  .offset = AT(sm_command),
	  .def = "",
	  .max = 1024,
	  .flags = CONF_OPTION,
	  .arg = "PATH",
	  .help = "the sm program; empty: sm beside this program" },
	{ .name = "token-lifetime",
	  .kind = CONF_NSEC,
	  .offset = AT(token_lifetime),
	  .def = "7d",
	  .min = 60 * NSEC_PER_SEC,
	  .max = 366 * DAY,
	  .flags = CONF_OPTION,
	  .arg = "TIME",
	  .help = "how long a connection string permits enrolment" },
	{ .name = "cert-lifetime",
	  .kind = CONF_NSEC,
	  .offset = AT(cert_lifetime),
	  .def = "90d",
	  .min = 60 * NSEC_PER_SEC,
	  .max = 3650 * DAY,
	  .flags = CONF_OPTION,
	  .arg = "TIME",
	  .help = "lifetime of issued certificates" },
	OF_SITE(hosts, 4096, "PATTERNS", "patterns with * and ? of its hosts' names, by commas"),
	OF_SITE(launcher, 2048, "HOW", "how its sm is started; empty: as launcher above"),
	OF_SITE(host, 255, "HOST", "where its sm runs, for {host}"),
	OF_SITE(listen, NAME_MAX_BYTES, "ADDR",
		"address or name that its sm listens on, or auto; empty: as mainsm"),
	{ 0 },
};

static const struct conf_group groups[] = {
	{ .section = "site",
	  .item_bytes = sizeof(struct site_conf),
	  .offset_items = AT(sites),
	  .offset_nitems = AT(nsites) },
	{ 0 },
};

const struct conf_schema mainsm_settings_schema = {
	.program = "mainsm",
	.bytes = sizeof(struct settings),
	.key = keys,
	.group = groups,
};

/* Cuts "a=x,y;b=z" in place. */
static int parse_option(char *text, struct site_conf *out, size_t *n, struct err *e)
{
	char *save = NULL;

	for (char *item = strtok_r(text, ";", &save); item; item = strtok_r(NULL, ";", &save)) {
		char *hosts = strchr(item, '=');

		item += strspn(item, " \t");
		if (!hosts)
			return err_set(e, ERR_PARSE, "site: NAME=HOSTS is expected, not '%s'",
				       item);
		*hosts++ = 0;
		out[(*n)++] = (struct site_conf){ item, hosts, "", "", "" };
	}
	return 0;
}

static size_t count_items(const char *text)
{
	size_t n = 1;

	for (; *text; text++)
		n += *text == ';';
	return n;
}

int mainsm_settings_sites(const struct settings *s, struct site_conf **out, size_t *n, char **text,
			  struct err *e)
{
	struct site_conf *v = calloc(s->nsites + count_items(s->site), sizeof(*v));
	char *copy = str_dup(s->site);
	size_t count = s->nsites;
	int rc = v && copy ? 0 : err_nomem(e);

	if (!rc && s->nsites)
		memcpy(v, s->sites, s->nsites * sizeof(*v));
	if (!rc)
		rc = parse_option(copy, v, &count, e);
	if (rc) {
		free(v);
		free(copy);
		return rc;
	}
	*out = v;
	*n = count;
	*text = copy;
	return 0;
}

static int check_launcher(const char *launcher, const struct site_conf *site, struct err *e)
{
	static const char *const command[] = { "sm", NULL };
	const struct template_words w = { site ? site->name : "site",
					  site && site->host[0] ? site->host : "host", command };
	char **argv = NULL;
	int rc;

	if (!launcher[0] || str_eq(launcher, "none") || str_eq(launcher, SITE_SHARED))
		return 0;
	rc = template_expand(template_named(launcher), &w, &argv, e);
	template_free(argv);
	return rc;
}

int mainsm_settings_check(const void *settings, struct err *e)
{
	const struct settings *s = settings;
	struct site_conf *v = NULL;
	char *text = NULL;
	size_t n = 0;
	int rc = mainsm_settings_sites(s, &v, &n, &text, e);
	char addr[NET_ADDR_BYTES];

	if (!rc)
		rc = net_own_address(s->listen, addr, e);
	if (!rc)
		rc = check_launcher(s->launcher, NULL, e);
	for (size_t i = 0; i < n && !rc; i++) {
		if (!site_name_is_valid(v[i].name))
			rc = err_set(e, ERR_INVALID,
				     "site '%s': letters, digits, '.', '_', '-' make a name",
				     v[i].name);
		else if (v[i].host[0] && !site_host_is_valid(v[i].host))
			rc = err_set(e, ERR_INVALID, "site %s: '%s' is not a host name", v[i].name,
				     v[i].host);
		else
			rc = check_launcher(v[i].launcher, &v[i], e);
	}
	free(v);
	free(text);
	return rc;
}
