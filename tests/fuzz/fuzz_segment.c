/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment with any contents, read by all functions with which an lm reads it. The input is a list
 * of 10-byte patches over a good segment: where (16 bits: a word of the header, of the tables, of
 * the thread's part) and the word. If the first byte is 0, the rest is the header itself.
 */
#include "common/ring/calls.h"
#include "common/ring/calls_id.h"
#include "common/ring/segview.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (640 * 1024)
#define PATCH_BYTES 10

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static _Alignas(64) uint8_t memory[BYTES_MAX], good[BYTES_MAX];
static size_t bytes;
static unsigned seen;

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void make_good(void)
{
	struct seg_header *h = (void *)good;
	struct seg_thread *t;

	seg_plan(h, CALL_COUNT, 1, SEG_RING_MIN_BYTES);
	h->magic = SEG_MAGIC;
	bytes = h->segment_bytes;
	demand(bytes <= BYTES_MAX);
	t = (void *)(good + h->thread_offset);
	t->tid = 1;
	t->ring_head = 512;
	*(struct seg_probe *)(void *)(good + h->probe_offset) =
		(struct seg_probe){ .name = "step", .nparam = 2, .type = { SEG_I64, SEG_F64 } };
	/* Of the list that read_posted() begins. */
	for (unsigned i = 0; i < SEG_POSTED; i += 100)
		((struct seg_posted *)(void *)(good + h->posted_offset))[i] =
			(struct seg_posted){ .state = 1, .func = (uint16_t)i };
	for (unsigned i = 0; i < 8; i++)
		*(uint64_t *)(void *)(good + h->thread_offset + h->ring_offset + i * 64) =
			RING_WORD(64, i % 2   ? RING_PAD
				      : i % 4 ? RING_PROBE
					      : RING_CALL);
}

/* Half of the patches change words that control the reader: header, thread head, ring. */
static size_t place(uint16_t number)
{
	const struct seg_header *h = (const void *)good;
	size_t at = number >> 2, words = bytes / 8;

	switch (number & 3) {
	case 0:
		if (at % 4 == 3)
			return h->probe_offset / 8 + at / 4 % (2 * sizeof(struct seg_probe) / 8);
		return at % (sizeof(*h) / 8);
	case 1:
		return h->thread_offset / 8 + at % (sizeof(struct seg_thread) / 8);
	case 2:
		return (h->thread_offset + h->ring_offset) / 8 + at % (h->ring_bytes / 8);
	default:
		return (at * 4 + number % 7) % words;
	}
}

/*
 * Sets n bytes at `at` as in the good segment: an input disturbs a few words, copying all takes
 * longest.
 */
static void restore(size_t at, size_t n)
{
	memcpy(memory + at, good + at, n);
}

/* The writes of reading and changing. */
static void restore_used(void)
{
	const struct seg_header *h = (const void *)good;

	restore(0, sizeof(*h));
	restore(h->hook_offset, CALL_COUNT * sizeof(uint32_t));
	restore(h->head_offset, CALL_COUNT * 2 * sizeof(uint16_t));
	restore(h->action_offset, 2 * sizeof(struct seg_action));
	restore(h->list_offset, 8);
	restore(h->note_offset, sizeof(struct seg_note));
	restore(h->probe_word_offset, sizeof(uint32_t));
	restore(h->read_offset, sizeof(struct seg_reads));
	restore(h->read_func_offset, 2 * sizeof(uint16_t));
	restore(h->meter_offset, sizeof(struct seg_meter));
	restore(h->edge_offset, sizeof(struct seg_edges));
	restore(h->thread_offset, sizeof(struct seg_thread));
}

static void patch(const uint8_t *p, size_t n)
{
	uint16_t where;

	if (n && p[0] == 0) {
		n = n - 1 < sizeof(struct seg_header) ? n - 1 : sizeof(struct seg_header);
		memcpy(memory, p + 1, n);
		return;
	}
	for (; n >= PATCH_BYTES; p += PATCH_BYTES, n -= PATCH_BYTES) {
		memcpy(&where, p, 2);
		memcpy(memory + place(where) * 8, p + 2, 8);
	}
}

static void unpatch(const uint8_t *p, size_t n)
{
	uint16_t where;

	for (; n >= PATCH_BYTES; p += PATCH_BYTES, n -= PATCH_BYTES) {
		memcpy(&where, p, 2);
		restore(place(where) * 8, 8);
	}
}

static void on_partner(void *arg, const struct segview_partner *s)
{
	demand(call_get(s->func) != NULL);
}

static void on_event(void *arg, const struct ring_call *c)
{
	const struct call_desc *d = call_get(c->func);

	demand(d && c->npar == (c->phase ? d->end_npar : d->start_npar));
	seen += (unsigned)c->par[c->npar - 1];
}

static void on_hit(void *arg, const struct segview_hit *h)
{
	const struct seg_probe *p = segview_probe(arg, h->probe);

	demand(p && p->nparam >= 1 && p->nparam <= SEG_PROBE_PARAMS);
	demand(segview_probe_find(arg, p->name) >= 0 && h->mask >> SEG_READS == 0);
	seen += (unsigned)(h->par[p->nparam - 1].u + h->read[SEG_READS - 1].u);
}

static void read_texts(const struct segview *v)
{
	struct seg_own own;

	segview_own(v, &own);
	demand(strlen(own.job) < sizeof(own.job) && strlen(own.site) < sizeof(own.site) &&
	       strlen(own.program) < sizeof(own.program) &&
	       strlen(own.library) < sizeof(own.library));
}

static void read_values(const struct segview *v)
{
	struct segview_call call;
	struct segview_cell cell;
	struct seg_note note;

	for (unsigned f = 0; f < segview_funcs(v); f += 17)
		demand(!segview_call(v, SEGVIEW_ALL, f, 1000, &call));
	for (unsigned c = 0; c < SEG_CELLS; c += 9) {
		demand(!segview_integrator(v, SEGVIEW_ALL, c, 1000, &cell));
		demand(cell.v - cell.v == 0 || cell.v != 0);
		segview_note_get(v, c, &note);
	}
}

static void read_posted(struct segview *v)
{
	struct segview_posted p;

	segview_posted_start(v);
	for (unsigned i = 0; i <= SEG_POSTED; i++)
		if (segview_posted(v, i, &p))
			demand(i < SEG_POSTED && call_get(p.func) && p.bytes >= 0);
	seen += (unsigned)segview_posted_lost(v);
}

static void read_threads(struct segview *v)
{
	const struct segview_taker taker = { .on_call = on_event, .on_hit = on_hit, .arg = v };
	struct segview_thread t;

	for (unsigned i = 0; i < segview_threads(v); i++) {
		demand(!segview_thread(v, i, &t));
		segview_partners(v, i, on_partner, NULL);
		/*
		 * Reads at most as many records as the ring can hold; then it is empty or was given
		 * up.
		 */
		demand(segview_take(v, i, UINT32_MAX, &taker) <= SEG_RING_MIN_BYTES / 24);
		demand(segview_take(v, i, UINT32_MAX, &taker) <= 0);
	}
}

/* The notes of the thread about a region may be anything. */
static void change_meter(struct segview *v)
{
	static const uint16_t sends[] = { CALL_ID_Send, CALL_ID_Recv };
	const struct segview_meter want = { 0,
					    0,
					    { .kind = SEG_READ_DELAY, .func = sends, .nfunc = 2 } };
	struct segview_metered m;
	unsigned number;

	demand(!segview_meter_add(v, &want, 1000, &number));
	demand(!segview_meter_read(v, number, 2000, &m));
	seen += (unsigned)(m.value + m.doubt);
	segview_meter_del(v, number);
	demand(segview_meter_read(v, number, 2000, &m) < 0);
}

static void change(struct segview *v)
{
	struct seg_action a = { .op = ACTION_COUNTER_ADD,
				.func = CALL_ID_Send,
				.partner_count = 1 };
	const struct segview_read read = { .kind = SEG_READ_COUNTER, .cell = 3 };
	const int32_t partner = 3;
	unsigned index, slot;

	segview_hook_set(v, CALL_ID_Send, HOOK_COUNT, 0);
	demand(segview_action_add(v, &a, &partner, NULL, &index) == 0);
	demand(!segview_action_del(v, index));
	demand(!segview_note_set(v, 0, &(struct seg_note){ .kind = 1, .number = 1 }));
	segview_lm_alive(v, 7);
	if (!segview_probe(v, 0))
		return;
	demand(!segview_probe_set(v, 0, PROBE_RECORD));
	demand(!segview_read_add(v, 0, &read, &slot));
	segview_read_del(v, 0, slot);
	if (segview_funcs(v) > CALL_ID_Recv)
		change_meter(v);
}

static void use(struct segview *v, size_t n)
{
	read_texts(v);
	read_values(v);
	read_posted(v);
	read_threads(v);
	/* Skipped for most inputs: its memory costs more time than all other calls. */
	if (n % 8 == 3)
		change(v);
	segview_free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct segview *v = NULL;

	if (!bytes) {
		make_good();
		memcpy(memory, good, bytes);
	}
	patch(p, n);
	if (!segview_over(memory, bytes, &v, NULL))
		use(v, n);
	unpatch(p, n);
	restore_used();
	return 0;
}
