/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps counters of an exporter from decreasing.
 *
 * A reader takes a smaller value for a new count from zero. A process that leaves a sum would look
 * like a burst of work. So a process that ended remains in the sum of its job and node. A process
 * whose host is silent keeps its last value. A count that restarts at 0 is added to the count
 * before.
 */
#include "tools/export/export.h"

#include "common/base/limits.h"
#include "common/base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SILENT_MAX_NS (3600 * NSEC_PER_SEC) /* then a missing process counts as ended */
#define EMPTY_MAX_NS (600 * NSEC_PER_SEC) /* a reader calls a series stale after five minutes */
#define KEY_BYTES (EXPORT_NAME_BYTES + 2 * TOP_NAME_BYTES)
#define FIGURES (sizeof(struct export_counters) / sizeof(double))

/* Returns counter i of the struct, whose members are doubles without gaps. */
static double *each(struct export_counters *f, size_t i)
{
	return i ? &f->mpi[0][0] + (i - 1) : &f->cpu_s;
}

static void add(struct export_counters *to, const struct export_counters *more)
{
	to->cpu_s += more->cpu_s;
	for (size_t k = 0; k < EXPORT_KINDS; k++)
		for (size_t i = 0; i < TOP_CLASSES; i++)
			to->mpi[k][i] += more->mpi[k][i];
}

void export_totals_init(struct export_totals *k)
{
	memset(k, 0, sizeof(*k));
	smap_init(&k->process);
	smap_init(&k->group);
}

void export_totals_done(struct export_totals *k)
{
	for (struct smap_iter i = { 0 }; smap_next(&k->process, &i);)
		free(i.value);
	for (struct smap_iter i = { 0 }; smap_next(&k->group, &i);)
		free(i.value);
	smap_done(&k->process);
	smap_done(&k->group);
}

void export_totals_begin(struct export_totals *k)
{
	k->forgotten = 0;
	for (struct smap_iter i = { 0 }; smap_next(&k->process, &i);)
		((struct export_process *)i.value)->is_seen = false;
}

/* --- finding */

static const char *group_key(char *out, const struct export_place *at)
{
	snprintf(out, KEY_BYTES, "%.*s\n%.*s\n%.*s", EXPORT_NAME_BYTES - 1, at->job,
		 TOP_NAME_BYTES - 1, at->site, TOP_NAME_BYTES - 1,
		 at->node); /* no name has a line end */
	return out;
}

static struct export_group *group_of(struct export_totals *k, const struct export_place *at)
{
	char key[KEY_BYTES];
	struct export_group *g = smap_find(&k->group, group_key(key, at));

	if (g)
		return g;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	str_copy(g->job, sizeof(g->job), at->job);
	str_copy(g->site, sizeof(g->site), at->site);
	str_copy(g->node, sizeof(g->node), at->node);
	if (!smap_put(&k->group, key, g, NULL))
		return g;
	free(g);
	return NULL;
}

static struct export_process *process_of(struct export_totals *k, const char *token,
					 const struct export_place *at)
{
	struct export_process *p = smap_find(&k->process, token);
	struct export_group *g;

	if (p)
		return p;
	g = k->process.n < EXPORT_PROCS_MAX ? group_of(k, at) : NULL;
	p = g ? calloc(1, sizeof(*p)) : NULL;
	if (!p || smap_put(&k->process, token, p, NULL)) {
		free(p);
		k->forgotten++;
		return NULL;
	}
	str_copy(p->token, sizeof(p->token), token);
	p->group = g;
	g->processes++;
	return p;
}

/* --- noting */

static void counters_of(const struct top_rank *r, struct export_counters *f)
{
	f->cpu_s = r->cpu_s;
	for (size_t i = 0; i < TOP_CLASSES; i++) {
		f->mpi[EXPORT_CALLS][i] = r->class_calls[i];
		f->mpi[EXPORT_TIME_NS][i] = r->delay_ns[i];
		f->mpi[EXPORT_OUT][i] = r->class_out[i];
		f->mpi[EXPORT_IN][i] = r->class_in[i];
	}
}

static bool is_new_count(const struct export_process *p, const struct export_counters *now)
{
	for (size_t i = 0; i < TOP_CLASSES; i++)
		if (now->mpi[EXPORT_CALLS][i] < p->last.mpi[EXPORT_CALLS][i])
			return true;
	return false;
}

/*
 * Calls only grow: when those of one class decrease, all counters have restarted. A time may
 * decrease by itself, since the time in an open call is an estimate.
 */
static bool follow(struct export_process *p, struct export_counters *now, bool has_counts)
{
	bool is_new = has_counts && is_new_count(p, now);

	for (size_t i = 0; i < FIGURES; i++) {
		double *v = each(now, i), *last = each(&p->last, i);

		if (i && is_new)
			*each(&p->base, i) += *last;
		else if (isnan(*v) || *v < *last || (i && !has_counts))
			*v = *last;
		*last = *v;
	}
	return is_new;
}

int export_totals_add(struct export_totals *k, const struct top_rank *r,
		      const struct export_place *at, nsec_t now)
{
	struct export_process *p = process_of(k, r->token, at);
	struct export_counters f;

	if (!p)
		return -ERR_LIMIT;
	counters_of(r, &f);
	k->resets += follow(p, &f, r->time_ns != 0); /* 0: the counters are unknown */
	str_copy(p->program, sizeof(p->program), r->program);
	p->rank = r->rank;
	p->pid = r->pid;
	p->rss_bytes = r->rss_bytes;
	p->has_ended = top_rank_has_ended(r);
	p->is_seen = true;
	p->seen = p->group->seen = now;
	return 0;
}

/* --- the end of a sample */

static void sum_up(struct export_process *p)
{
	struct export_group *g = p->group;

	add(&g->sum, &p->base);
	add(&g->sum, &p->last);
	if (!p->is_seen || p->has_ended)
		return;
	g->running++;
	if (!isnan(p->rss_bytes))
		g->rss_bytes += p->rss_bytes;
}

static bool is_over(const struct export_process *p, nsec_t now)
{
	return !p->is_seen && (p->has_ended || now - p->seen > SILENT_MAX_NS);
}

static void fold(struct export_totals *k, struct export_process *p)
{
	add(&p->group->gone, &p->base);
	add(&p->group->gone, &p->last);
	p->group->processes--;
	smap_del(&k->process, p->token);
	free(p);
}

void export_totals_end(struct export_totals *k, nsec_t now)
{
	struct export_group *g;

	for (struct smap_iter i = { 0 }; smap_next(&k->process, &i);)
		if (is_over(i.value, now))
			fold(k, i.value);
	for (struct smap_iter i = { 0 }; smap_next(&k->group, &i);) {
		g = i.value;
		if (!g->processes && now - g->seen > EMPTY_MAX_NS) {
			free(smap_del(&k->group, i.key));
			continue;
		}
		g->sum = g->gone;
		g->running = 0;
		g->rss_bytes = 0;
	}
	for (struct smap_iter i = { 0 }; smap_next(&k->process, &i);)
		sum_up(i.value);
}

/* --- in order */

static int compare_groups(const struct export_group *a, const struct export_group *b)
{
	int d = strcmp(a->job, b->job);

	d = d ? d : strcmp(a->site, b->site);
	return d ? d : strcmp(a->node, b->node);
}

static int by_place(const void *a, const void *b)
{
	return compare_groups(*(struct export_group *const *)a, *(struct export_group *const *)b);
}

static int by_rank(const void *pa, const void *pb)
{
	const struct export_process *a = *(struct export_process *const *)pa,
				    *b = *(struct export_process *const *)pb;
	int d = strcmp(a->group->job, b->group->job);

	if (!d && a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return d ? d : strcmp(a->token, b->token);
}

static void *sorted(const struct smap *m, size_t *n, int (*compare)(const void *, const void *))
{
	void **v = calloc(m->n + 1, sizeof(*v));
	size_t at = 0;

	for (struct smap_iter i = { 0 }; v && smap_next(m, &i);)
		v[at++] = i.value;
	*n = at;
	if (at > 1)
		qsort(v, at, sizeof(*v), compare);
	return v;
}

struct export_group **export_totals_groups(const struct export_totals *k, size_t *n)
{
	return sorted(&k->group, n, by_place);
}

struct export_process **export_totals_processes(const struct export_totals *k, size_t *n)
{
	return sorted(&k->process, n, by_rank);
}
