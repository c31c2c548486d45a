/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/directory/sites.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/container/map.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct sites {
	char *launcher; /* the default one */
	struct site **v; /* in the order of the configuration, then in that of their first hosts */
	size_t n, nclaimed, nconfigured;
	nsec_t claimed_start; /* when the sm of a claimed site was started last */
	const struct site *claimed_last; /* that site; NULL = never */
	struct smap by_name;
};

struct sites *sites_new(const char *default_launcher)
{
	struct sites *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	smap_init(&s->by_name);
	s->launcher = str_dup(default_launcher);
	s->v = calloc(SITES_MAX, sizeof(struct site *));
	if (!s->launcher || !s->v) {
		sites_free(s);
		return NULL;
	}
	return s;
}

static void site_free(struct site *site)
{
	if (!site)
		return;
	free(site->hosts);
	free(site->launcher);
	free(site->host);
	free(site->listen);
	free(site->address);
	free(site);
}

void sites_free(struct sites *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		site_free(s->v[i]);
	smap_done(&s->by_name);
	free(s->v);
	free(s->launcher);
	free(s);
}

static bool is_made_of(const char *s, size_t max, const char *extra)
{
	size_t n = strlen(s);

	if (n == 0 || n > max || s[0] == '-')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!(isalnum((unsigned char)s[i]) && (unsigned char)s[i] < 128) &&
		    !strchr(extra, s[i]))
			return false;
	return true;
}

bool site_name_is_valid(const char *name)
{
	return name[0] != '.' && is_made_of(name, SITE_NAME_MAX, "._-");
}

bool site_host_is_valid(const char *host)
{
	return is_made_of(host, NAME_MAX_BYTES, "._-:@");
}

struct site *sites_find(const struct sites *s, const char *name)
{
	return smap_find(&s->by_name, name);
}

static struct site *site_new(const char *name)
{
	struct site *site = calloc(1, sizeof(*site));

	if (!site)
		return NULL;
	str_copy(site->name, sizeof(site->name), name);
	site->hosts = str_dup("");
	site->launcher = str_dup("");
	site->host = str_dup("");
	site->listen = str_dup("");
	if (site->hosts && site->launcher && site->host && site->listen)
		return site;
	site_free(site);
	return NULL;
}

static int add(struct sites *s, const char *name, struct site **out, struct err *e)
{
	struct site *site;

	if (!site_name_is_valid(name))
		return err_set(e, ERR_INVALID,
			       "a site's name is made of letters, digits, '.', '_' and '-'");
	if (s->n >= SITES_MAX)
		return err_set(e, ERR_LIMIT, "there are %d sites already", SITES_MAX);
	site = site_new(name);
	if (!site || smap_put(&s->by_name, name, site, NULL)) {
		site_free(site);
		return err_nomem(e);
	}
	s->v[s->n++] = site;
	*out = site;
	return 0;
}

static int may_claim(const struct sites *s, const char *name, struct err *e)
{
	if (s->nconfigured)
		return err_set(
			e, ERR_DENIED,
			"there is no site %s: mainsm.conf has sections [site NAME], and none of that name",
			name);
	if (s->nclaimed >= SITES_CLAIMED_MAX)
		return err_set(
			e, ERR_LIMIT,
			"%d sites that no section of mainsm.conf names are enough: write [site %s] there",
			SITES_CLAIMED_MAX, name);
	return 0;
}

int sites_get(struct sites *s, const char *name, struct site **out, struct err *e)
{
	struct site *site = sites_find(s, name);
	bool is_claim = !site && !str_eq(name, SITE_DEFAULT);
	int rc = is_claim && site_name_is_valid(name) ? may_claim(s, name, e) : 0;

	if (!rc && !site)
		rc = add(s, name, &site, e);
	if (rc)
		return rc;
	s->nclaimed += is_claim;
	site->is_claimed |= is_claim;
	*out = site;
	return 0;
}

/* --- configuration */

struct site_words {
	struct site *site;
	char *hosts, *launcher, *host, *listen;
};

struct sites_change {
	struct sites *sites;
	size_t n;
	struct site_words v[];
};

void sites_change_free(struct sites_change *c)
{
	for (size_t i = 0; c && i < c->n; i++) {
		free(c->v[i].hosts);
		free(c->v[i].launcher);
		free(c->v[i].host);
		free(c->v[i].listen);
	}
	free(c);
}

static char *dup_or_empty(const char *text)
{
	return str_dup(text ? text : "");
}

static int read_words(struct sites *s, const struct site_conf *c, struct site_words *w,
		      struct err *e)
{
	int rc;

	if (c->host && c->host[0] && !site_host_is_valid(c->host))
		return err_set(e, ERR_INVALID, "site %s: this is not a host name", c->name);
	w->site = sites_find(s, c->name);
	rc = w->site ? 0 : add(s, c->name, &w->site, e);
	if (rc)
		return rc;
	w->hosts = dup_or_empty(c->hosts);
	w->launcher = dup_or_empty(c->launcher);
	w->host = dup_or_empty(c->host);
	w->listen = dup_or_empty(c->listen);
	return w->hosts && w->launcher && w->host && w->listen ? 0 : err_nomem(e);
}

int sites_prepare(struct sites *s, const struct site_conf *c, size_t n, struct sites_change **out,
		  struct err *e)
{
	struct sites_change *change = calloc(1, sizeof(*change) + n * sizeof(change->v[0]));
	int rc = change ? 0 : err_nomem(e);

	if (change)
		change->sites = s;
	for (size_t i = 0; i < n && !rc; i++)
		rc = read_words(s, &c[i], &change->v[change->n++], e);
	if (rc)
		sites_change_free(change);
	else
		*out = change;
	return rc;
}

static void exchange(char **a, char **b)
{
	char *was = *a;

	*a = *b;
	*b = was;
}

static void become_configured(struct sites *s, struct site *site)
{
	if (site->is_configured)
		return;
	site->is_configured = true;
	s->nconfigured++;
	if (site->is_claimed)
		s->nclaimed--;
	site->is_claimed = false;
}

void sites_commit(struct sites_change **take)
{
	struct sites_change *c = *take;

	for (size_t i = 0; i < c->n; i++) {
		become_configured(c->sites, c->v[i].site);
		exchange(&c->v[i].site->hosts, &c->v[i].hosts);
		exchange(&c->v[i].site->launcher, &c->v[i].launcher);
		exchange(&c->v[i].site->host, &c->v[i].host);
		exchange(&c->v[i].site->listen, &c->v[i].listen);
	}
	sites_change_free(c);
	*take = NULL;
}

int sites_configure(struct sites *s, const struct site_conf *c, struct err *e)
{
	struct sites_change *change = NULL;
	int rc = sites_prepare(s, c, 1, &change, e);

	if (!rc)
		sites_commit(&change);
	return rc;
}

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

bool site_pattern_matches(const char *pattern, size_t n, const char *host)
{
	size_t p = 0, star = SIZE_MAX, mark = 0, h = 0;

	/* At most one step back, to the place after the last star: linear, unlike recursion. */
	while (host[h]) {
		if (p < n && pattern[p] == '*') {
			star = ++p;
			mark = h;
		} else if (p < n && (pattern[p] == '?' || same_letter(pattern[p], host[h]))) {
			p++;
			h++;
		} else if (star != SIZE_MAX) {
			p = star;
			h = ++mark;
		} else {
			return false;
		}
	}
	while (p < n && pattern[p] == '*')
		p++;
	return p == n;
}

static bool matches_any(const char *patterns, const char *host)
{
	while (*patterns) {
		size_t n = strcspn(patterns, ", \t");

		if (n && site_pattern_matches(patterns, n, host))
			return true;
		patterns += n + (patterns[n] != 0);
	}
	return false;
}

int sites_choose(struct sites *s, const char *claim, const char *host, const char **out,
		 struct err *e)
{
	const char *name = claim;
	struct site *site;
	int rc;

	if (claim[0] && !site_name_is_valid(claim))
		return err_set(e, ERR_INVALID, "OMIG_SITE is not a name of a site");
	for (size_t i = 0; !name[0] && i < s->n; i++)
		if (matches_any(s->v[i]->hosts, host))
			name = s->v[i]->name;
	rc = sites_get(s, name[0] ? name : SITE_DEFAULT, &site, e);
	if (!rc)
		*out = site->name;
	return rc;
}

const char *site_launcher(const struct sites *s, const struct site *site)
{
	return site->launcher[0] ? site->launcher : s->launcher;
}

/* A shared sm is started from outside at an unknown time: waits for a while. */
static enum site_answer await_shared(struct site *site, nsec_t now)
{
	if (!site->tried_at)
		site->tried_at = now;
	return now - site->tried_at < SITE_SHARED_MAX_NS ? SITE_WAIT : SITE_DIRECT;
}

/* Sites that hosts have named wait for each other; configured ones and "default" do not wait. */
static bool is_next(const struct sites *s, const struct site *site, nsec_t now)
{
	return !site->is_claimed || !s->claimed_last || s->claimed_last == site ||
	       now - s->claimed_start >= SITE_CLAIMED_START_NS;
}

enum site_answer site_ask(const struct sites *s, struct site *site, nsec_t now)
{
	const char *launcher = site_launcher(s, site);

	if (site->address)
		return SITE_GO;
	if (!launcher[0] || str_eq(launcher, "none"))
		return SITE_DIRECT;
	if (str_eq(launcher, SITE_SHARED))
		return await_shared(site, now);
	if (site->is_starting && now - site->tried_at < SITE_START_MAX_NS)
		return SITE_WAIT;
	if (site->is_starting && site_start_failed(site, now))
		return SITE_DIRECT;
	if (site->is_resting && now - site->tried_at < SITE_REST_NS)
		return SITE_DIRECT;
	if (site->is_resting)
		site->tries = 0;
	site->is_resting = false;
	return is_next(s, site, now) ? SITE_START : SITE_WAIT;
}

void site_started(struct sites *s, struct site *site, nsec_t now)
{
	if (site->is_claimed) {
		s->claimed_start = now;
		s->claimed_last = site;
	}
	site->tries++;
	site->tried_at = now;
	site->is_starting = true;
}

bool site_start_failed(struct site *site, nsec_t now)
{
	if (!site->is_starting)
		return false;
	site->is_starting = false;
	site->is_resting = site->tries >= SITE_START_TRIES;
	site->tried_at = now;
	return site->is_resting;
}

int site_set_address(struct site *site, const char *address)
{
	char *copy = address[0] ? str_dup(address) : NULL;

	if (address[0] && !copy)
		return -ERR_NOMEM;
	free(site->address);
	site->address = copy;
	site->tried_at = 0;
	if (copy) {
		site->tries = 0;
		site->is_starting = site->is_resting = false;
	}
	return 0;
}
