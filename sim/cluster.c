/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/cluster.h"

#include <stdlib.h>

static int make_all(struct cluster *c, struct err *e)
{
	int rc = simtop_new(c->w, &c->top, e);

	for (unsigned i = 0; rc == 0 && i < c->conf.sites; i++)
		rc = simsite_new(c->w, i, &c->site[i], e);
	for (unsigned i = 0; rc == 0 && i < c->conf.hosts; i++)
		rc = simnode_new(c->w, i, simsite_name(c->site[i % c->conf.sites]), &c->node[i], e);
	for (unsigned i = 0; rc == 0 && i < c->conf.hosts; i++)
		for (unsigned k = 0; k < c->conf.ranks; k++)
			if (!cluster_begin_rank(c, i))
				rc = err_sys(e, "a process");
	return rc;
}

int cluster_open(struct world *w, const struct cluster_conf *conf, struct cluster *c, struct err *e)
{
	const struct mem_link how = { .delay = conf->delay, .jitter = conf->jitter };
	int rc;

	*c = (struct cluster){ .w = w, .conf = *conf };
	c->site = calloc(conf->sites, sizeof(struct simsite *));
	c->node = calloc(conf->hosts, sizeof(struct simnode *));
	rc = c->site && c->node ? mem_net_set_link(w->net, NULL, NULL, &how) : -ERR_NOMEM;
	rc = rc < 0 ? err_nomem(e) : make_all(c, e);
	if (rc < 0)
		cluster_close(c);
	return rc;
}

void cluster_close(struct cluster *c)
{
	for (unsigned i = 0; c->node && i < c->conf.hosts; i++)
		simnode_free(c->node[i]);
	for (unsigned i = 0; c->site && i < c->conf.sites; i++)
		simsite_free(c->site[i]);
	simtop_free(c->top);
	free(c->node);
	free(c->site);
	c->node = NULL;
	c->site = NULL;
	c->top = NULL;
}

/* A daemon that cannot read or write what it must says so and does not start. */
static int unless_in_trouble(const struct simdisk *d, int rc)
{
	return rc < 0 && simdisk_state(d) != SIMDISK_WELL ? 0 : rc;
}

int cluster_start(struct cluster *c, struct err *e)
{
	int rc = simtop_is_running(c->top) ? 0 : unless_in_trouble(simtop_disk(c->top), simtop_start(c->top, e));

	for (unsigned i = 0; rc == 0 && i < c->conf.sites; i++)
		if (!simsite_is_running(c->site[i]))
			rc = simsite_start(c->site[i], e);
	for (unsigned i = 0; rc == 0 && i < c->conf.hosts; i++)
		if (!simnode_is_running(c->node[i]))
			rc = unless_in_trouble(simnode_disk(c->node[i]), simnode_start(c->node[i], e));
	return rc;
}

struct simproc *cluster_begin_rank(struct cluster *c, unsigned node)
{
	size_t n = simhost_nproc(simnode_host(c->node[node]));

	return n < CLUSTER_RANKS_MAX ? simnode_begin(c->node[node], (int32_t)(node * CLUSTER_RANKS_MAX + n)) : NULL;
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

size_t cluster_alive(const struct cluster *c)
{
	size_t i = 0, n = 0;

	for (const struct simproc *p; (p = cluster_each_rank(c, &i));)
		n += p->is_alive;
	return n;
}
