/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/proc/totals_site.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>

struct taking {
	const struct segview *v;
	struct totals *t;
	struct seg_module module[SEG_MODULES]; /* start 0: there is none */
	int number[SEG_MODULES]; /* number in the totals, plus 1 */
	int rc;
};

static int add_module(struct taking *k, unsigned i)
{
	struct totals *t = k->t;
	struct total_module *m;

	k->rc = array_grow(&t->module, &t->module_cap, t->nmodule + 1, sizeof(*m), SEG_MODULES);
	if (k->rc)
		return -1;
	m = &t->module[t->nmodule++];
	m->build_id_bytes = k->module[i].build_id_bytes;
	memcpy(m->build_id, k->module[i].build_id, sizeof(m->build_id));
	str_copy(m->path, sizeof(m->path), k->module[i].path);
	k->number[i] = (int)t->nmodule;
	return (int)t->nmodule - 1;
}

static struct total_frame frame_of(struct taking *k, uint64_t pc)
{
	for (unsigned i = 0; i < SEG_MODULES; i++) {
		const struct seg_module *m = &k->module[i];

		if (m->start && pc >= m->start && pc < m->end)
			return (struct total_frame){
				.module = k->number[i] ? k->number[i] - 1 : add_module(k, i),
				.address = pc - m->bias,
			};
	}
	return (struct total_frame){ .module = -1, .address = pc };
}

static int compare(const void *a, const void *b)
{
	const struct segview_site *x = &((const struct total_site *)a)->v;
	const struct segview_site *y = &((const struct total_site *)b)->v;

	if (x->func != y->func)
		return x->func < y->func ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return memcmp(x->pc, y->pc, sizeof(x->pc));
}

const struct total_site *totals_site(const struct totals *t, const struct total_site *s)
{
	return t->nsite ? bsearch(s, t->site, t->nsite, sizeof(*s), compare) : NULL;
}

static void on_site(void *arg, const struct segview_site *s)
{
	struct taking *k = arg;
	struct totals *t = k->t;

	if (!k->rc)
		k->rc = array_grow(&t->site, &t->site_cap, t->nsite + 1, sizeof(*t->site),
				   SEG_SITES * SEG_THREADS_MAX);
	if (!k->rc)
		t->site[t->nsite++] = (struct total_site){ .v = *s };
}

/* Several threads have the same sites. */
static void join_sites(struct totals *t)
{
	size_t n = 0;

	if (t->nsite)
		qsort(t->site, t->nsite, sizeof(*t->site), compare);
	for (size_t i = 0; i < t->nsite; i++) {
		const struct segview_site *s = &t->site[i].v;
		struct segview_site *to = n ? &t->site[n - 1].v : NULL;

		if (!to || compare(&t->site[n - 1], &t->site[i])) {
			t->site[n++] = t->site[i];
			continue;
		}
		to->count += s->count;
		to->bytes_out += s->bytes_out;
		to->bytes_in += s->bytes_in;
		to->delay += s->delay;
		if (s->longest > to->longest)
			to->longest = s->longest;
	}
	t->nsite = n;
}

static void name_frames(struct taking *k)
{
	for (size_t i = 0; i < k->t->nsite && !k->rc; i++) {
		struct total_site *s = &k->t->site[i];

		for (unsigned d = 0; d < s->v.depth; d++)
			s->frame[d] = frame_of(k, s->v.pc[d]);
	}
}

int totals_take_sites(const struct segview *v, struct totals *t)
{
	struct taking k = { .v = v, .t = t };
	struct segview_thread th;

	for (unsigned i = 0; i < SEG_MODULES; i++)
		if (!segview_module(v, i, &k.module[i]))
			k.module[i].start = 0;
	for (unsigned i = 0; i < segview_threads(v) && !k.rc; i++) {
		if (segview_thread(v, i, &th) < 0 || !th.tid)
			continue;
		t->site_lost += th.site_lost;
		segview_sites(v, i, on_site, &k);
	}
	join_sites(t);
	name_frames(&k);
	return k.rc;
}
