/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/summary/summary.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void section_done(struct summary_section *of)
{
	for (size_t i = 0; i < of->n; i++) {
		free(of->process[i].call);
		free(of->process[i].partner);
	}
	for (size_t i = 0; i < of->nslice; i++)
		free(of->slice[i].seconds);
	free(of->process);
	free(of->name);
}

void summary_done(struct summary *s)
{
	for (size_t i = 0; i < s->n; i++)
		section_done(&s->section[i]);
	free(s->section);
	free(s->note);
	free(s->size);
	free(s->site);
	*s = (struct summary){ 0 };
}

struct summary_section *summary_add_section(struct summary *s)
{
	if (array_grow(&s->section, &s->cap, s->n + 1, sizeof(*s->section), SUMMARY_SECTIONS_MAX))
		return NULL;
	s->section[s->n] = (struct summary_section){ 0 };
	return &s->section[s->n++];
}

struct summary_process *summary_add_process(struct summary_section *of)
{
	struct summary_process *p;

	if (array_grow(&of->process, &of->cap, of->n + 1, sizeof(*p), SUMMARY_PROCESSES_MAX))
		return NULL;
	p = &of->process[of->n++];
	*p = (struct summary_process){
		.rank = -1, .exit_status = -1, .cpu_s = NAN, .rss_bytes = NAN
	};
	return p;
}

struct summary_size *summary_add_size(struct summary *s)
{
	if (array_grow(&s->size, &s->size_cap, s->nsize + 1, sizeof(*s->size), SUMMARY_SIZES_MAX))
		return NULL;
	s->size[s->nsize] = (struct summary_size){ .to = -1 };
	return &s->size[s->nsize++];
}

struct summary_site *summary_add_site(struct summary *s)
{
	if (array_grow(&s->site, &s->site_cap, s->nsite + 1, sizeof(*s->site), SUMMARY_SITES_MAX))
		return NULL;
	s->site[s->nsite] =
		(struct summary_site){ .longest_s = NAN, .most_rank = -1, .most_s = NAN };
	return &s->site[s->nsite++];
}

void summary_place(const struct summary_site *v, struct buf *out)
{
	const char *base = strrchr(v->module, '/');

	if (v->function[0] || v->source[0])
		buf_printf(out, "%s%s%s", v->function, v->function[0] && v->source[0] ? " " : "",
			   v->source);
	else
		buf_printf(out, "%s+0x%llx",
			   base		  ? base + 1
			   : v->module[0] ? v->module
					  : "?",
			   (unsigned long long)v->address);
}

struct summary_call *summary_add_call(struct summary_process *p)
{
	if (array_grow(&p->call, &p->call_cap, p->ncall + 1, sizeof(*p->call), SUMMARY_CALLS_MAX))
		return NULL;
	p->call[p->ncall] = (struct summary_call){ 0 };
	return &p->call[p->ncall++];
}

struct summary_partner *summary_add_partner(struct summary_process *p)
{
	if (array_grow(&p->partner, &p->partner_cap, p->npartner + 1, sizeof(*p->partner),
		       SUMMARY_PROCESSES_MAX))
		return NULL;
	p->partner[p->npartner] = (struct summary_partner){ 0 };
	return &p->partner[p->npartner++];
}

int summary_name(struct summary_section *of, const char *name, const char *class)
{
	int rc;

	for (size_t i = 0; i < of->nname; i++)
		if (str_eq(of->name[i].name, name))
			return (int)i;
	rc = array_grow(&of->name, &of->name_cap, of->nname + 1, sizeof(*of->name),
			SUMMARY_CALLS_MAX);
	if (rc)
		return rc;
	str_copy(of->name[of->nname].name, SUMMARY_NAME_BYTES, name);
	str_copy(of->name[of->nname].class, SUMMARY_NAME_BYTES, class);
	return (int)of->nname++;
}

/* --- slices */

/* Functions that only `from` has seen make the longer array. */
static void join_slices(struct summary_slice *to, struct summary_slice *from)
{
	struct summary_slice *longer = from->n > to->n ? from : to,
			     *other = longer == to ? from : to;
	double *sum = longer->seconds;
	size_t n = longer->n;

	for (size_t i = 0; i < other->n; i++)
		sum[i] += other->seconds[i];
	free(other->seconds);
	*to = (struct summary_slice){ .begin_s = fmin(to->begin_s, from->begin_s),
				      .end_s = fmax(to->end_s, from->end_s),
				      .rank_s = to->rank_s + from->rank_s,
				      .seconds = sum,
				      .n = n };
	*from = (struct summary_slice){ 0 };
}

static void halve_slices(struct summary_section *of)
{
	for (size_t i = 0; i + 1 < of->nslice; i += 2) {
		join_slices(&of->slice[i], &of->slice[i + 1]);
		of->slice[i / 2] = of->slice[i];
	}
	of->nslice /= 2;
}

void summary_add_slice(struct summary_section *of, struct summary_slice *take)
{
	if (of->nslice == SUMMARY_SLICES_MAX)
		halve_slices(of);
	of->slice[of->nslice++] = *take;
	*take = (struct summary_slice){ 0 };
}

void summary_note(struct summary *s, const char *fmt, ...)
{
	va_list ap;

	if (array_grow(&s->note, &s->note_cap, s->nnote + 1, sizeof(*s->note), SUMMARY_NOTES_MAX))
		return;
	va_start(ap, fmt);
	vsnprintf(s->note[s->nnote++], SUMMARY_TEXT_BYTES, fmt, ap);
	va_end(ap);
}

/* --- order */

static int by_rank(const void *pa, const void *pb)
{
	const struct summary_process *a = pa, *b = pb;
	int d = (a->rank > b->rank) - (a->rank < b->rank);

	d = d ? d : strverscmp(a->host, b->host);
	d = d ? d : (a->pid > b->pid) - (a->pid < b->pid);
	return d ? d : strcmp(a->program, b->program);
}

static int by_bytes(const void *pa, const void *pb)
{
	const struct summary_partner *a = pa, *b = pb;
	uint64_t of_a = a->bytes_out + a->bytes_in, of_b = b->bytes_out + b->bytes_in;

	if ((a->rank < 0) != (b->rank < 0))
		return a->rank < 0 ? 1 : -1;
	if (of_a != of_b)
		return of_a < of_b ? 1 : -1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

void summary_fold_partners(struct summary_process *p)
{
	struct summary_partner *rest = &p->partner[SUMMARY_PARTNERS_MAX];

	if (p->npartner <= SUMMARY_PARTNERS_MAX + 1)
		return;
	qsort(p->partner, p->npartner, sizeof(*p->partner), by_bytes);
	for (size_t i = SUMMARY_PARTNERS_MAX + 1; i < p->npartner; i++) {
		rest->count += p->partner[i].count;
		rest->sends += p->partner[i].sends;
		rest->bytes_out += p->partner[i].bytes_out;
		rest->bytes_in += p->partner[i].bytes_in;
		rest->seconds += p->partner[i].seconds;
	}
	rest->rank = -1;
	p->npartner = SUMMARY_PARTNERS_MAX + 1;
}

static int by_index(const void *a, const void *b)
{
	unsigned of_a = ((const struct summary_call *)a)->of,
		 of_b = ((const struct summary_call *)b)->of;

	return (of_a > of_b) - (of_a < of_b);
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct summary_name *name = arg;

	return strcmp(name[*(const unsigned *)a].name, name[*(const unsigned *)b].name);
}

static bool move_names(struct summary_section *of, const unsigned *order)
{
	struct summary_name *name = calloc(of->nname, sizeof(*name));

	for (size_t i = 0; name && i < of->nname; i++)
		name[i] = of->name[order[i]];
	if (!name)
		return false;
	free(of->name);
	of->name = name;
	of->name_cap = of->nname;
	return true;
}

static void move_slice(struct summary_slice *slice, const unsigned *place, size_t n)
{
	double *seconds = calloc(n, sizeof(*seconds));

	if (!seconds) {
		slice->n = 0; /* values of other functions would be wrong, so there are none */
		return;
	}
	for (size_t i = 0; i < slice->n; i++)
		seconds[place[i]] = slice->seconds[i];
	free(slice->seconds);
	slice->seconds = seconds;
	slice->n = n;
}

/* Sorts by name, so that files do not depend on the order of reading. */
static void sort_names(struct summary_section *of)
{
	unsigned *order = calloc(2 * of->nname + 1, sizeof(*order)), *place = order + of->nname;
	bool ok;

	for (unsigned i = 0; order && i < of->nname; i++)
		order[i] = i;
	if (order && of->nname > 1)
		qsort_r(order, of->nname, sizeof(*order), by_name, of->name);
	ok = order && of->nname > 1 && move_names(of, order);
	for (unsigned i = 0; ok && i < of->nname; i++)
		place[order[i]] = i;
	for (size_t i = 0; ok && i < of->n; i++)
		for (size_t k = 0; k < of->process[i].ncall; k++)
			of->process[i].call[k].of = place[of->process[i].call[k].of];
	for (size_t i = 0; ok && i < of->nslice; i++)
		move_slice(&of->slice[i], place, of->nname);
	free(order);
}

static double begin_of(const struct summary_section *of)
{
	double begin = INFINITY;

	for (size_t i = 0; i < of->n; i++)
		begin = fmin(begin, of->process[i].began_s);
	return begin;
}

/* Programs without MPI are last: a script begins before its programs, and is less important. */
static int by_begin(const void *pa, const void *pb)
{
	const struct summary_section *a = pa, *b = pb;
	double of_a = begin_of(a), of_b = begin_of(b);

	if (!a->world_size != !b->world_size)
		return a->world_size ? -1 : 1;
	return (of_a > of_b) - (of_a < of_b);
}

static void sort_section(struct summary_section *of)
{
	sort_names(of);
	if (of->n > 1)
		qsort(of->process, of->n, sizeof(*of->process), by_rank);
	for (size_t i = 0; i < of->n; i++) {
		struct summary_process *p = &of->process[i];

		if (p->ncall > 1)
			qsort(p->call, p->ncall, sizeof(*p->call), by_index);
		if (p->npartner > 1)
			qsort(p->partner, p->npartner, sizeof(*p->partner), by_bytes);
	}
}

static int by_time(const void *pa, const void *pb)
{
	const struct summary_size *a = pa, *b = pb;
	int names = strcmp(a->name, b->name);

	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? 1 : -1;
	return names ? names : (a->from > b->from) - (a->from < b->from);
}

/*
 * Compares all members that distinguish sites: the order of a file does not depend on the order of
 * reading.
 */
static int by_site_time(const void *pa, const void *pb)
{
	const struct summary_site *a = pa, *b = pb;
	int d = strcmp(a->name, b->name);

	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? 1 : -1;
	d = d ? d : strcmp(a->module, b->module);
	return d ? d : (a->address > b->address) - (a->address < b->address);
}

void summary_sort(struct summary *s)
{
	if (s->nsite > 1)
		qsort(s->site, s->nsite, sizeof(*s->site), by_site_time);
	if (s->nsize > 1)
		qsort(s->size, s->nsize, sizeof(*s->size), by_time);
	for (size_t i = 0; i < s->n; i++)
		sort_section(&s->section[i]);
	if (s->n > 1)
		qsort(s->section, s->n, sizeof(*s->section), by_begin);
}

/* --- sums */

double summary_mpi_seconds(const struct summary_process *p)
{
	double sum = 0;

	if (!p->has_calls)
		return NAN;
	for (size_t i = 0; i < p->ncall; i++)
		sum += p->call[i].seconds;
	return fmin(sum, p->seconds);
}

uint64_t summary_count(const struct summary_process *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->ncall; i++)
		sum += p->call[i].count;
	return sum;
}

uint64_t summary_bytes_out(const struct summary_process *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->ncall; i++)
		sum += p->call[i].bytes_out;
	return sum;
}

uint64_t summary_bytes_in(const struct summary_process *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->ncall; i++)
		sum += p->call[i].bytes_in;
	return sum;
}

struct summary_whole summary_whole(const struct summary *s)
{
	struct summary_whole all = { 0 };

	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->section[i].n; k++) {
			const struct summary_process *p = &s->section[i].process[k];

			if (!p->has_calls)
				continue;
			all.ranks++;
			all.count += summary_count(p);
			all.mpi_s += summary_mpi_seconds(p);
			all.seconds += p->seconds;
		}
	return all;
}
