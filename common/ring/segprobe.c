/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lm's functions for probes: a private copy of their table, and the counters that the rank
 * reads.
 */
#include "common/base/array.h"
#include "common/ring/calls.h"
#include "common/ring/segview_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the table */

static bool is_identifier(const char *s, size_t size)
{
	size_t n = strnlen(s, size);

	for (size_t i = 0; i < n; i++)
		if (!(s[i] == '_' || (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
		      (i && s[i] >= '0' && s[i] <= '9')))
			return false;
	return n > 0 && n < size;
}

static bool is_probe(const struct seg_probe *p)
{
	if (!is_identifier(p->name, sizeof(p->name)) || p->nparam < 1 ||
	    p->nparam > SEG_PROBE_PARAMS)
		return false;
	for (uint32_t i = 0; i < p->nparam; i++)
		if (p->type[i] >= SEG_TYPES)
			return false;
	return !SEG_IS_FLOAT(p->type[0]);
}

/* Reads each word once, because the process may still write. */
static void copy_probe(const struct segview *v, unsigned number, struct seg_probe *out)
{
	const uint64_t *from =
		(const void *)(v->base + v->plan.probe_offset + number * sizeof(struct seg_probe));
	uint64_t word;

	for (size_t i = 0; i < sizeof(*out) / 8; i++) {
		word = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
		memcpy((uint8_t *)out + i * 8, &word, 8);
	}
}

/* Names the probes of collective calls: the number of the call, and its seconds. */
static void name_collectives(struct segview *v)
{
	for (unsigned k = 0; k < COLLECTIVES; k++) {
		struct seg_probe *p = &v->probe[SEG_COLLECTIVE_FIRST + k];

		*p = (struct seg_probe){ .nparam = 2, .type = { SEG_I64, SEG_F64 } };
		snprintf(p->name, sizeof(p->name), "%s", seg_collective_name(k));
	}
}

/* The lm names the probes of functions and collectives, whatever the process has written. */
int segview_probes_copy(struct segview *v)
{
	const struct seg_own *own = &((const struct seg_header *)(const void *)v->base)->w;
	bool has_collectives = own->numbers_collectives == 1;
	struct seg_probe p;
	unsigned n = 0;

	for (unsigned i = 0; i < SEG_FUNCTION_FIRST; i++) {
		copy_probe(v, i, &p);
		if (p.name[0])
			n = i + 1;
	}
	v->has_functions = own->function_enter != 0;
	if (v->has_functions || has_collectives)
		n = SEG_PROBES;
	if (!n)
		return 0;
	v->probe = calloc(n, sizeof(*v->probe));
	if (!v->probe)
		return -ERR_NOMEM;
	v->nprobe = n;
	for (unsigned i = 0; i < n && i < SEG_FUNCTION_FIRST; i++) {
		copy_probe(v, i, &p);
		if (is_probe(&p))
			v->probe[i] = p;
	}
	if (has_collectives)
		name_collectives(v);
	return 0;
}

int segview_function_take(struct segview *v, unsigned *slot)
{
	if (!v->has_functions)
		return -ERR_UNSUPPORTED;
	for (*slot = 0; *slot < SEG_FUNCTIONS; ++*slot) {
		struct seg_probe *p = &v->probe[SEG_FUNCTION_BEGIN(*slot)];

		if (p->name[0] || segview_meters_use(v, SEG_FUNCTION_BEGIN(*slot)))
			continue;
		p[0] = p[1] = (struct seg_probe){ .nparam = 1, .type = { SEG_I64 } };
		snprintf(p[0].name, sizeof(p[0].name), "function%u_begin", *slot);
		snprintf(p[1].name, sizeof(p[1].name), "function%u_end", *slot);
		return 0;
	}
	return -ERR_LIMIT;
}

void segview_function_drop(struct segview *v, unsigned slot)
{
	struct seg_probe *p = &v->probe[SEG_FUNCTION_BEGIN(slot)];

	p[0].name[0] = p[1].name[0] = 0;
}

unsigned segview_probes(const struct segview *v)
{
	unsigned n = 0;

	for (unsigned i = 0; i < v->nprobe && i < SEG_COLLECTIVE_FIRST; i++)
		n += v->probe[i].name[0] != 0;
	return n;
}

const struct seg_probe *segview_probe(const struct segview *v, unsigned number)
{
	return number < v->nprobe && v->probe[number].name[0] ? &v->probe[number] : NULL;
}

int segview_probe_find(const struct segview *v, const char *name)
{
	for (unsigned i = 0; *name && i < v->nprobe; i++)
		if (!strcmp(v->probe[i].name, name))
			return (int)i;
	return -1;
}

static uint32_t *word_at(const struct segview *v, unsigned number)
{
	return (uint32_t *)(void *)(v->base + v->plan.probe_word_offset +
				    number / SEG_PROBES_EACH * SEG_PAGE_BYTES) +
	       number % SEG_PROBES_EACH;
}

static void write_word(const struct segview *v, unsigned number)
{
	__atomic_store_n(word_at(v, number),
			 (uint32_t)(v->probe_word[number] | v->probe_edge[number]),
			 __ATOMIC_RELEASE);
}

int segview_probe_set(struct segview *v, unsigned number, uint32_t word)
{
	if (!segview_probe(v, number) || (word & ~(uint32_t)(PROBE_RECORD | PROBE_ACTION)))
		return -ERR_INVALID;
	v->probe_word[number] = (uint8_t)word;
	write_word(v, number);
	return 0;
}

void segview_probe_edge(struct segview *v, unsigned number, bool is_one)
{
	v->probe_edge[number] = is_one ? PROBE_EDGE : 0;
	write_word(v, number);
}

/* --- reads */

static struct seg_reads *reads_at(const struct segview *v, unsigned number)
{
	return (struct seg_reads *)(void *)(v->base + v->plan.read_offset +
					    number * sizeof(struct seg_reads));
}

static bool is_of_cell(unsigned kind)
{
	return kind == SEG_READ_COUNTER || kind == SEG_READ_INTEGRATOR;
}

static bool ranks_fit(const struct segview_read *r)
{
	if (SEG_IS_OF_PARTNERS(r->kind) != (r->nrank != 0) || r->nrank > SEG_READ_FUNCS)
		return false;
	for (unsigned i = 0; i < r->nrank; i++)
		if (r->rank[i] < 0 || (i && r->rank[i - 1] >= r->rank[i]))
			return false;
	return true;
}

bool segview_read_fits(const struct segview *v, const struct segview_read *r)
{
	if (is_of_cell(r->kind))
		return r->cell < SEG_CELLS;
	if (r->kind <= SEG_READ_NONE || r->kind >= SEG_READ_PASSES || !r->nfunc || !r->func)
		return false;
	for (unsigned i = 0; i < r->nfunc; i++)
		if (r->func[i] >= v->funcs || (i && r->func[i - 1] >= r->func[i]))
			return false;
	return ranks_fit(r);
}

bool segview_reads_account(struct segview *v)
{
	if (!v->read_func)
		v->read_func = calloc(SEG_READ_FUNCS, sizeof(*v->read_func));
	if (v->wanted || !v->read_func)
		return v->wanted != NULL;
	v->wanted = calloc(v->nprobe, sizeof(*v->wanted));
	/* Numbers continue, so that a record from before the reset is recognised. */
	for (unsigned i = 0; v->wanted && i < v->nprobe; i++)
		v->wanted[i].reads.seq =
			__atomic_load_n(&reads_at(v, i)->seq, __ATOMIC_RELAXED) & ~UINT32_C(1);
	return v->wanted != NULL;
}

/* Returns the first list in use for which fn(list) is true; NULL if there is none. */
static const struct seg_read *each_list(const struct segview *v,
					bool (*fn)(const struct segview *v,
						   const struct seg_read *l, const void *arg),
					const void *arg)
{
	for (unsigned p = 0; p < v->nprobe; p++)
		for (unsigned i = 0; i < SEG_READS; i++) {
			const struct seg_read *l = &v->wanted[p].reads.slot[i];

			if (v->wanted[p].refs[i] && l->count && fn(v, l, arg))
				return l;
		}
	return segview_meters_each(v, fn, arg);
}

static unsigned ranks_of(const struct seg_read *l)
{
	return SEG_IS_OF_PARTNERS(l->kind) ? l->ranks : 0;
}

/* Returns the number of words: the functions, and two words for each rank. */
static unsigned words_of(const struct seg_read *l)
{
	return l->count + 2u * ranks_of(l);
}

static uint16_t word_of(const struct segview_read *r, unsigned i)
{
	unsigned rank = (i - r->nfunc) / 2;

	if (i < r->nfunc)
		return r->func[i];
	return (uint16_t)((uint32_t)r->rank[rank] >> ((i - r->nfunc) % 2 ? 16 : 0));
}

static bool is_same_list(const struct segview *v, const struct seg_read *l, const void *arg)
{
	const struct segview_read *r = arg;

	if (l->count != r->nfunc || ranks_of(l) != r->nrank)
		return false;
	for (unsigned i = 0; i < words_of(l); i++)
		if (v->read_func[l->first + i] != word_of(r, i))
			return false;
	return true;
}

/* A range of words: index of the first one, and their number. */
struct range {
	unsigned first, n;
};

static bool is_met(const struct segview *v, const struct seg_read *l, const void *arg)
{
	const struct range *range = arg;

	return l->first < range->first + range->n && range->first < l->first + words_of(l);
}

/* Uses an existing equal list, or finds the first gap with enough room. */
int segview_list_place(struct segview *v, const struct segview_read *r, struct seg_read *out)
{
	struct range range = { .n = r->nfunc + 2 * r->nrank };
	const struct seg_read *met = each_list(v, is_same_list, r);
	uint16_t *to = (uint16_t *)(void *)(v->base + v->plan.read_func_offset);

	out->count = (uint16_t)r->nfunc;
	out->ranks = (uint16_t)r->nrank;
	if (met) {
		out->first = met->first;
		return 0;
	}
	while (range.first + range.n <= SEG_READ_FUNCS) {
		met = each_list(v, is_met, &range);
		if (!met)
			break;
		range.first = met->first + words_of(met);
	}
	if (range.first + range.n > SEG_READ_FUNCS)
		return -ERR_LIMIT;
	out->first = (uint16_t)range.first;
	for (unsigned i = 0; i < range.n; i++) {
		v->read_func[range.first + i] = word_of(r, i);
		__atomic_store_n(&to[range.first + i], word_of(r, i), __ATOMIC_RELAXED);
	}
	return 0;
}

/* Writes the entry so that the rank reads all of it, or notices the change. */
static void write_reads(struct segview *v, unsigned number)
{
	struct seg_reads *to = reads_at(v, number), *from = &v->wanted[number].reads;
	uint64_t word;

	__atomic_store_n(&to->seq, from->seq + 1, __ATOMIC_RELAXED);
	from->seq += 2;
	for (unsigned i = 1; i < sizeof(*to) / 8; i++) {
		memcpy(&word, (uint8_t *)from + i * 8, sizeof(word));
		__atomic_store_n((uint64_t *)(void *)to + i, word, __ATOMIC_RELEASE);
	}
	memcpy(&word, from, sizeof(word));
	__atomic_store_n((uint64_t *)(void *)to, word, __ATOMIC_RELEASE);
}

bool segview_same_read(const struct segview *v, const struct seg_read *s,
		       const struct segview_read *r)
{
	if (s->kind != r->kind)
		return false;
	if (SEG_IS_OF_REGION(r->kind))
		return true;
	return is_of_cell(r->kind) ? s->cell == r->cell : is_same_list(v, s, r);
}

int segview_read_add(struct segview *v, unsigned number, const struct segview_read *r,
		     unsigned *slot)
{
	struct seg_read made = { .kind = (uint8_t)r->kind };
	unsigned at = SEG_READS;
	struct seg_wanted *w;
	int rc = 0;

	if (!segview_probe(v, number) || !segview_read_fits(v, r))
		return -ERR_INVALID;
	if (!segview_reads_account(v))
		return -ERR_NOMEM;
	w = &v->wanted[number];
	for (unsigned i = SEG_READS; i-- > 0;) {
		if (!w->refs[i]) {
			at = i;
		} else if (segview_same_read(v, &w->reads.slot[i], r)) {
			w->refs[i]++;
			*slot = i;
			return 0;
		}
	}
	if (at == SEG_READS)
		return -ERR_LIMIT;
	if (is_of_cell(r->kind))
		made.cell = (uint16_t)r->cell;
	else
		rc = segview_list_place(v, r, &made);
	if (rc)
		return rc;
	w->reads.slot[at] = made;
	w->reads.mask |= UINT32_C(1) << at;
	w->refs[at] = 1;
	write_reads(v, number);
	w->since[at] = w->reads.seq;
	*slot = at;
	return 0;
}

void segview_read_del(struct segview *v, unsigned number, unsigned slot)
{
	struct seg_wanted *w;

	if (!v->wanted || number >= v->nprobe || slot >= SEG_READS || !v->wanted[number].refs[slot])
		return;
	w = &v->wanted[number];
	if (--w->refs[slot])
		return;
	w->reads.mask &= ~(UINT32_C(1) << slot);
	write_reads(v, number);
}

void segview_probes_reset(struct segview *v)
{
	for (unsigned i = 0; i < SEG_PROBES; i++) {
		struct seg_reads none = { .seq = reads_at(v, i)->seq | 1 };
		uint64_t word;

		none.seq++;
		memcpy(&word, &none, sizeof(word));
		__atomic_store_n(word_at(v, i), 0, __ATOMIC_RELEASE);
		__atomic_store_n((uint64_t *)(void *)reads_at(v, i), word, __ATOMIC_RELEASE);
	}
	memset(v->probe_word, 0, sizeof(v->probe_word));
	memset(v->probe_edge, 0, sizeof(v->probe_edge));
	free(v->wanted);
	free(v->read_func);
	v->wanted = NULL;
	v->read_func = NULL;
}

/* --- records */

uint64_t segview_probe_dropped(const struct segview *v, unsigned number)
{
	const struct seg_probe *p = (const void *)(v->base + v->plan.probe_offset);

	return number < SEG_PROBES ? __atomic_load_n(&p[number].dropped, __ATOMIC_RELAXED) : 0;
}

/*
 * False if the slot was assigned again after the record was written: it has another meaning in the
 * record.
 */
static bool is_valid(const struct segview *v, const struct ring_probe *p, unsigned slot)
{
	const struct seg_wanted *w = v->wanted ? &v->wanted[p->probe] : NULL;

	return w && w->refs[slot] && (int32_t)(p->seq - w->since[slot]) >= 0;
}

bool segview_hit_make(const struct segview *v, const struct ring_probe *p, struct segview_hit *out)
{
	const struct seg_probe *probe = segview_probe(v, p->probe);
	unsigned n = 0;

	if (!probe || p->npar != probe->nparam || p->mask >> SEG_READS ||
	    (unsigned)__builtin_popcount(p->mask) != p->nread)
		return false;
	*out = (struct segview_hit){
		.probe = p->probe, .tid = p->tid, .ticks = p->ticks, .par = p->value
	};
	for (unsigned i = 0; i < SEG_READS; i++) {
		if (!(p->mask >> i & 1))
			continue;
		out->read[i] = p->value[p->npar + n++];
		if (is_valid(v, p, i))
			out->mask |= UINT32_C(1) << i;
	}
	return true;
}
