/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: the site of each host, and the state of its sm: running, starting or unavailable. Pure:
 * the caller starts sms, and time is an argument.
 */
#ifndef MAINSM_DIRECTORY_SITES_H
#define MAINSM_DIRECTORY_SITES_H

#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SITES_MAX 1024
/* sites that hosts name and no configuration has, besides "default" */
#define SITES_CLAIMED_MAX 16
/* interval between the starts of sms of claimed sites */
#define SITE_CLAIMED_START_NS (5 * NSEC_PER_SEC)
#define SITE_NAME_MAX 63
/* failed starts after which the lms of the site are served without an sm */
#define SITE_START_TRIES 3
/* a batch system may take this long to place one task */
#define SITE_START_MAX_NS (15 * NSEC_PER_SEC)
#define SITE_REST_NS (60 * NSEC_PER_SEC) /* time from the last try to the next round of tries */
#define SITE_DEFAULT "default" /* for hosts that no site names */
#define SITE_SHARED "shared" /* launcher of a site whose admin runs an sm for many users */
/* a shared sm searches for its mainsms once a minute */
#define SITE_SHARED_MAX_NS (90 * NSEC_PER_SEC)
#define SITE_RETRY_MS 200 /* interval at which a waiting lm asks again */

/* The configuration of a site; strings are copied. */
struct site_conf {
	const char *name;
	const char *hosts; /* patterns with * and ?, separated by commas or blanks; "" = none */
	const char *launcher; /* "" = the default one; "none": never start an sm */
	const char *host; /* host of the sm, for {host}; "" = not given */
	const char *listen; /* address for the sm; "" = as mainsm */
};

struct site {
	char name[SITE_NAME_MAX + 1];
	char *hosts, *launcher, *host, *listen;
	char *address; /* "host:port" of its sm that is up, else NULL */
	unsigned tries;
	nsec_t tried_at; /* 0 = never */
	bool is_starting, is_resting;
	bool is_configured; /* the configuration names it */
	bool is_claimed; /* by a host, and not in the configuration; never SITE_DEFAULT */
};

struct sites;

/* default_launcher: "" = none. */
struct sites *sites_new(const char *default_launcher);
void sites_free(struct sites *s);

/*
 * True for letters, digits, '.', '_', '-', not first '-' or '.': the name is part of command lines
 * and paths.
 */
bool site_name_is_valid(const char *name);

/*
 * True for a host name or address that launchers accept: letters, digits, '.', '_', '-', ':', '@',
 * not first '-'.
 */
bool site_host_is_valid(const char *host);

/* Sites of a configuration, applied all or none: prepare reads them, commit applies them. */
struct sites_change;

/* Adds unknown sites; they have no effect before the commit. ERR_INVALID, ERR_LIMIT, ERR_NOMEM. */
int sites_prepare(struct sites *s, const struct site_conf *c, size_t n, struct sites_change **out,
		  struct err *e);
void sites_commit(struct sites_change **take);
void sites_change_free(struct sites_change *c);

/* Prepares and commits one site. */
int sites_configure(struct sites *s, const struct site_conf *c, struct err *e);

/*
 * Returns the site of a host: the one it claims, else the first with a matching pattern, else
 * "default". Adds a site that a host may name. ERR_INVALID: bad claim; as sites_get().
 */
int sites_choose(struct sites *s, const char *claim, const char *host, const char **out,
		 struct err *e);

/*
 * Finds or adds a site. A site outside the configuration is added only if that names none
 * ("default" apart), and up to SITES_CLAIMED_MAX. So new hosts cannot start sms without limit.
 * ERR_INVALID, ERR_DENIED, ERR_LIMIT, ERR_NOMEM.
 */
int sites_get(struct sites *s, const char *name, struct site **out, struct err *e);
struct site *sites_find(const struct sites *s, const char *name);

enum site_answer {
	SITE_GO, /* site->address */
	SITE_START, /* start its sm now, call site_started(), then wait */
	SITE_WAIT,
	SITE_DIRECT, /* no sm is available for a while: serve the lm without one */
};

/* Called when an lm of the site needs its sm. */
enum site_answer site_ask(const struct sites *s, struct site *site, nsec_t now);

void site_started(struct sites *s, struct site *site, nsec_t now);

/*
 * The launcher ended before the sm connected, or could not run. Returns true if that was the last
 * try.
 */
bool site_start_failed(struct site *site, nsec_t now);

/* The sm is connected, at that address ("" = lost). -ERR_NOMEM. */
int site_set_address(struct site *site, const char *address);

const char *site_launcher(const struct sites *s, const struct site *site);

/* Matches '*' and '?' in the pattern, and nothing else; ignores case. Linear. */
bool site_pattern_matches(const char *pattern, size_t n, const char *host);

#endif
