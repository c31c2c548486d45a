/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: which one a host belongs to, and whether its sm is there, is being
 * started, or cannot be had. Pure: starting is the caller's, time is an
 * argument.
 */
#ifndef MAINSM_DIRECTORY_SITES_H
#define MAINSM_DIRECTORY_SITES_H

#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SITES_MAX 1024
/* of them that hosts name and no configuration, besides "default" */
#define SITES_CLAIMED_MAX 16
/* the sms of two claimed sites start this long apart */
#define SITE_CLAIMED_START_NS (5 * NSEC_PER_SEC)
#define SITE_NAME_MAX 63
#define SITE_START_TRIES 3 /* then its lms are served without an sm */
/* a batch system takes its time to place one task */
#define SITE_START_MAX_NS (15 * NSEC_PER_SEC)
#define SITE_REST_NS (60 * NSEC_PER_SEC) /* after the last try, before the next round of them */
#define SITE_DEFAULT "default" /* of hosts that nothing is said about */
#define SITE_SHARED "shared" /* launcher of a site whose admin runs an sm for many */
/* such an sm looks for its mainsms once a minute */
#define SITE_SHARED_MAX_NS (90 * NSEC_PER_SEC)
#define SITE_RETRY_MS 200 /* when an lm that waits asks again */

/* What the configuration says of a site; strings are copied. */
struct site_conf {
	const char *name;
	const char *hosts; /* patterns with * and ?, by commas or blanks; "" = none */
	const char *launcher; /* "" = the default one; "none": never start an sm */
	const char *host; /* where the sm runs, for {host}; "" = not given */
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

/* Letters, digits, '.', '_', '-', not first '-' or '.': it stands in command lines and paths. */
bool site_name_is_valid(const char *name);

/* A host name or address as launchers may be given: letters, digits, '.', '_', '-', ':', '@', not
 * first '-'. */
bool site_host_is_valid(const char *host);

/* What a configuration says of its sites, all of them or none: read by prepare, in force by
 * commit. */
struct sites_change;

/* Adds sites that it does not know yet, without a word about them. ERR_INVALID, ERR_LIMIT,
 * ERR_NOMEM. */
int sites_prepare(struct sites *s, const struct site_conf *c, size_t n, struct sites_change **out,
		  struct err *e);
void sites_commit(struct sites_change **take);
void sites_change_free(struct sites_change *c);

/* Both for one site. */
int sites_configure(struct sites *s, const struct site_conf *c, struct err *e);

/*
 * The site of a host: what it claims, else the first whose patterns match, else "default"; added
 * when a host may name one. ERR_INVALID: bad claim; as sites_get().
 */
int sites_choose(struct sites *s, const char *claim, const char *host, const char **out,
		 struct err *e);

/*
 * Found or added. A site outside the configuration is added only while that names none ("default"
 * apart), and up to SITES_CLAIMED_MAX: a new host cannot start sms without end. ERR_INVALID,
 * ERR_DENIED, ERR_LIMIT, ERR_NOMEM.
 */
int sites_get(struct sites *s, const char *name, struct site **out, struct err *e);
struct site *sites_find(const struct sites *s, const char *name);

enum site_answer {
	SITE_GO, /* site->address */
	SITE_START, /* start its sm now, say site_started(), then wait */
	SITE_WAIT,
	SITE_DIRECT, /* there will be none for a while: serve the lm without */
};

/* An lm of the site wants its sm. */
enum site_answer site_ask(const struct sites *s, struct site *site, nsec_t now);

void site_started(struct sites *s, struct site *site, nsec_t now);

/* The launcher ended, or could not be run, before the sm came. True: that was the last try. */
bool site_start_failed(struct site *site, nsec_t now);

/* The sm is here, at that address ("" = gone). -ERR_NOMEM. */
int site_set_address(struct site *site, const char *address);

const char *site_launcher(const struct sites *s, const struct site *site);

/* '*' and '?' in the pattern, no other magic; case of letters does not matter. Linear. */
bool site_pattern_matches(const char *pattern, size_t n, const char *host);

#endif
