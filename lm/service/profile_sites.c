/* SPDX-License-Identifier: Apache-2.0 */
/* Call sites of all ranks of a host. The same place of a file is one site, wherever it is loaded.
 */
#include "lm/service/profile.h"

#include "common/base/array.h"
#include "common/base/hash.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/ring/calls.h"
#include "lm/instrument/calls.h"

#include <stdlib.h>
#include <string.h>

static const char *path_of(const struct totals *t, const struct total_frame *f)
{
	return f->module < 0 ? "" : t->module[f->module].path;
}

/* Keyed: a rank determines the hashed values. */
static uint64_t hash_of(const struct hash_key *key, const struct totals *t,
			const struct total_site *s)
{
	uint64_t h = hash_sip13_u64(key, (uint64_t)s->v.func << 32 | s->v.depth);

	for (unsigned i = 0; i < s->v.depth; i++) {
		const char *path = path_of(t, &s->frame[i]);

		h = hash_sip13_u64(key, h ^ hash_sip13(key, path, strlen(path)));
		h = hash_sip13_u64(key, h ^ s->frame[i].address);
	}
	return h;
}

static bool is_same(const struct totals *t, const struct total_site *s, const struct site *to)
{
	if (s->v.func != to->func || s->v.depth != to->depth)
		return false;
	for (unsigned i = 0; i < s->v.depth; i++)
		if (s->frame[i].address != to->address[i] ||
		    !str_eq(path_of(t, &s->frame[i]), to->path[i]))
			return false;
	return true;
}

static void fill(struct site *to, const struct proc *p, const struct totals *t,
		 const struct total_site *s)
{
	*to = (struct site){ .func = s->v.func, .depth = s->v.depth, .process = p->token };
	for (unsigned i = 0; i < s->v.depth; i++) {
		str_copy(to->path[i], sizeof(to->path[i]), path_of(t, &s->frame[i]));
		to->address[i] = s->frame[i].address;
	}
}

/* Returns NULL without memory, or without room, which is counted. */
static struct site *find(struct profile *f, const struct proc *p, const struct totals *t,
			 const struct total_site *s, int *rc)
{
	uint64_t hash = hash_of(&f->site_by_hash.key, t, s);
	uintptr_t number = (uintptr_t)map_find(&f->site_by_hash, hash);

	if (number && is_same(t, s, &f->site[number - 1]))
		return &f->site[number - 1];
	if (number || f->nsite == PROFILE_SITES_MAX) {
		f->left_out++;
		return NULL;
	}
	*rc = array_grow(&f->site, &f->site_cap, f->nsite + 1, sizeof(*f->site), PROFILE_SITES_MAX);
	if (!*rc)
		*rc = map_put(&f->site_by_hash, hash, (void *)(uintptr_t)(f->nsite + 1), NULL);
	if (*rc)
		return NULL;
	fill(&f->site[f->nsite], p, t, s);
	return &f->site[f->nsite++];
}

static const struct segview_site *before(const struct totals *mark, const struct total_site *s)
{
	static const struct segview_site none;
	const struct total_site *found = mark ? totals_site(mark, s) : NULL;

	return found ? &found->v : &none;
}

static void add(struct site *to, const struct sum *v, int32_t rank)
{
	struct sum *sum = &to->sum;

	if (!sum->ranks++ || v->delay_ns > sum->most_ns) {
		sum->most_ns = v->delay_ns;
		sum->most_rank = rank;
	}
	sum->count += v->count;
	sum->bytes_out += v->bytes_out;
	sum->bytes_in += v->bytes_in;
	sum->delay_ns += v->delay_ns;
}

int profile_add_sites(struct profile *f, const struct proc *p, const struct totals *t,
		      const struct totals *mark)
{
	const struct ticks_scale *scale = calls_scale(f->calls, p);
	int rc = 0;

	for (size_t i = 0; !rc && i < t->nsite; i++) {
		const struct segview_site *v = &t->site[i].v, *b = before(mark, &t->site[i]);
		const struct sum sum = {
			.count = profile_gained(v->count, b->count),
			.bytes_out = profile_gained(v->bytes_out, b->bytes_out),
			.bytes_in = profile_gained(v->bytes_in, b->bytes_in),
			.delay_ns = ticks_delta_to_nsec(scale, profile_gained(v->delay, b->delay)),
		};
		int64_t longest = ticks_delta_to_nsec(scale, v->longest);
		struct site *to = sum.count ? find(f, p, t, &t->site[i], &rc) : NULL;

		if (!to)
			continue;
		add(to, &sum, p->own.rank);
		if (longest > to->longest_ns)
			to->longest_ns = longest;
	}
	return rc;
}

static int compare(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return (x->sum.delay_ns < y->sum.delay_ns) - (x->sum.delay_ns > y->sum.delay_ns);
}

static void write_site(struct omis_writer *w, const struct site *s)
{
	omis_write_list(w);
	omis_write_string(w, call_get(s->func)->name);
	omis_write_token(w, s->process.s);
	OMIS_WRITE_INTS(w, (int64_t)s->sum.count, s->sum.delay_ns, s->longest_ns,
			(int64_t)s->sum.bytes_out, (int64_t)s->sum.bytes_in, s->sum.most_rank,
			s->sum.most_ns, s->sum.ranks);
	for (unsigned i = 0; i < s->depth; i++) {
		omis_write_list(w);
		omis_write_string(w, s->path[i]);
		omis_write_int(w, (int64_t)s->address[i]);
		omis_write_list_end(w);
	}
	omis_write_list_end(w);
}

void profile_write_sites(struct profile *f)
{
	if (f->nsite > 1)
		qsort(f->site, f->nsite, sizeof(*f->site), compare);
	for (size_t i = 0; i < f->nsite; i++) {
		size_t n = f->rows.n;

		if (call_get(f->site[i].func))
			write_site(&f->w, &f->site[i]);
		if (f->rows.n < PROFILE_ROWS_MAX_BYTES)
			continue;
		f->left_out += f->nsite - i; /* the sites with the least time */
		f->rows.n = n;
		break;
	}
}

void profile_sites_done(struct profile *f)
{
	map_done(&f->site_by_hash);
	free(f->site);
}
