/* SPDX-License-Identifier: Apache-2.0 */
/* Reads values of a segment while it is written, perhaps by an attacker. */
#include "common/ring/calls.h"
#include "common/ring/segview_internal.h"

#include <string.h>

/*
 * A writer leaves a sequence word odd for some ten nanoseconds. After so many tries it is dead or
 * malicious.
 */
#define READ_TRIES 64

#define GUARDED_WORDS 8 /* largest guarded record, in 64-bit words */

/*
 * Copies n words, which begin with a 32-bit sequence word. Returns false if no consistent state was
 * found.
 */
static bool read_guarded(uint64_t *to, const void *from, unsigned words)
{
	const uint64_t *src = from;
	const uint32_t *seq_at = from;
	uint32_t seq;

	for (unsigned tries = 0; tries < READ_TRIES; tries++) {
		seq = __atomic_load_n(seq_at, __ATOMIC_ACQUIRE);
		for (unsigned i = 0; i < words; i++)
			to[i] = __atomic_load_n(&src[i], __ATOMIC_ACQUIRE);
		if (!(seq & 1) && __atomic_load_n(seq_at, __ATOMIC_RELAXED) == seq)
			return true;
	}
	return false;
}

/*
 * Returns the ticks since `begin`. A begin in the future (another core, or a false value) counts as
 * now.
 */
static uint64_t ticks_since(uint64_t begin, uint64_t now)
{
	return now > begin ? now - begin : 0;
}

static unsigned sample_shift(uint32_t word)
{
	unsigned k = (word & HOOK_SAMPLE_MASK) >> HOOK_SAMPLE_SHIFT;

	return k > HOOK_SAMPLE_MAX ? HOOK_SAMPLE_MAX : k;
}

static const struct seg_slot *slot_at(const struct segview *v, unsigned thread, unsigned func)
{
	return (const struct seg_slot *)(const void *)(segview_block(v, thread) +
						       v->plan.slot_offset) +
	       func;
}

/* --- the current call of a thread */

static uint64_t load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static void copy_current(const struct seg_current *from, struct segview_current *to)
{
	to->comm = __atomic_load_n(&from->comm, __ATOMIC_ACQUIRE);
	to->peer = __atomic_load_n(&from->peer, __ATOMIC_ACQUIRE);
	to->tag = __atomic_load_n(&from->tag, __ATOMIC_ACQUIRE);
	to->source = __atomic_load_n(&from->source, __ATOMIC_ACQUIRE);
	to->source_tag = __atomic_load_n(&from->source_tag, __ATOMIC_ACQUIRE);
}

static int32_t wait_partner(const struct seg_current *c, uint64_t word)
{
	int64_t partner = (int64_t)__atomic_load_n(&c->wait_partner, __ATOMIC_ACQUIRE);

	return load(&c->wait_word) == word && partner >= 0 && partner <= INT32_MAX
		       ? (int32_t)partner
		       : -1;
}

/*
 * Reads seg_current in reverse order. True if the data copied in between belong to the call in
 * *word.
 */
static bool current_is_whole(const struct seg_current *c, uint64_t *word,
			     struct segview_current *out)
{
	*word = load(&c->word);
	out->is_inside = load(&c->frame) != 0;
	copy_current(c, out);
	out->wait_partner = wait_partner(c, *word);
	return (load(&c->frame) != 0) == out->is_inside && load(&c->word) == *word;
}

bool segview_current(const struct segview *v, unsigned thread, struct segview_current *out)
{
	const struct seg_current *c =
		thread < v->plan.thread_count ? &segview_thread_head(v, thread)->current : NULL;
	uint64_t word = 0;
	unsigned tries = 0;

	while (c && tries < READ_TRIES && !current_is_whole(c, &word, out))
		tries++;
	if (!c || tries == READ_TRIES || !(word & SEG_CURRENT_FUNC) ||
	    (word & SEG_CURRENT_FUNC) > v->funcs)
		return false;
	out->number = word / SEG_CURRENT_ONE;
	out->func = (unsigned)(word & SEG_CURRENT_FUNC) - 1;
	out->is_timed = word & SEG_CURRENT_TIMED;
	out->is_fortran = word & SEG_CURRENT_FORTRAN;
	out->begin = out->is_inside ? load(&slot_at(v, thread, out->func)->begin) : 0;
	return true;
}

/*
 * Returns the time from which a call counts that had begun before its measurement; 0 if there is
 * none.
 */
static uint64_t late_since(const struct segview *v, unsigned thread, unsigned func)
{
	const struct seg_current *c = &segview_thread_head(v, thread)->current;
	const struct seg_own *own = &segview_header(v)->w;
	uint64_t word = load(&c->word), since = load(&segview_since(v)[func]), speaks;

	if ((word & SEG_CURRENT_FUNC) != func + 1 || word & SEG_CURRENT_TIMED || !load(&c->frame) ||
	    load(&c->word) != word || !__atomic_load_n(&own->pcontrol, __ATOMIC_RELAXED))
		return 0;
	speaks = __atomic_load_n(&own->speaks_since, __ATOMIC_RELAXED);
	return since && speaks > since ? speaks : since;
}

static void add_slot(const struct segview *v, unsigned thread, unsigned func, uint64_t now,
		     struct segview_call *out)
{
	const struct seg_slot *at = slot_at(v, thread, func);
	uint64_t late = 0;
	union {
		struct seg_slot slot;
		uint64_t word[GUARDED_WORDS];
	} u;

	/*
	 * A call that began before the measurement adds its time to the slot, and ends, in one
	 * update.
	 */
	for (unsigned tries = 0; tries < READ_TRIES; tries++) {
		if (!read_guarded(u.word, at, sizeof(u.slot) / 8)) {
			out->torn = true;
			break;
		}
		late = u.slot.begin ? 0 : late_since(v, thread, func);
		if (!late || __atomic_load_n(&at->seq, __ATOMIC_ACQUIRE) == u.slot.seq)
			break;
	}
	out->count += u.slot.count;
	out->delay += u.slot.delay;
	out->bytes_out += u.slot.bytes_out;
	out->bytes_in += u.slot.bytes_in;
	out->sampled += u.slot.sampled;
	if (u.slot.begin) {
		out->in_call++;
		out->open_delay += ticks_since(u.slot.begin, now)
				   << sample_shift(segview_hook_get(v, func));
	}
	if (late) {
		out->in_call++;
		out->open_delay += ticks_since(late, now);
	}
}

/* A forged word leads only to a wrong number. */
static void add_extent(const struct segview *v, unsigned thread, unsigned func,
		       struct segview_call *out)
{
	const struct seg_extent *e =
		(const struct seg_extent *)(const void *)(segview_block(v, thread) +
							  v->plan.extent_offset) +
		func;
	uint64_t longest = load(&e->longest), inverted = load(&e->shortest_inverted);

	if (longest > out->longest)
		out->longest = longest;
	if (inverted && (!out->shortest || ~inverted < out->shortest))
		out->shortest = ~inverted;
}

int segview_call(const struct segview *v, unsigned thread, unsigned func, uint64_t now,
		 struct segview_call *out)
{
	unsigned first = thread == SEGVIEW_ALL ? 0 : thread;
	unsigned end = thread == SEGVIEW_ALL ? v->plan.thread_count : thread + 1;

	if (func >= v->funcs || end > v->plan.thread_count || end == 0)
		return -ERR_INVALID;
	memset(out, 0, sizeof(*out));
	for (; first < end; first++)
		if (__atomic_load_n(&segview_thread_head(v, first)->tid, __ATOMIC_RELAXED)) {
			add_slot(v, first, func, now, out);
			add_extent(v, first, func, out);
		}
	return 0;
}

uint64_t segview_call_dropped(const struct segview *v, unsigned func)
{
	uint64_t sum = 0;

	for (unsigned i = 0; func < v->funcs && i < v->plan.thread_count; i++) {
		const struct seg_slot *slot =
			(const void *)(segview_block(v, i) + v->plan.slot_offset);

		sum += __atomic_load_n(&slot[func].dropped, __ATOMIC_RELAXED);
	}
	return sum;
}

/* Returns a finite number, or 0: a NaN of one thread must not make the sum of all threads NaN. */
static double finite_or_0(double d)
{
	return d - d == 0 ? d : 0;
}

static bool has_end(const struct segview *v, const struct seg_action *start)
{
	for (unsigned i = 0; i < SEG_ACTIONS; i++)
		if (action_is_pair(start, &v->installed[i].a))
			return true;
	return false;
}

/*
 * Returns the action for that cell whose start the thread's call has missed; NULL if there is none.
 */
static const struct seg_action *late_start(const struct segview *v, unsigned thread, unsigned cell)
{
	struct segview_current c;

	if (!v->nlate || !segview_current(v, thread, &c) || !c.is_inside)
		return NULL;
	for (unsigned i = 0; i < SEG_ACTIONS; i++) {
		const struct seg_installed *in = &v->installed[i];

		if (in->late && in->late[thread] == c.number + 1 && in->a.cell == cell &&
		    in->a.func == c.func && has_end(v, &in->a))
			return &in->a;
	}
	return NULL;
}

/* Adds the call as the rank counts it at its end, until the rank has done so. */
static void add_late(const struct segview *v, const struct seg_action *a, const struct seg_cell *c,
		     uint64_t now, struct segview_cell *out)
{
	const struct seg_own *own = &segview_header(v)->w;
	uint64_t speaks = __atomic_load_n(&own->speaks_since, __ATOMIC_RELAXED);
	uint64_t since = speaks > a->since ? speaks : a->since;

	if (c->v != 0 || c->t >= since || !__atomic_load_n(&own->pcontrol, __ATOMIC_RELAXED))
		return;
	out->v += a->value;
	out->integral += a->value * (double)ticks_since(since, now);
}

static void add_cell(const struct segview *v, unsigned thread, unsigned cell, uint64_t now,
		     struct segview_cell *out)
{
	const uint8_t *at = segview_block(v, thread) + v->plan.cell_offset;
	/* Before the cell is read: a call that has ended by then is in the cell. */
	const struct seg_action *late = now ? late_start(v, thread, cell) : NULL;
	union {
		struct seg_cell cell;
		uint64_t word[GUARDED_WORDS];
	} u;

	if (!read_guarded(u.word, at + cell * sizeof(struct seg_cell), sizeof(u.cell) / 8))
		out->torn = true;
	out->n = (int64_t)((uint64_t)out->n + (uint64_t)u.cell.n);
	u.cell.v = finite_or_0(u.cell.v);
	out->integral += finite_or_0(u.cell.integral);
	if (u.cell.v != 0)
		out->integral += u.cell.v * (double)ticks_since(u.cell.t, now);
	out->v += u.cell.v;
	if (late)
		add_late(v, late, &u.cell, now, out);
	if (u.cell.t > out->t)
		out->t = u.cell.t;
}

int segview_integrator(const struct segview *v, unsigned thread, unsigned cell, uint64_t now,
		       struct segview_cell *out)
{
	unsigned first = thread == SEGVIEW_ALL ? 0 : thread;
	unsigned end = thread == SEGVIEW_ALL ? v->plan.thread_count : thread + 1;

	if (cell >= SEG_CELLS || end > v->plan.thread_count || end == 0)
		return -ERR_INVALID;
	memset(out, 0, sizeof(*out));
	for (; first < end; first++)
		if (__atomic_load_n(&segview_thread_head(v, first)->tid, __ATOMIC_RELAXED))
			add_cell(v, first, cell, now, out);
	return 0;
}

int segview_counter(const struct segview *v, unsigned thread, unsigned cell,
		    struct segview_cell *out)
{
	int rc = segview_integrator(v, thread, cell, 0, out);

	/* Both share a word: in a counter its bits are n. */
	out->integral = out->v = 0;
	return rc;
}

/* The writer increases `possible` first, so the reader reads it last. */
static void read_shares(const struct seg_partner *from, struct segview_partner *p)
{
	p->shared = __atomic_load_n(&from->shared, __ATOMIC_ACQUIRE);
	p->possible = __atomic_load_n(&from->possible, __ATOMIC_RELAXED);
	if (p->possible < p->shared)
		p->possible = p->shared;
	p->kinds = __atomic_load_n(&from->kinds, __ATOMIC_RELAXED) & SEG_FOR_KNOWN;
	p->tag = __atomic_load_n(&from->tag, __ATOMIC_RELAXED);
	if (p->tag < SEG_TAG_SEVERAL)
		p->tag = -1;
}

int segview_partners(const struct segview *v, unsigned thread,
		     void (*fn)(void *arg, const struct segview_partner *p), void *arg)
{
	const struct seg_partner *table;
	struct segview_partner p;
	uint64_t key;
	int n = 0;

	if (thread >= v->plan.thread_count)
		return -ERR_INVALID;
	table = (const void *)(segview_block(v, thread) + v->plan.partner_offset);
	for (unsigned i = 0; i < SEG_PARTNERS; i++) {
		key = __atomic_load_n(&table[i].key, __ATOMIC_ACQUIRE);
		p.func = (unsigned)(key >> 32) - 1;
		if (!key || p.func >= v->funcs)
			continue;
		p.rank = (int32_t)(uint32_t)key;
		p.count = __atomic_load_n(&table[i].count, __ATOMIC_RELAXED);
		p.bytes_out = __atomic_load_n(&table[i].bytes_out, __ATOMIC_RELAXED);
		p.bytes_in = __atomic_load_n(&table[i].bytes_in, __ATOMIC_RELAXED);
		p.delay = __atomic_load_n(&table[i].delay, __ATOMIC_RELAXED);
		read_shares(&table[i], &p);
		fn(arg, &p);
		n++;
	}
	return n;
}

struct events {
	const struct segview *v;
	const struct segview_taker *taker;
	unsigned nevent; /* number of types at the last check: there may be more now */
	bool strange;
};

static void on_call(void *arg, const struct ring_call *c)
{
	struct events *ev = arg;
	const struct call_desc *d = call_get(c->func);

	/*
	 * A function that this build does not know is permitted; wrong numbers for a known function
	 * are not.
	 */
	if (!d || c->func >= ev->v->funcs)
		return;
	if (c->phase > CALL_END ||
	    c->npar != (c->phase == CALL_START ? d->start_npar : d->end_npar)) {
		ev->strange = true;
		return;
	}
	if (ev->taker->on_call)
		ev->taker->on_call(ev->taker->arg, c);
}

static void on_probe(void *arg, const struct ring_probe *p)
{
	struct events *ev = arg;
	struct segview_hit h;

	if (!segview_hit_make(ev->v, p, &h))
		ev->strange = true;
	else if (ev->taker->on_hit)
		ev->taker->on_hit(ev->taker->arg, &h);
}

static void on_event(void *arg, unsigned number, const struct ring_event *e, uint32_t n)
{
	struct events *ev = arg;

	if (number >= ev->nevent)
		ev->nevent = segview_event_count(ev->v);
	if (number >= ev->nevent)
		ev->strange = true;
	else if (ev->taker->on_event)
		ev->taker->on_event(ev->taker->arg,
				    &(struct segview_event){ number, e->ticks, e->value, n });
}

static void on_taken(void *arg)
{
	const struct events *ev = arg;

	ev->taker->on_taken(ev->taker->arg);
}

void segview_skip(struct segview *v, unsigned thread, uint64_t place)
{
	struct seg_thread *t =
		thread < v->plan.thread_count ? segview_thread_head(v, thread) : NULL;
	uint64_t head = t ? __atomic_load_n(&t->ring_head, __ATOMIC_ACQUIRE) : 0;
	uint64_t tail = t ? __atomic_load_n(&t->ring_tail, __ATOMIC_RELAXED) : 0;

	if (place > tail && place <= head && head - tail <= v->plan.ring_bytes && place % 8 == 0)
		__atomic_store_n(&t->ring_tail, place, __ATOMIC_RELEASE);
}

int segview_take(struct segview *v, unsigned thread, unsigned max, const struct segview_taker *t)
{
	struct events ev = { .v = v, .taker = t };
	struct seg_thread *head;
	struct ring r;
	int rc;

	if (thread >= v->plan.thread_count)
		return -ERR_INVALID;
	head = segview_thread_head(v, thread);
	r = (struct ring){
		.bytes = segview_block(v, thread) + v->plan.ring_offset,
		.size = v->plan.ring_bytes,
		.head = &head->ring_head,
		.tail = &head->ring_tail,
		.dropped = &head->ring_dropped,
	};
	rc = ring_take(&r, max,
		       &(struct ring_taker){ on_call, on_probe, on_event,
					     t->on_taken ? on_taken : NULL, t->place, &ev });
	return ev.strange ? -ERR_PROTO : rc;
}

int segview_events(struct segview *v, unsigned thread, unsigned max,
		   void (*fn)(void *arg, const struct ring_call *c), void *arg)
{
	return segview_take(v, thread, max, &(struct segview_taker){ .on_call = fn, .arg = arg });
}
