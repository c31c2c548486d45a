/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/nodes/cluster.h"

#include "sm/hosts/nodes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LEVEL_SETTLE_NS NSEC_PER_SEC /* a daemon that waits for an sm retries each half second */

unsigned cluster_below(unsigned sites, unsigned hosts, unsigned levels)
{
	double each = pow(ceil((double)hosts / sites), 1.0 / levels);

	return each > 2 ? (unsigned)round(each) : 2;
}

/* Returns the index of the first sm of that level. Level 0 has the sms of the sites. */
static unsigned level_begin(const struct cluster_conf *c, unsigned level)
{
	unsigned begin = 0, n = c->sites;

	for (; level; level--, n *= c->below)
		begin += n;
	return begin;
}

static unsigned level_of(const struct cluster *c, unsigned sm)
{
	unsigned level = 0;

	while (sm >= level_begin(&c->conf, level + 1))
		level++;
	return level;
}

/* Returns the index of the parent of an sm below the sm of a site. */
static unsigned parent_of(const struct cluster *c, unsigned sm)
{
	unsigned level = level_of(c, sm);

	return level_begin(&c->conf, level - 1) +
	       (sm - level_begin(&c->conf, level)) / c->conf.below;
}

const char *cluster_above(const struct cluster *c, unsigned sm)
{
	return sm < c->conf.sites ? WORLD_TOP : simsite_host(c->site[parent_of(c, sm)]);
}

static int make_site(struct cluster *c, unsigned number, struct err *e)
{
	char site[SIMSITE_NAME_BYTES], host[SIMSITE_NAME_BYTES];

	snprintf(site, sizeof(site), SIMTOP_SITE, number);
	snprintf(host, sizeof(host), "sm%u", number);
	return simsite_new(c->w,
			   &(struct simsite_conf){ .site = site,
						   .host = host,
						   .is_diskless = c->conf.are_diskless },
			   &c->site[number], e);
}

/*
 * Makes an sm below another one. mainsm names the sm of the site as its parent; any other parent is
 * in its configuration.
 */
static int make_below(struct cluster *c, unsigned number, struct err *e)
{
	const struct simsite *parent = c->site[parent_of(c, number)];
	char host[SIMSITE_NAME_BYTES], address[SIMSITE_NAME_BYTES + 8] = "";

	snprintf(host, sizeof(host), "%.20s-%u", simsite_host(parent), number % c->conf.below);
	if (level_of(c, number) > 1)
		snprintf(address, sizeof(address), "%s:%d", simsite_host(parent), SIMSITE_PORT);
	return simsite_new(c->w,
			   &(struct simsite_conf){ simsite_name(parent), host, true,
						   c->conf.are_diskless, address },
			   &c->site[number], e);
}

static int make_all(struct cluster *c, struct err *e)
{
	int rc = simtop_new(c->w, c->conf.tool_queue, c->conf.sites, &c->top, e);

	for (unsigned i = 0; !rc && i < c->sms; i++)
		rc = i < c->conf.sites ? make_site(c, i, e) : make_below(c, i, e);
	for (unsigned i = 0; !rc && i < c->conf.hosts; i++)
		rc = simnode_new(
			c->w,
			&(struct simnode_conf){ .number = i,
						.site = simsite_name(c->site[i % c->conf.sites]),
						.is_diskless = c->conf.are_diskless },
			&c->node[i], e);
	for (unsigned i = 0; !rc && i < c->conf.hosts; i++)
		for (unsigned k = 0; k < c->conf.ranks; k++)
			if (!cluster_begin_rank(c, i))
				rc = err_sys(e, "a process");
	return rc;
}

int cluster_open(struct world *w, const struct cluster_conf *conf, struct cluster *c, struct err *e)
{
	const struct mem_link how = { .delay = conf->delay, .jitter = conf->jitter };
	int rc;

	if (conf->hosts > conf->sites * NODES_MAX)
		return err_set(e, ERR_LIMIT,
			       "an sm accepts %d hosts at most: %u hosts need %u sites", NODES_MAX,
			       conf->hosts, (conf->hosts + NODES_MAX - 1) / NODES_MAX);
	*c = (struct cluster){ .w = w, .conf = *conf };
	c->sms = level_begin(conf, conf->levels);
	c->site = calloc(c->sms, sizeof(struct simsite *));
	c->node = calloc(conf->hosts, sizeof(struct simnode *));
	rc = c->site && c->node ? mem_net_set_link(w->net, NULL, NULL, &how) : -ERR_NOMEM;
	rc = rc ? err_nomem(e) : make_all(c, e);
	if (rc)
		cluster_close(c);
	else
		c->step = simtop_clock(c->top)->step;
	return rc;
}

bool cluster_keeps_time(const struct cluster *c)
{
	return simtop_clock(c->top)->step == c->step;
}

void cluster_close(struct cluster *c)
{
	for (unsigned i = 0; c->node && i < c->conf.hosts; i++)
		simnode_free(c->node[i]);
	for (unsigned i = 0; c->site && i < c->sms; i++)
		simsite_free(c->site[i]);
	simtop_free(c->top);
	free(c->node);
	free(c->site);
	c->node = NULL;
	c->site = NULL;
	c->top = NULL;
}

/* Accepts that a daemon does not start while its disk has a fault. */
static int unless_in_trouble(const struct simdisk *d, int got)
{
	return got < 0 && d && simdisk_state(d) != SIMDISK_WELL ? 0 : got;
}

static int start_until(struct cluster *c, unsigned end, struct err *e)
{
	int rc = simtop_is_running(c->top)
			 ? 0
			 : unless_in_trouble(simtop_disk(c->top), simtop_start(c->top, e));

	for (unsigned i = 0; !rc && i < end; i++)
		if (!simsite_is_running(c->site[i]))
			rc = unless_in_trouble(simsite_disk(c->site[i]),
					       simsite_start(c->site[i], e));
	return rc;
}

int cluster_start_sms(struct cluster *c, struct err *e)
{
	int rc = 0;

	for (unsigned level = 1; !rc && level <= c->conf.levels; level++) {
		rc = start_until(c, level_begin(&c->conf, level), e);
		loop_advance(c->w->loop, !rc ? LEVEL_SETTLE_NS : 0);
	}
	return rc;
}

int cluster_start(struct cluster *c, struct err *e)
{
	int rc = start_until(c, c->sms, e);

	for (unsigned i = 0; !rc && i < c->conf.hosts; i++)
		if (!simnode_is_running(c->node[i]))
			rc = unless_in_trouble(simnode_disk(c->node[i]),
					       simnode_start(c->node[i], e));
	return rc;
}

struct simproc *cluster_begin_rank(struct cluster *c, unsigned node)
{
	size_t n = simhost_nproc(simnode_host(c->node[node]));

	return n < CLUSTER_RANKS_MAX
		       ? simnode_begin(c->node[node], (int32_t)(node * CLUSTER_RANKS_MAX + n))
		       : NULL;
}

struct simproc *cluster_rank(const struct cluster *c, int64_t rank)
{
	size_t node = (size_t)rank / CLUSTER_RANKS_MAX, i = (size_t)rank % CLUSTER_RANKS_MAX;

	if (rank < 0 || node >= c->conf.hosts || i >= simhost_nproc(simnode_host(c->node[node])))
		return NULL;
	return simhost_proc(simnode_host(c->node[node]), i);
}

struct simproc *cluster_each_rank(const struct cluster *c, size_t *i)
{
	struct simproc *p = NULL;

	while (!p && *i < (size_t)c->conf.hosts * CLUSTER_RANKS_MAX)
		p = cluster_rank(c, (int64_t)(*i)++);
	return p;
}

size_t cluster_hosts_below(const struct cluster *c, const struct simsite **lost)
{
	size_t lms = 0;

	*lost = NULL;
	for (unsigned i = 0; i < c->sms; i++) {
		struct sm_counts n;

		simsite_counts(c->site[i], &n);
		lms += i < c->conf.sites ? n.lms : 0;
		if (!n.is_up && !*lost)
			*lost = c->site[i];
	}
	return lms;
}

size_t cluster_alive(const struct cluster *c)
{
	size_t i = 0, n = 0;

	for (const struct simproc *p; (p = cluster_each_rank(c, &i));)
		n += p->is_alive;
	return n;
}
