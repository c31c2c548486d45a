/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes and call sites: sums of all ranks, which hosts have added up. The reading with most calls
 * is kept.
 */
#include "common/base/str.h"
#include "tools/cmd/summary/collect_internal.h"
#include "tools/profile/profile.h"

#include <math.h>

static uint64_t rounded(double v)
{
	return v > 0 ? (uint64_t)v : 0;
}

void collect_sizes(struct collect *c, const Omis_object_result *entries)
{
	struct profile p;
	bool is_newer;

	if (!profile_read(&p, PROFILE_SIZE, entries, NULL))
		return;
	is_newer = p.ranks && p.has_bytes && p.calls >= c->sized_calls;
	if (is_newer) {
		c->world.has_sizes = true;
		c->world.nsize = 0;
		c->sized_calls = p.calls;
	}
	for (size_t i = 0; is_newer && i < p.n; i++) {
		const struct profile_row *r = &p.row[i];
		struct summary_size *to = summary_add_size(&c->world);

		if (!to)
			break;
		str_copy(to->name, sizeof(to->name), r->name);
		to->from = r->size_from;
		to->to = r->size_to;
		to->count = rounded(r->calls);
		to->bytes = rounded(r->bytes);
		to->seconds = r->seconds > 0 ? r->seconds : 0;
	}
	profile_done(&p);
}

/* --- call sites */

static struct summary_site *find_site(struct collect *c, const char *name, const char *path,
				      int64_t address)
{
	char module[SUMMARY_TEXT_BYTES];

	str_show(module, sizeof(module), path);
	for (size_t i = 0; i < c->world.nsite; i++) {
		struct summary_site *v = &c->world.site[i];

		if (v->address == address && str_eq(v->module, module) &&
		    (!name || str_eq(v->name, name)))
			return v;
	}
	return NULL;
}

/* Places do not change, so each is requested once. */
void collect_places(struct collect *c, struct profile *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct profile_frame *f = p->row[i].nframe ? &p->row[i].frame[0] : NULL;
		const struct summary_site *v = f ? find_site(c, NULL, f->path, f->address) : NULL;

		for (size_t k = 1; k < p->row[i].nframe; k++)
			p->row[i].frame[k].is_asked = true; /* the callers are not shown */
		if (!v || (!v->function[0] && !v->source[0]))
			continue;
		f->is_asked = f->is_found = true;
		str_copy(f->function, sizeof(f->function), v->function);
		str_copy(f->source, sizeof(f->source), v->source);
	}
}

/*
 * Rows may differ in callers only, if another tool has requested callers: here they are one
 * site.
 */
static void add_site(struct collect *c, const struct profile_row *r)
{
	const struct profile_frame *f = &r->frame[0];
	struct summary_site *v = find_site(c, r->name, f->path, f->address);

	if (!v) {
		v = summary_add_site(&c->world);
		if (!v)
			return;
		str_show(v->name, sizeof(v->name), r->name);
		str_show(v->module, sizeof(v->module), f->path);
		v->address = f->address;
	}
	str_show(v->function, sizeof(v->function), f->function);
	str_show(v->source, sizeof(v->source), f->source);
	v->count += rounded(r->calls);
	v->bytes_out += rounded(r->bytes_out);
	v->bytes_in += rounded(r->bytes_in);
	v->seconds += r->seconds > 0 ? r->seconds : 0;
	v->longest_s = fmax(v->longest_s, r->longest_s); /* fmax() ignores NaN */
	if (r->ranks > (double)v->ranks)
		v->ranks = (int64_t)r->ranks;
	if (r->most_rank >= 0 && !(r->most_s <= v->most_s)) {
		v->most_rank = r->most_rank;
		v->most_s = r->most_s;
	}
}

void collect_sites(struct collect *c, const struct profile *p)
{
	if (!p->ranks || !p->has_sites || p->calls < c->sited_calls)
		return;
	c->world.has_sites = true;
	c->world.nsite = 0;
	c->sited_calls = p->calls > 0 ? p->calls : 0;
	for (size_t i = 0; i < p->n; i++)
		if (p->row[i].nframe && p->row[i].frame[0].address >= 0)
			add_site(c, &p->row[i]);
}

/* --- the end */

void collect_parts(struct collect *c, struct summary *s)
{
	struct summary *from = &c->world;

	s->size = from->size;
	s->nsize = from->nsize;
	s->size_cap = from->size_cap;
	s->has_sizes = from->has_sizes;
	s->site = from->site;
	s->nsite = from->nsite;
	s->site_cap = from->site_cap;
	s->has_sites = from->has_sites;
	from->size = NULL;
	from->site = NULL;
	from->nsize = from->size_cap = from->nsite = from->site_cap = 0;
}
