/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lm's writes to a segment. The lm keeps a private copy, because the program may overwrite the
 * segment.
 */
#include "common/ring/calls.h"
#include "common/ring/segview_internal.h"

#include <stdlib.h>
#include <string.h>

/* Stores the time before the word: a call that ends reads both. */
int segview_hook_set(struct segview *v, unsigned func, uint32_t word, uint64_t now)
{
	uint64_t *since;

	if (func >= v->funcs || (word & ~(uint32_t)HOOK_KNOWN) ||
	    (word & HOOK_SAMPLE_MASK) >> HOOK_SAMPLE_SHIFT > HOOK_SAMPLE_MAX)
		return -ERR_INVALID;
	since = &segview_since(v)[func];
	if (!(word & HOOK_TIME))
		__atomic_store_n(since, 0, __ATOMIC_RELEASE);
	else if (!__atomic_load_n(since, __ATOMIC_RELAXED))
		__atomic_store_n(since, now, __ATOMIC_RELEASE);
	__atomic_store_n(&segview_hooks(v)[func], word, __ATOMIC_RELEASE);
	return 0;
}

uint32_t segview_hook_get(const struct segview *v, unsigned func)
{
	return func < v->funcs ? __atomic_load_n(&segview_hooks(v)[func], __ATOMIC_RELAXED) : 0;
}

static uint64_t load_word(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* An earlier begin is possible only by OMIG_START in the process itself. */
static uint64_t timed_from(const struct seg_header *h, uint64_t now)
{
	uint64_t start = load_word(&h->w.start_ticks);
	bool is_own = __atomic_load_n(&h->w.start_word, __ATOMIC_RELAXED) & HOOK_TIME;

	return is_own && !load_word(&h->l.timed_before) && start && start < now ? start : now;
}

void segview_timed_set(struct segview *v, bool is_on, uint64_t now)
{
	struct seg_header *h = segview_header(v);
	uint64_t since = load_word(&h->l.timed_since);

	if (is_on == (since != 0))
		return;
	if (!is_on)
		__atomic_store_n(&h->l.timed_before, segview_timed(v, now), __ATOMIC_RELEASE);
	__atomic_store_n(&h->l.timed_since, is_on ? timed_from(h, now) : 0, __ATOMIC_RELEASE);
}

uint64_t segview_timed(const struct segview *v, uint64_t now)
{
	const struct seg_header *h = segview_header(v);
	uint64_t since = load_word(&h->l.timed_since), start = load_word(&h->w.start_ticks);
	uint64_t sum = load_word(&h->l.timed_before), life = now > start ? now - start : 0;

	if (sum > life) /* the program may have changed the sum */
		return life;
	if (since && now > since)
		sum += now - since;
	return sum < life ? sum : life;
}

static uint16_t *heads(const struct segview *v)
{
	return (uint16_t *)(void *)(v->base + v->plan.head_offset);
}

static struct seg_action *entries(const struct segview *v)
{
	return (struct seg_action *)(void *)(v->base + v->plan.action_offset);
}

/* Writes an entry so that the rank reads all of it, or none. */
static void entry_write(const struct segview *v, unsigned index, const struct seg_action *a)
{
	struct seg_action *to = &entries(v)[index];
	uint64_t word[sizeof(*a) / 8];
	uint32_t seq = v->installed[index].a.seq;

	v->installed[index].a = *a;
	v->installed[index].a.seq = seq + 2;
	memcpy(word, &v->installed[index].a, sizeof(word));
	__atomic_store_n(&to->seq, seq + 1, __ATOMIC_RELAXED);
	/* The first word has the sequence word, so op and next change when it becomes even. */
	for (unsigned i = 1; i < sizeof(*a) / 8; i++)
		__atomic_store_n((uint64_t *)(void *)to + i, word[i], __ATOMIC_RELEASE);
	__atomic_store_n((uint64_t *)(void *)to, word[0], __ATOMIC_RELEASE);
}

static bool ranges_meet(uint32_t a, uint32_t na, uint32_t b, uint32_t nb)
{
	return na && nb && a < b + nb && b < a + na;
}

/*
 * Returns the end of the first installed range that [first, first + n) overlaps; 0 if there is
 * none.
 */
static uint32_t list_taken(const struct segview *v, uint32_t first, uint32_t n)
{
	for (unsigned i = 0; i < SEG_ACTIONS; i++) {
		const struct seg_action *a = &v->installed[i].a;

		if (a->op == ACTION_NONE)
			continue;
		if (ranges_meet(first, n, a->partner_first, a->partner_count))
			return a->partner_first + a->partner_count;
		if (ranges_meet(first, n, a->thread_first, a->thread_count))
			return a->thread_first + a->thread_count;
	}
	return 0;
}

/* Finds a place for n words: the first one that fits. */
static int list_place(const struct segview *v, uint64_t n, uint32_t *first)
{
	uint32_t next;

	for (*first = 0; n <= SEG_LIST_WORDS && *first <= SEG_LIST_WORDS - n; *first = next) {
		next = list_taken(v, *first, (uint32_t)n);
		if (!next)
			return 0;
	}
	return -ERR_LIMIT;
}

static void list_write(const struct segview *v, uint32_t first, const int32_t *list, uint32_t n)
{
	int32_t *to = (int32_t *)(void *)(v->base + v->plan.list_offset) + first;

	for (uint32_t i = 0; i < n; i++)
		__atomic_store_n(&to[i], list[i], __ATOMIC_RELAXED);
}

static bool is_ascending(const int32_t *list, uint32_t n)
{
	if (n && !list)
		return false;
	for (uint32_t i = 1; i < n; i++)
		if (list[i - 1] >= list[i])
			return false;
	return true;
}

/* Returns the number of parameters of a chain's events; negative: there is no such chain. */
static int chain_npar(const struct segview *v, unsigned func, unsigned phase)
{
	const struct call_desc *d = func < v->funcs ? call_get(func) : NULL;
	const struct seg_probe *p = func >= SEG_HOOKS ? segview_probe(v, func - SEG_HOOKS) : NULL;

	if (p)
		return phase == CALL_START ? (int)p->nparam : -1;
	if (!d || phase > CALL_END)
		return -1;
	return phase == CALL_START ? d->start_npar : d->end_npar;
}

static bool action_fits(const struct segview *v, const struct seg_action *a)
{
	int npar = chain_npar(v, a->func, a->phase);

	if (npar < 0 || a->cell >= SEG_CELLS)
		return false;
	return a->op > ACTION_NONE && a->op <= ACTION_PATOP_INTEGRATOR_ADD &&
	       a->operand <= ACTION_VOLUME &&
	       (a->operand != ACTION_PAR || (a->par >= 1 && a->par <= (unsigned)npar));
}

static int free_entry(struct segview *v)
{
	if (!v->installed)
		v->installed = calloc(SEG_ACTIONS, sizeof(*v->installed));
	if (!v->installed)
		return -ERR_NOMEM;
	for (unsigned i = 0; i < SEG_ACTIONS; i++)
		if (v->installed[i].a.op == ACTION_NONE)
			return (int)i;
	return -ERR_LIMIT;
}

/* Returns index + 1 of the entry whose `next` (0: the head) leads to target, in the lm's copy. */
static unsigned chain_before(const struct segview *v, const struct seg_action *a, unsigned target)
{
	for (unsigned i = 0; i < SEG_ACTIONS; i++) {
		const struct seg_action *b = &v->installed[i].a;

		if (b->op != ACTION_NONE && b->func == a->func && b->phase == a->phase &&
		    b->next == target && i + 1 != target)
			return i + 1;
	}
	return 0;
}

static void chain_lead(struct segview *v, const struct seg_action *a, unsigned before,
		       unsigned target)
{
	struct seg_action *changed;
	uint64_t word;

	if (!before) {
		__atomic_store_n(&heads(v)[a->func * 2 + a->phase], (uint16_t)target,
				 __ATOMIC_RELEASE);
		return;
	}
	/*
	 * op, next and the sequence word are one word, so that no rank reads a half changed entry.
	 */
	changed = &v->installed[before - 1].a;
	changed->next = (uint16_t)target;
	memcpy(&word, changed, sizeof(word));
	__atomic_store_n((uint64_t *)(void *)&entries(v)[before - 1], word, __ATOMIC_RELEASE);
}

int segview_action_add(struct segview *v, const struct seg_action *a, const int32_t *partners,
		       const int32_t *threads, unsigned *index)
{
	struct seg_action copy = *a;
	unsigned last;
	int at, rc;

	if (!action_fits(v, a) || !is_ascending(partners, a->partner_count) ||
	    !is_ascending(threads, a->thread_count))
		return -ERR_INVALID;
	at = free_entry(v);
	if (at < 0)
		return at;
	rc = list_place(v, (uint64_t)a->partner_count + a->thread_count, &copy.partner_first);
	if (rc)
		return rc;
	copy.thread_first = copy.partner_first + a->partner_count;
	list_write(v, copy.partner_first, partners, a->partner_count);
	list_write(v, copy.thread_first, threads, a->thread_count);
	/* Atomic, because the program can write to any word of its segment. */
	if (a->since > __atomic_load_n(&segview_header(v)->l.actions_since, __ATOMIC_RELAXED))
		__atomic_store_n(&segview_header(v)->l.actions_since, a->since, __ATOMIC_RELEASE);
	/* At the end of its chain, because actions run in the order of their installation. */
	last = chain_before(v, &copy, 0);
	copy.next = 0;
	entry_write(v, (unsigned)at, &copy);
	chain_lead(v, &copy, last, (unsigned)at + 1);
	*index = (unsigned)at;
	return 0;
}

void segview_action_late(struct segview *v, unsigned index, unsigned thread, uint64_t number)
{
	struct seg_installed *i = v->installed && index < SEG_ACTIONS ? &v->installed[index] : NULL;

	if (!i || !i->a.since || i->a.op == ACTION_NONE || thread >= v->plan.thread_count)
		return;
	if (!i->late) {
		i->late = calloc(v->plan.thread_count, sizeof(*i->late));
		v->nlate += i->late != NULL;
	}
	if (i->late)
		i->late[thread] = number + 1;
}

static void forget_late(struct segview *v, struct seg_installed *i)
{
	v->nlate -= i->late != NULL;
	free(i->late);
	i->late = NULL;
}

void segview_actions_free(struct segview *v)
{
	for (unsigned i = 0; v->installed && i < SEG_ACTIONS; i++)
		forget_late(v, &v->installed[i]);
	free(v->installed);
	v->installed = NULL;
}

int segview_action_del(struct segview *v, unsigned index)
{
	struct seg_action gone, none;

	if (!v->installed || index >= SEG_ACTIONS || v->installed[index].a.op == ACTION_NONE)
		return -ERR_NOTFOUND;
	gone = v->installed[index].a;
	chain_lead(v, &gone, chain_before(v, &gone, index + 1), gone.next);
	/* A rank that is at this entry continues with the next ones. */
	none = (struct seg_action){ .func = gone.func, .phase = gone.phase, .next = gone.next };
	entry_write(v, index, &none);
	forget_late(v, &v->installed[index]);
	return 0;
}

void segview_reset(struct segview *v)
{
	segview_reset_but_events(v);
	segview_events_reset(v);
}

void segview_reset_but_events(struct segview *v)
{
	static const struct segview_interests none;
	uint32_t start = __atomic_load_n(&segview_header(v)->w.start_word, __ATOMIC_RELAXED);

	for (unsigned i = 0; i < SEG_HOOKS; i++)
		__atomic_store_n(&segview_hooks(v)[i], i < v->funcs ? start & HOOK_START_KNOWN : 0,
				 __ATOMIC_RELEASE);
	for (unsigned i = 0; i < SEG_CHAINS * 2; i++)
		__atomic_store_n(&heads(v)[i], 0, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < SEG_ACTIONS * sizeof(struct seg_action) / 8; i++)
		__atomic_store_n((uint64_t *)(void *)entries(v) + i, 0, __ATOMIC_RELEASE);
	segview_actions_free(v);
	segview_interests_set(v, &none);
	segview_probes_reset(v);
	segview_meters_reset(v);
}

static uint64_t *note_at(const struct segview *v, unsigned cell)
{
	return (uint64_t *)(void *)(v->base + v->plan.note_offset + cell * sizeof(struct seg_note));
}

#define NOTE_WORDS (sizeof(struct seg_note) / 8)

union note_copy {
	struct seg_note n;
	uint64_t word[NOTE_WORDS];
};

int segview_note_set(struct segview *v, unsigned cell, const struct seg_note *n)
{
	union note_copy copy = { .n = *n };
	uint64_t *to;
	uint32_t seq;

	if (cell >= SEG_CELLS)
		return -ERR_INVALID;
	to = note_at(v, cell);
	seq = __atomic_load_n((uint32_t *)to, __ATOMIC_RELAXED) | 1;
	__atomic_store_n((uint32_t *)to, seq, __ATOMIC_RELAXED);
	for (unsigned i = 1; i < NOTE_WORDS; i++)
		__atomic_store_n(&to[i], copy.word[i], __ATOMIC_RELEASE);
	copy.n.seq = seq + 1;
	__atomic_store_n(&to[0], copy.word[0], __ATOMIC_RELEASE);
	return 0;
}

bool segview_note_get(const struct segview *v, unsigned cell, struct seg_note *out)
{
	union note_copy copy;

	if (cell >= SEG_CELLS)
		return false;
	for (unsigned i = 0; i < NOTE_WORDS; i++)
		copy.word[i] = __atomic_load_n(&note_at(v, cell)[i], __ATOMIC_ACQUIRE);
	*out = copy.n;
	return !(copy.n.seq & 1);
}

void segview_interests_set(struct segview *v, const struct segview_interests *w)
{
	struct seg_lm *l = &segview_header(v)->l;
	uint32_t seq = __atomic_load_n(&l->interest_seq, __ATOMIC_RELAXED) & ~UINT32_C(1);

	__atomic_store_n(&l->interest_seq, seq + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&l->interest_rest, w->rest, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < SEG_INTERESTS; i++) {
		__atomic_store_n(&l->interest[i].tool, w->tool[i].tool, __ATOMIC_RELEASE);
		__atomic_store_n(&l->interest[i].word, w->tool[i].word, __ATOMIC_RELEASE);
	}
	seq += 2;
	__atomic_store_n(&l->interest_seq, seq ? seq : 2, __ATOMIC_RELEASE);
}

bool segview_interests_get(const struct segview *v, struct segview_interests *out)
{
	const struct seg_lm *l = &segview_header(v)->l;
	uint32_t seq = __atomic_load_n(&l->interest_seq, __ATOMIC_ACQUIRE);

	if (!seq || seq & 1)
		return false;
	out->rest = __atomic_load_n(&l->interest_rest, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < SEG_INTERESTS; i++) {
		out->tool[i].tool = __atomic_load_n(&l->interest[i].tool, __ATOMIC_RELAXED);
		out->tool[i].word = __atomic_load_n(&l->interest[i].word, __ATOMIC_RELAXED);
	}
	return true;
}

void segview_scale_set(struct segview *v, const struct ticks_scale *s)
{
	struct seg_lm *l = &segview_header(v)->l;
	uint32_t seq = __atomic_load_n(&l->seq, __ATOMIC_RELAXED) & ~UINT32_C(1);

	__atomic_store_n(&l->seq, seq + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&l->source, s->source, __ATOMIC_RELEASE);
	__atomic_store_n(&l->base_ticks, s->base_ticks, __ATOMIC_RELEASE);
	__atomic_store_n(&l->base_ns, s->base_ns, __ATOMIC_RELEASE);
	__atomic_store_n(&l->mult, s->mult, __ATOMIC_RELEASE);
	__atomic_store_n(&l->shift, s->shift, __ATOMIC_RELEASE);
	__atomic_store_n(&l->seq, seq + 2, __ATOMIC_RELEASE);
}

void segview_lm_alive(struct segview *v, uint64_t lm_epoch)
{
	struct seg_lm *l = &segview_header(v)->l;

	__atomic_store_n(&l->lm_epoch, lm_epoch, __ATOMIC_RELAXED);
	__atomic_store_n(&l->lm_alive, __atomic_load_n(&l->lm_alive, __ATOMIC_RELAXED) + 1,
			 __ATOMIC_RELAXED);
}
