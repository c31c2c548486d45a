/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execution of a probe: one clock read for its record, its reads, and its actions. Hot: the rules
 * of hook.h.
 */
#include "libapp/setup/probe.h"

#include "common/ring/calls.h"
#include "libapp/hot/args.h"
#include "libapp/hot/hook.h"
#include "libapp/setup/function.h"
#include "libapp/hot/meter.h"
#include "libapp/setup/setup.h"

/* Reads of a value that another thread is writing; then it counts as missing. */
#define READ_TRIES 8

struct probe_known probe_known[SEG_PROBES];

static_assert(sizeof(union omig_value) == sizeof(union seg_value), "the same words");

/* --- reading */

/* Returns the number of blocks used so far; they are taken in order. */
static uint32_t blocks(void)
{
	uint32_t n = __atomic_load_n(&app_header()->w.threads_used, __ATOMIC_RELAXED);

	return n < app_state.plan.thread_count ? n : app_state.plan.thread_count;
}

static double load_double(const double *p)
{
	double v;

	__atomic_load(p, &v, __ATOMIC_ACQUIRE);
	return v;
}

static const struct seg_cell *cell_of(uint32_t block, uint16_t cell)
{
	return (const struct seg_cell *)(const void *)(app_block(block) +
						       app_state.plan.cell_offset) +
	       cell;
}

static bool read_counter(const struct seg_read *r, uint64_t now, union seg_value *sum)
{
	uint64_t n = 0;

	for (uint32_t b = 0, end = blocks(); b < end; b++)
		n += (uint64_t)__atomic_load_n(&cell_of(b, r->cell)->n, __ATOMIC_RELAXED);
	sum->u = n;
	return true;
}

/* A signed number becomes a double in one instruction, an unsigned one does not. */
static bool add_integrator(const struct seg_cell *c, uint64_t now, double *sum)
{
	double integral, v;
	uint32_t seq;
	uint64_t t;

	for (unsigned i = 0; i < READ_TRIES; i++) {
		seq = __atomic_load_n(&c->seq, __ATOMIC_ACQUIRE);
		integral = load_double(&c->integral);
		v = load_double(&c->v);
		t = __atomic_load_n(&c->t, __ATOMIC_ACQUIRE);
		if ((seq & 1) || __atomic_load_n(&c->seq, __ATOMIC_RELAXED) != seq)
			continue;
		*sum += integral + (now > t ? v * (double)(int64_t)(now - t) : 0);
		return true;
	}
	return false;
}

static bool read_integrator(const struct seg_read *r, uint64_t now, union seg_value *sum)
{
	double all = 0;

	for (uint32_t b = 0, end = blocks(); b < end; b++)
		if (!add_integrator(cell_of(b, r->cell), now, &all))
			return false;
	sum->f = all;
	return true;
}

static uint64_t load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/* The begin of another thread's call that began before its hook was on; 0: it is in no call. */
static uint64_t late_begin(uint32_t block, uint16_t func)
{
	const struct seg_current *c =
		&((const struct seg_thread *)(const void *)app_block(block))->current;
	uint64_t word = load(&c->word);

	if ((word & SEG_CURRENT_FUNC) != func + 1u || word & SEG_CURRENT_TIMED || !load(&c->frame))
		return 0;
	return hook_late_since(func);
}

static bool add_slot(uint32_t block, uint16_t func, unsigned kind, uint64_t now, uint64_t *sum)
{
	const struct seg_slot *s =
		(const struct seg_slot *)(const void *)(app_block(block) +
							app_state.plan.slot_offset) +
		func;
	uint64_t value, begin;
	uint32_t seq;

	if (kind == SEG_READ_CALLS) {
		*sum += load(&s->count);
		return true;
	}
	for (unsigned i = 0; i < READ_TRIES; i++) {
		seq = __atomic_load_n(&s->seq, __ATOMIC_ACQUIRE);
		value = load(kind == SEG_READ_DELAY ? &s->delay
			     : kind == SEG_READ_OUT ? &s->bytes_out
						    : &s->bytes_in);
		begin = kind == SEG_READ_DELAY ? load(&s->begin) : 0;
		if (kind == SEG_READ_DELAY && !begin)
			begin = late_begin(block, func);
		if ((seq & 1) || __atomic_load_n(&s->seq, __ATOMIC_RELAXED) != seq)
			continue;
		*sum += value + (begin && now > begin ? now - begin : 0);
		return true;
	}
	return false;
}

static bool read_functions(const struct seg_read *r, uint64_t now, union seg_value *sum)
{
	const uint16_t *list = (const void *)(app_state.base + app_state.plan.read_func_offset);
	uint32_t end = blocks();

	sum->u = 0;
	if (r->first > SEG_READ_FUNCS || r->count > SEG_READ_FUNCS - r->first)
		return false;
	for (uint32_t b = 0; b < end; b++) {
		for (uint32_t i = r->first; i < (uint32_t)r->first + r->count; i++) {
			uint16_t func = __atomic_load_n(&list[i], __ATOMIC_RELAXED);

			if (func >= app_state.plan.func_count ||
			    !add_slot(b, func, r->kind, now, &sum->u))
				return false;
		}
	}
	return true;
}

/* --- of calls with some partners: sums of calls that have ended, each of which is whole */

static bool read_partners(const struct seg_read *r, union seg_value *sum)
{
	sum->u = 0;
	if (r->first + r->count + 2u * r->ranks > SEG_READ_FUNCS)
		return false;
	for (uint32_t b = 0, end = blocks(); b < end; b++)
		sum->u += meter_partners(app_block(b), r);
	return true;
}

static bool read_one(const struct seg_read *r, uint64_t now, union seg_value *out)
{
	if (SEG_IS_OF_PARTNERS(r->kind))
		return read_partners(r, out);
	if (SEG_IS_OF_REGION(r->kind))
		return false;
	if (r->kind == SEG_READ_COUNTER)
		return r->cell < SEG_CELLS && read_counter(r, now, out);
	if (r->kind == SEG_READ_INTEGRATOR)
		return r->cell < SEG_CELLS && read_integrator(r, now, out);
	return read_functions(r, now, out);
}

union read_copy {
	uint64_t word;
	struct seg_read r;
};

/*
 * Counters that the rank read: the words of a record after its time. They are assembled in
 * registers, because a word that was stored in pieces is slow to load as one.
 */
struct taken {
	uint64_t which; /* seq and mask */
	unsigned n;
};

/* Counters that the lm is changing now are not read: the record shows that. */
static struct taken take_reads(unsigned number, uint64_t *to, uint64_t now)
{
	const uint64_t *word = (const void *)(app_state.base + app_state.plan.read_offset +
					      number * sizeof(struct seg_reads));
	uint64_t head = load(word);
	uint32_t seq = (uint32_t)head, mask = 0;
	unsigned left = (unsigned)(head >> 32) & ((1u << SEG_READS) - 1), n = 0;
	union seg_value value;
	union read_copy read;

	if (seq & 1)
		left = 0;
	for (; left; left &= left - 1) {
		unsigned slot = (unsigned)__builtin_ctz(left);

		read.word = load(&word[slot + 1]);
		if (read_one(&read.r, now, &value)) {
			__atomic_store_n(&to[n++], value.u, __ATOMIC_RELAXED);
			mask |= 1u << slot;
		}
	}
	if (n && load(word) != head)
		n = mask = 0;
	return (struct taken){ seq | (uint64_t)mask << 32, n };
}

/* --- reports */

static void note_dropped(unsigned number)
{
	struct seg_probe *p = (void *)(app_state.base + app_state.plan.probe_offset);

	__atomic_fetch_add(&p[number].dropped, 1, __ATOMIC_RELAXED);
}

#define RECORD_BYTES(values) ((uint32_t)(sizeof(struct ring_probe) + (values)*8))

static void put_word(uint64_t *to, uint64_t word)
{
	__atomic_store_n(to, word, __ATOMIC_RELAXED);
}

static unsigned parameters_of(unsigned number)
{
	if (number < SEG_FUNCTION_FIRST)
		return probe_known[number].npar;
	return number < SEG_COLLECTIVE_FIRST ? 1 : 2;
}

/* Writes the record in place. */
static void put(const struct hook_thread *t, unsigned number, const union omig_value *value,
		uint64_t now)
{
	const unsigned npar = parameters_of(number);
	const struct ring ring = event_ring(t->block);
	uint64_t at, *r = ring_reserve(&ring, RECORD_BYTES(npar + SEG_READS), &at), *values;
	struct taken taken;

	if (!r) {
		note_dropped(number);
		return;
	}
	values = r + sizeof(struct ring_probe) / 8;
	/*
	 * Atomic stores, because the compiler would turn plain ones into a string instruction,
	 * which takes 20 ns to begin.
	 */
	for (unsigned i = 0; i < npar; i++)
		put_word(&values[i], (uint64_t)value[i].i);
	taken = take_reads(number, values + npar, now);
	put_word(&r[0], RING_WORD(RECORD_BYTES(npar + taken.n), RING_PROBE));
	put_word(&r[1], now);
	put_word(&r[2], RING_PROBE_WORD(number, npar, taken.n, t->tid));
	put_word(&r[3], taken.which);
	ring_commit(&ring, at, RECORD_BYTES(npar + taken.n));
}

static void act(const struct hook_thread *t, unsigned number, const union omig_value *value,
		uint64_t now)
{
	bool is_known = number < SEG_COLLECTIVE_FIRST;

	event_run(&(struct action_event){ .par = (const int64_t *)(const void *)value,
					  .npar = is_known ? probe_known[number].npar : 2,
					  .floats = is_known ? probe_known[number].floats : 2,
					  .func = (uint16_t)(SEG_HOOKS + number),
					  .phase = CALL_START,
					  .tid = t->tid,
					  .now = now,
					  .partner = CALL_PARTNER_NONE });
}

/* The thread is marked as writing a record. */
static void pass(const struct hook_thread *t, unsigned number, unsigned word,
		 const union omig_value *value, uint64_t now)
{
	if (word & PROBE_RECORD)
		put(t, number, value, now);
	if (word & PROBE_ACTION)
		act(t, number, value, now);
	if (word & PROBE_EDGE)
		meter_probe(t, number, now, false);
}

static bool is_free(struct hook_thread *t, uintptr_t frame)
{
	if (hook_is_free(t, frame, true))
		return true;
	if (t->slots)
		__atomic_fetch_add(&app_header()->w.probes_nested, 1, __ATOMIC_RELAXED);
	return false;
}

static unsigned function_word_of(uint32_t id, unsigned is_exit)
{
	return __atomic_load_n(&function_word[2 * SEG_FUNCTION_SLOT(id) + is_exit],
			       __ATOMIC_RELAXED);
}

/*
 * Entry or exit of a function: records, actions, and everything that the fast path cannot do. The
 * processor's state is saved.
 */
void function_pass(uint32_t id, uintptr_t frame, unsigned is_exit)
{
	static const union omig_value none;
	struct hook_thread *t = &hook_thread;
	uintptr_t here = hook_frame();
	unsigned word = function_word_of(id, is_exit);
	unsigned begin = SEG_FUNCTION_BEGIN(SEG_FUNCTION_SLOT(id));
	uint64_t now;
	enum function_pass is;

	if (!app_state.base || !is_free(t, here))
		return;
	hook_set_record(t->now, here);
	now = ticks_now(app_state.ticks);
	is = function_passes(t, id, frame, is_exit);
	if (is == FUNCTION_LEFT)
		pass(t, begin + 1, function_word_of(id, 1), &none, now);
	if (is == FUNCTION_AGAIN)
		meter_probe(t, begin, now, true);
	if (is == FUNCTION_EDGE || is == FUNCTION_LEFT)
		pass(t, begin + is_exit, word, &none, now);
	hook_set_frame(t->now, 0);
}

/* Runs between calls only: a probe inside of one, or while a record is written, is counted. */
void probe_hit(unsigned number, unsigned word, const union omig_value *value)
{
	struct hook_thread *t = &hook_thread;
	uintptr_t frame = hook_frame();
	uint64_t now;

	if (word & PROBE_COME) {
		setup_without_mpi();
		return;
	}
	if (number >= SEG_PROBES || !probe_known[number].npar || !app_state.base)
		return;
	if (!is_free(t, frame))
		return;
	hook_set_record(t->now, frame);
	now = ticks_now(app_state.ticks);
	pass(t, number, word, value, now);
	hook_set_frame(t->now, 0);
}

/* Converts a duration by the lm's scale. Returns false while there is none. */
static bool to_seconds(uint64_t ticks, double *out)
{
	const struct seg_lm *l = &app_header()->l;

	for (unsigned i = 0; i < READ_TRIES; i++) {
		uint32_t seq = __atomic_load_n(&l->seq, __ATOMIC_ACQUIRE);
		uint64_t mult = load(&l->mult);
		uint32_t shift = __atomic_load_n(&l->shift, __ATOMIC_ACQUIRE);

		if (!seq || seq & 1 || __atomic_load_n(&l->seq, __ATOMIC_RELAXED) != seq)
			continue;
		*out = (double)ticks * (double)mult / (double)(UINT64_C(1) << (shift & 63)) * 1e-9;
		return true;
	}
	return false;
}

void probe_collective(unsigned k, uint64_t key, uint64_t begin)
{
	uint64_t now = ticks_now(app_state.ticks);
	unsigned word = __atomic_load_n(&collective_word[k], __ATOMIC_RELAXED);
	union omig_value value[2] = { { .i = (long long)key } };

	if (begin && now >= begin && to_seconds(now - begin, &value[1].f))
		pass(&hook_thread, SEG_COLLECTIVE_FIRST + k, word, value, now);
}
