/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/why/blocks.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/ring/seg.h"
#include "tools/waits/waits.h"
#include "tools/why/class.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void moment_done(struct moment *m)
{
	exchange_done(&m->calls);
	figures_read_done(&m->figures);
}

/* --- hosts */

void hosts_done(struct hosts *h)
{
	free(h->host);
	*h = (struct hosts){ 0 };
}

int64_t hosts_index(struct hosts *h, const struct top_sample *s, const char *token)
{
	const struct top_node *n = top_node_find(s, token);
	struct hosts_host *to;

	for (size_t i = 0; i < h->n; i++)
		if (str_eq(h->host[i].token, token))
			return (int64_t)i;
	if (array_grow(&h->host, &h->cap, h->n + 1, sizeof(*to), OMIS_OBJECTS_MAX))
		return -1;
	to = &h->host[h->n];
	str_copy(to->token, sizeof(to->token), token);
	str_copy(to->name, sizeof(to->name), n && n->name[0] ? n->name : token);
	to->processors = n && n->cpus > 0 ? n->cpus : (double)NAN;
	return (int64_t)h->n++;
}

/* --- ranks */

struct making {
	struct blocks_block *out;
	const struct moment *before, *now;
	const struct exchange *moved; /* the difference of their calls */
	const struct top_sample *ranks;
	struct hosts *hosts;
};

static void add_call(struct blocks_block *b, struct why_rank *r, const struct exchange_call *c)
{
	enum why_class class = class_of_call(c->func);

	r->delay[class] += c->seconds;
	r->calls[class] += c->count;
	r->bytes[class] += c->bytes;
	if (c->seconds > b->most[class]) {
		b->most[class] = c->seconds;
		b->call[class] = (int)c->func;
	}
}

static void add_figures(const struct making *m, const char *token, struct why_rank *r)
{
	static const enum figure of[WHY_FIGURES] = {
		[WHY_COMPUTE] = FIGURE_COMPUTE,		[WHY_RUN_DELAY] = FIGURE_RUN_DELAY,
		[WHY_SWITCHES] = FIGURE_SWITCHES,	[WHY_FAULTS] = FIGURE_FAULTS,
		[WHY_BLOCK_DELAY] = FIGURE_BLOCK_DELAY,
	};

	for (size_t i = 0; i < WHY_FIGURES; i++)
		r->figure[i] =
			figures_increase(&m->before->figures, &m->now->figures, token, of[i]);
}

/* A rank without calls in the block made none: its class totals are 0 and known. */
static bool add_rank(struct making *m, const struct exchange_rank *from)
{
	const struct top_rank *of = top_rank_find(m->ranks, from->token);
	int64_t host = hosts_index(m->hosts, m->ranks, of ? of->node : "");
	struct why_rank *r = &m->out->rank[m->out->block.nrank];

	if (host < 0)
		return false;
	why_rank_clear(r, from->rank, (uint32_t)host);
	r->seconds = from->seconds;
	for (size_t i = 0; i < WHY_CLASSES; i++)
		r->delay[i] = r->calls[i] = r->bytes[i] = 0;
	for (size_t i = 0; i < from->ncall; i++)
		add_call(m->out, r, &from->call[i]);
	add_figures(m, from->token, r);
	m->out->block.nrank++;
	return true;
}

static bool add_ranks(struct making *m)
{
	m->out->rank = calloc(m->moved->n + 1, sizeof(*m->out->rank));
	m->out->block.rank = m->out->rank;
	for (size_t i = 0; m->out->rank && i < m->moved->n; i++)
		if (!add_rank(m, &m->moved->rank[i]))
			return false;
	return m->out->rank;
}

/* --- hosts of a block */

static double share(double percent)
{
	return isnan(percent) ? percent : fmin(percent / 100, 1);
}

static void add_host(const struct making *m, size_t index)
{
	const struct hosts_host *from = &m->hosts->host[index];
	const struct figures_read *now = &m->now->figures;
	double *f = m->out->host[index].figure;
	double seconds = (double)(m->now->at - m->before->at) * 1e-9;

	why_host_clear(&m->out->host[index]);
	f[WHY_PROCESSORS] = from->processors;
	f[WHY_BUSY] = from->processors * share(figures_value(now, from->token, FIGURE_BUSY));
	f[WHY_STEAL] =
		figures_increase(&m->before->figures, now, from->token, FIGURE_STEAL) / seconds;
	f[WHY_CPU_PRESSURE] = share(figures_value(now, from->token, FIGURE_CPU_PRESSURE));
	f[WHY_MEMORY_PRESSURE] = share(figures_value(now, from->token, FIGURE_MEMORY_PRESSURE));
	f[WHY_IO_PRESSURE] = share(figures_value(now, from->token, FIGURE_IO_PRESSURE));
}

/* Sums of the ranks of a host; NaN if one of them is unknown. */
struct host_ranks {
	double busy; /* processors */
	double throttled; /* the greatest */
	double frequency;
	size_t n, nfrequency;
};

static void add_rank_to_host(const struct making *m, const struct why_rank *r,
			     struct host_ranks *to)
{
	const struct exchange_rank *of = exchange_find(m->moved, r->rank);
	double hz = figures_value(&m->now->figures, of->token, FIGURE_FREQUENCY);

	to->busy += r->seconds > 0 ? r->figure[WHY_COMPUTE] / r->seconds : (double)NAN;
	to->throttled = fmax(to->n ? to->throttled : (double)NAN,
			     figures_increase(&m->before->figures, &m->now->figures, of->token,
					      FIGURE_THROTTLED));
	to->n++;
	if (isnan(hz))
		return;
	to->frequency += hz;
	to->nfrequency++;
}

/* Processors busy without ranks of this job need the figures of all of its ranks on the host. */
static bool add_hosts(struct making *m)
{
	struct host_ranks *sum = calloc(m->hosts->n + 1, sizeof(*sum));
	struct why_block *b = &m->out->block;

	m->out->host = calloc(m->hosts->n + 1, sizeof(*m->out->host));
	for (size_t i = 0; sum && m->out->host && i < m->hosts->n; i++)
		add_host(m, i);
	for (size_t i = 0; sum && m->out->host && i < b->nrank; i++)
		add_rank_to_host(m, &b->rank[i], &sum[b->rank[i].host]);
	for (size_t i = 0; sum && m->out->host && i < m->hosts->n; i++) {
		double *f = m->out->host[i].figure;

		if (!sum[i].n)
			continue;
		f[WHY_FOREIGN] = f[WHY_BUSY] - sum[i].busy;
		if (f[WHY_FOREIGN] < 0)
			f[WHY_FOREIGN] = 0; /* within the steps of both clocks */
		f[WHY_THROTTLED] = sum[i].throttled;
		if (sum[i].nfrequency == sum[i].n)
			f[WHY_FREQUENCY] = sum[i].frequency / (double)sum[i].n;
	}
	free(sum);
	b->host = m->out->host;
	b->nhost = m->hosts->n;
	return m->out->host;
}

/* --- pairs */

static void add_traffic(const struct exchange_rank *of, struct why_pair *p)
{
	for (size_t i = 0; i < of->npair; i++) {
		const struct exchange_pair *from = &of->pair[i];

		if (from->partner != p->to || !(from->kinds & SEG_FOR_RECEIVE))
			continue;
		p->messages += from->count;
		p->bytes += from->bytes_in;
	}
}

static bool add_pairs(struct making *m)
{
	struct why_block *b = &m->out->block;
	struct waits w;

	if (!waits_make(&w, m->moved))
		return false;
	m->out->pair = calloc(w.nedge + 1, sizeof(*m->out->pair));
	b->pair = m->out->pair;
	for (size_t i = 0; m->out->pair && i < w.nedge && b->npair < WHY_PAIRS_MAX; i++) {
		const struct waits_edge *e = &w.edge[i];
		struct why_pair *p = &m->out->pair[b->npair];

		if (e->partner < 0 || e->partner == e->rank || !exchange_find(m->moved, e->partner))
			continue;
		/* Roots of collectives and targets are partners, too. */
		if (!(e->kinds & (SEG_FOR_RECEIVE | SEG_FOR_SEND)))
			continue;
		*p = (struct why_pair){ .from = e->rank,
					.to = e->partner,
					.is_send = !(e->kinds & SEG_FOR_RECEIVE),
					.least = e->least,
					.most = fmax(e->most, e->least) };
		add_traffic(exchange_find(m->moved, e->rank), p);
		b->npair++;
	}
	waits_done(&w);
	return m->out->pair;
}

/* --- all together */

bool blocks_make(struct blocks_block *out, const struct moment *before, const struct moment *now,
		 const struct top_sample *ranks, struct hosts *hosts)
{
	struct exchange moved;
	struct making m = { .out = out,
			    .before = before,
			    .now = now,
			    .moved = &moved,
			    .ranks = ranks,
			    .hosts = hosts };
	bool ok;

	*out = (struct blocks_block){ 0 };
	for (size_t i = 0; i < WHY_CLASSES; i++)
		out->call[i] = -1;
	if (!exchange_difference(&moved, &before->calls, &now->calls))
		return false;
	out->block.begin = before->at;
	out->block.end = now->at;
	out->block.world_size = now->calls.world_size;
	ok = add_ranks(&m) && add_hosts(&m) && add_pairs(&m);
	exchange_done(&moved);
	if (!ok)
		blocks_done(out);
	return ok;
}

void blocks_done(struct blocks_block *b)
{
	free(b->rank);
	free(b->host);
	free(b->pair);
	*b = (struct blocks_block){ 0 };
}

/* --- the last blocks */

static size_t size_of(const struct why_block *b)
{
	return b->nrank * sizeof(*b->rank) + b->nhost * sizeof(*b->host) +
	       b->npair * sizeof(*b->pair);
}

static void drop_first(struct kept *k)
{
	blocks_done(&k->block[0]);
	k->n--;
	memmove(k->block, k->block + 1, k->n * sizeof(*k->block));
}

void kept_add(struct kept *k, struct blocks_block *take)
{
	size_t bytes = size_of(&take->block);

	for (size_t i = 0; i < k->n; i++)
		bytes += size_of(&k->block[i].block);
	while (k->n && (k->n == KEPT_BLOCKS || bytes > KEPT_MAX_BYTES)) {
		bytes -= size_of(&k->block[0].block);
		drop_first(k);
	}
	k->block[k->n++] = *take;
	*take = (struct blocks_block){ 0 };
}

void kept_done(struct kept *k)
{
	while (k->n)
		drop_first(k);
}
