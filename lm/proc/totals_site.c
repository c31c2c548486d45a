/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/proc/totals_site.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <string.h>

struct taking {
	const struct segview *v;
	struct totals *t;
	struct seg_module module[SEG_MODULES]; /* start 0: there is none */
	int number[SEG_MODULES]; /* in the totals, plus 1 */
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

static bool is_same(const struct segview_site *a, const struct segview_site *b)
{
	return a->func == b->func && a->depth == b->depth && !memcmp(a->pc, b->pc, sizeof(a->pc));
}

static struct total_site *find(struct taking *k, const struct segview_site *s)
{
	struct totals *t = k->t;
	struct total_site *to;

	for (size_t i = 0; i < t->nsite; i++)
		if (is_same(&t->site[i].v, s))
			return &t->site[i];
	k->rc = array_grow(&t->site, &t->site_cap, t->nsite + 1, sizeof(*to),
			   SEG_SITES * SEG_THREADS_MAX);
	if (k->rc)
		return NULL;
	to = &t->site[t->nsite++];
	*to = (struct total_site){ .v = { .func = s->func, .depth = s->depth } };
	memcpy(to->v.pc, s->pc, sizeof(s->pc));
	for (unsigned i = 0; i < s->depth; i++)
		to->frame[i] = frame_of(k, s->pc[i]);
	return to;
}

static void on_site(void *arg, const struct segview_site *s)
{
	struct taking *k = arg;
	struct total_site *to = k->rc ? NULL : find(k, s);

	if (!to)
		return;
	to->v.count += s->count;
	to->v.bytes_out += s->bytes_out;
	to->v.bytes_in += s->bytes_in;
	to->v.delay += s->delay;
	if (s->longest > to->v.longest)
		to->v.longest = s->longest;
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
	return k.rc;
}
