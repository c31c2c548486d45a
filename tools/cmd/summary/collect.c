/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cmd/summary/collect_internal.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "tools/session/reply_each.h"
#include "tools/session/session.h"
#include "tools/libomis/tree_fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values of proc_get_info, in the order of COLLECT_PROC_FLAGS. */
enum { INFO_PID, INFO_CPU, INFO_RSS, INFO_AGE, INFO_ENDED, INFO_PARENT };
enum { CALL_NAME, CALL_CLASS, CALL_COUNT, CALL_DELAY, CALL_OPEN, CALL_OUT, CALL_IN };
enum { PARTNER_RANK = 1, PARTNER_COUNT, PARTNER_OUT, PARTNER_IN, PARTNER_DELAY, PARTNER_SHARED };

struct collect *collect_new(const char *job, nsec_t begun)
{
	struct collect *c = calloc(1, sizeof(*c));

	if (c) {
		str_copy(c->job, sizeof(c->job), job);
		c->begun = begun;
	}
	return c;
}

void collect_free(struct collect *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		free(c->member[i].p.call);
		free(c->member[i].p.partner);
		free(c->member[i].before);
	}
	free(c->member);
	summary_done(&c->world);
	free(c);
}

/* Services of one reply list processes in the same order. */
static struct member *find(struct collect *c, const char *token)
{
	for (size_t i = 0; i < c->n; i++) {
		struct member *m = &c->member[(c->cursor + i) % c->n];

		if (!str_eq(m->p.token, token))
			continue;
		c->cursor = (size_t)(m - c->member) + 1;
		return m;
	}
	return NULL;
}

/* A file's reader takes names only. */
void collect_name(char out[SUMMARY_NAME_BYTES], const char *s)
{
	str_show(out, SUMMARY_NAME_BYTES, s);
}

/* --- the tree */

static const char *host_of(const Omis_value *tree, const char *token)
{
	for (size_t i = 0; i < tree->n; i++)
		if (str_eq(value_text(&tree->list[i], TREE_TOKEN), token))
			return value_text(&tree->list[i], TREE_NAME);
	return "";
}

static struct member *add_member(struct collect *c, const char *token)
{
	struct member *m;

	if (array_grow(&c->member, &c->cap, c->n + 1, sizeof(*c->member), SUMMARY_PROCESSES_MAX)) {
		c->failed = true;
		return NULL;
	}
	m = &c->member[c->n++];
	*m = (struct member){ .section = NO_SECTION };
	m->p = (struct summary_process){
		.rank = -1, .exit_status = -1, .cpu_s = NAN, .rss_bytes = NAN
	};
	collect_name(m->p.token, token);
	return m;
}

static void add_object(struct collect *c, const Omis_value *tree, const Omis_value *o)
{
	const char *token = value_text(o, TREE_TOKEN), *state = value_text(o, TREE_STATE);
	struct member *m;

	if (!str_has_prefix(token, "p_") || !str_eq(value_text(o, TREE_JOB), c->job))
		return;
	m = find(c, token);
	if (!m && (m = add_member(c, token)))
		collect_name(m->p.host, host_of(tree, value_text(o, TREE_PARENT)));
	if (!m)
		return;
	collect_name(m->p.program, value_text(o, TREE_NAME));
	m->p.pid = value_int(o, TREE_PID);
	m->p.rank = value_int(o, TREE_RANK);
	m->world_size = value_int(o, TREE_WORLD);
	m->has_ended = str_eq(state, "ended");
	if (m->has_ended)
		m->p.exit_status = (int)value_int(o, TREE_EXIT);
}

void collect_tree(struct collect *c, const Omis_value *tree)
{
	c->cursor = 0;
	for (size_t i = 0; tree && tree->kind == OMIS_VALUE_LIST && i < tree->n; i++)
		add_object(c, tree, &tree->list[i]);
}

/* --- reports of hosts about processes */

static void add_info(void *arg, const char *token, const Omis_value *v)
{
	struct collect *c = arg;
	struct member *m = find(c, token);
	double age = value_float(v, INFO_AGE), ended = value_float(v, INFO_ENDED), cpu, rss;

	if (!m || !(age >= 0))
		return;
	cpu = value_float(v, INFO_CPU);
	rss = value_float(v, INFO_RSS);
	m->p.seconds = ended >= 0 ? fmax(0, age - ended) : age;
	if (!m->is_timed)
		m->p.began_s = c->now_s - age;
	m->is_timed = true;
	if (cpu >= 0)
		m->p.cpu_s = fmax(cpu, isnan(m->p.cpu_s) ? 0 : m->p.cpu_s);
	if (rss > 0)
		m->p.rss_bytes = fmax(rss, isnan(m->p.rss_bytes) ? 0 : m->p.rss_bytes);
	if (!m->parent)
		m->parent = value_int(v, INFO_PARENT);
	m->has_ended |= ended >= 0;
	if (m->has_ended && ended >= 0 && m->p.rank < 0)
		m->p.is_final = true;
}

/* --- sections */

static bool is_beside(const struct member *a, const struct member *b)
{
	return a->parent == b->parent && a->parent && str_eq(a->p.host, b->p.host);
}

static void find_siblings(struct collect *c)
{
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; !c->member[i].has_sibling && k < c->n; k++)
			c->member[i].has_sibling = k != i && c->member[k].p.rank >= 0 &&
						   is_beside(&c->member[i], &c->member[k]);
}

/* Returns how well a rank fits among those of a section: 0 not at all. */
static unsigned fit_of(const struct collect *c, size_t section, const struct member *m)
{
	unsigned fit = 1;

	if (c->world.section[section].world_size != m->world_size)
		return 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct member *o = &c->member[i];

		if (o->section != section)
			continue;
		if (o->p.rank == m->p.rank)
			return 0;
		if (is_beside(o, m))
			fit = 2;
		else if (o->has_sibling && m->has_sibling && str_eq(o->p.host, m->p.host))
			return 0;
	}
	return fit;
}

/*
 * Programs of one job may have the same size, one after the other or side by side. Ranks of one
 * program have different numbers, and one parent on each host unless a wrapper is in between.
 */
static void choose_section(struct collect *c, struct member *m)
{
	struct summary_section *of;
	unsigned best = 0;

	for (size_t i = 0; i < c->world.n; i++) {
		unsigned fit = fit_of(c, i, m);

		if (fit > best) {
			best = fit;
			m->section = i;
		}
	}
	if (best)
		return;
	of = summary_add_section(&c->world);
	if (!of) {
		c->failed = true;
		return;
	}
	of->world_size = m->world_size;
	m->section = c->world.n - 1;
}

static int by_begin(const void *a, const void *b)
{
	double of_a = (*(struct member *const *)a)->p.began_s,
	       of_b = (*(struct member *const *)b)->p.began_s;

	return (of_a > of_b) - (of_a < of_b);
}

static void choose_sections(struct collect *c)
{
	struct member **fresh = calloc(c->n + 1, sizeof(*fresh));
	size_t n = 0;

	for (size_t i = 0; fresh && i < c->n; i++) {
		struct member *m = &c->member[i];

		if (m->section == NO_SECTION && m->is_timed && m->p.rank >= 0 && m->world_size > 0)
			fresh[n++] = m;
	}
	if (n)
		find_siblings(c);
	if (n > 1)
		qsort(fresh, n, sizeof(struct member *), by_begin);
	for (size_t i = 0; i < n; i++)
		choose_section(c, fresh[i]);
	c->failed |= !fresh;
	free(fresh);
}

/* --- calls */

static void add_call(struct collect *c, struct member *m, const Omis_value *v)
{
	int index = summary_name(&c->world.section[m->section], value_text(v, CALL_NAME),
				 value_text(v, CALL_CLASS));
	struct summary_call *to = index < 0 ? NULL : summary_add_call(&m->p);

	if (!to) {
		c->failed = true;
		return;
	}
	*to = (struct summary_call){ .of = (unsigned)index,
				     .count = (uint64_t)value_int(v, CALL_COUNT),
				     .bytes_out = (uint64_t)value_int(v, CALL_OUT),
				     .bytes_in = (uint64_t)value_int(v, CALL_IN),
				     .seconds = fmax(0, value_float(v, CALL_DELAY) * 1e-9),
				     .is_open = value_int(v, CALL_OPEN) > 0 };
}

static void join(struct summary_partner *to, const Omis_value *v)
{
	to->count += (uint64_t)value_int(v, PARTNER_COUNT);
	if (value_int(v, PARTNER_OUT) > 0)
		to->sends += (uint64_t)value_int(v, PARTNER_COUNT);
	to->bytes_out += (uint64_t)value_int(v, PARTNER_OUT);
	to->bytes_in += (uint64_t)value_int(v, PARTNER_IN);
	to->seconds += fmax(0, value_float(v, PARTNER_DELAY) * 1e-9);
	if (value_at(v, PARTNER_SHARED))
		to->seconds += fmax(0, value_float(v, PARTNER_SHARED) * 1e-9);
}

/* Ranks below 0 are none. */
static void add_partner(struct collect *c, struct member *m, const Omis_value *v)
{
	int64_t rank = value_int(v, PARTNER_RANK);
	struct summary_partner *to = NULL;

	if (rank < 0)
		return;
	for (size_t i = 0; !to && i < m->p.npartner; i++)
		if (m->p.partner[i].rank == rank)
			to = &m->p.partner[i];
	if (!to && (to = summary_add_partner(&m->p)))
		to->rank = rank;
	if (to)
		join(to, v);
	else
		c->failed = true;
}

static void add_calls(void *arg, const char *token, const Omis_value *v)
{
	struct collect *c = arg;
	struct member *m = find(c, token);
	const Omis_value *line;

	if (!m || m->section == NO_SECTION || m->p.is_final)
		return;
	m->p.ncall = m->p.npartner = 0;
	for (size_t i = 1; (line = value_at(v, i)); i++) {
		const Omis_value *second = value_at(line, 1);

		if (second && second->kind == OMIS_VALUE_INT)
			add_partner(c, m, line);
		else
			add_call(c, m, line);
	}
	m->p.has_calls = true;
	m->p.is_final = m->has_ended;
}

/* --- slices */

/*
 * Adds a rank's values since its last slice. A smaller counter belongs to a new life of the
 * process.
 */
static void add_to_slice(struct collect *c, struct member *m, struct summary_slice *slice)
{
	size_t names = c->world.section[m->section].nname;

	if (!m->p.has_calls || m->p.seconds <= m->slice_end_s)
		return;
	if (array_grow(&m->before, &m->before_cap, names, sizeof(*m->before), SUMMARY_CALLS_MAX)) {
		c->failed = true;
		return;
	}
	slice->rank_s += m->p.seconds - m->slice_end_s;
	m->slice_end_s = m->p.seconds;
	for (size_t i = 0; i < m->p.ncall; i++) {
		const struct summary_call *call = &m->p.call[i];

		slice->seconds[call->of] += fmax(0, call->seconds - m->before[call->of]);
		m->before[call->of] = call->seconds;
	}
}

/* The first slice begins with the first rank. */
static double slice_begin(const struct collect *c, size_t section)
{
	double begin = c->now_s;

	if (c->world.section[section].nslice)
		return c->slice_begin_s;
	for (size_t i = 0; i < c->n; i++)
		if (c->member[i].section == section)
			begin = fmin(begin, c->member[i].p.began_s);
	return begin;
}

static void add_slices(struct collect *c)
{
	for (size_t i = 0; i < c->world.n; i++) {
		struct summary_section *of = &c->world.section[i];
		struct summary_slice slice = { .begin_s = slice_begin(c, i),
					       .end_s = c->now_s,
					       .seconds = calloc(of->nname + 1, sizeof(double)),
					       .n = of->nname };

		for (size_t k = 0; slice.seconds && k < c->n; k++)
			if (c->member[k].section == i)
				add_to_slice(c, &c->member[k], &slice);
		c->failed |= !slice.seconds;
		if (slice.rank_s > 0)
			summary_add_slice(of, &slice);
		else
			free(slice.seconds);
	}
}

bool collect_reply(struct collect *c, const Omis_object_result *info,
		   const Omis_object_result *calls, nsec_t now)
{
	c->failed = false;
	c->now_s = (double)(now - c->begun) / 1e9;
	c->cursor = 0;
	reply_each(info, add_info, c);
	choose_sections(c);
	c->cursor = 0;
	reply_each(calls, add_calls, c);
	add_slices(c);
	c->slice_begin_s = c->now_s;
	return !c->failed;
}

/* --- the end */

static size_t members_of(const struct collect *c, size_t section)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->member[i].section == section;
	return n;
}

bool collect_has_any(const struct collect *c)
{
	return c->n;
}

bool collect_is_complete(const struct collect *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (!c->member[i].p.is_final)
			return false;
	for (size_t i = 0; i < c->world.n; i++)
		if ((int64_t)members_of(c, i) < c->world.section[i].world_size)
			return false;
	return c->n;
}

static void note_ranks(const struct summary_section *of, struct summary *s)
{
	size_t last = 0, unknown = 0;
	double oldest = 0;
	const struct summary_process *first = NULL;

	for (size_t i = 0; i < of->n; i++) {
		const struct summary_process *p = &of->process[i];

		if (!p->has_calls) {
			unknown++;
		} else if (!p->is_final) {
			first = first && first->rank < p->rank ? first : p;
			oldest = fmax(oldest, s->seconds - p->began_s - p->seconds);
			last++;
		}
	}
	if ((int64_t)of->n < of->world_size)
		summary_note(s, "%lld of %lld ranks of %s were not seen",
			     (long long)(of->world_size - (int64_t)of->n),
			     (long long)of->world_size, of->n ? of->process[0].program : "MPI");
	if (unknown)
		summary_note(s, "the calls of %zu rank%s could not be read", unknown,
			     unknown == 1 ? "" : "s");
	if (last)
		summary_note(
			s,
			"%zu rank%s, first rank %lld on %s: last values from up to %.1f s before the end",
			last, last == 1 ? "" : "s", (long long)first->rank, first->host, oldest);
}

static bool move_members(struct collect *c, size_t section, struct summary_section *to,
			 bool has_partners)
{
	for (size_t i = 0; i < c->n; i++) {
		struct member *m = &c->member[i];
		struct summary_process *p;

		if (m->section != section || !m->is_timed)
			continue;
		p = summary_add_process(to);
		if (!p)
			return false;
		*p = m->p;
		p->has_partners = has_partners && p->has_calls;
		summary_fold_partners(p);
		m->p.call = NULL;
		m->p.partner = NULL;
	}
	return true;
}

/* Programs without MPI, which have no calls. */
static bool add_others(struct collect *c, struct summary *s)
{
	struct summary_section *of;

	if (!members_of(c, NO_SECTION))
		return true;
	of = summary_add_section(s);
	return of && move_members(c, NO_SECTION, of, false);
}

bool collect_end(struct collect *c, struct summary *s, bool has_partners)
{
	bool ok = true;

	for (size_t i = 0; ok && i < c->world.n; i++) {
		struct summary_section *from = &c->world.section[i], *to = summary_add_section(s);

		ok = to;
		if (!ok)
			break;
		*to = *from;
		*from = (struct summary_section){ 0 };
		ok = move_members(c, i, to, has_partners);
		note_ranks(to, s);
	}
	ok = ok && add_others(c, s);
	collect_parts(c, s);
	summary_sort(s);
	return ok;
}
