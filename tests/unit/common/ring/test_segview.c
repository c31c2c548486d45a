/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a segment, and all possible corruptions of one. */
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/ring/calls.h"
#include "common/ring/calls_id.h"
#include "tests/suite.h"
#include "tests/unit/common/ring/made.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct made m;

static void set_up(void)
{
	made_init(&m, 3, 0);
}

static void clean_up(void)
{
	made_done(&m);
}

static struct segview *view(void)
{
	struct segview *v = NULL;

	ck_assert_int_eq(segview_over(m.p, m.n, &v, NULL), 0);
	return v;
}

TEST(values_are_summed_over_the_threads_that_were_ever_used)
{
	struct segview *v = view();
	struct segview_call c;

	for (unsigned t = 0; t < 3; t++) {
		made_thread(&m, t)->tid = t < 2 ? 10 + t : 0;
		*made_slot(&m, t, CALL_ID_Recv) = (struct seg_slot){
			.count = 3, .delay = 100, .bytes_in = 8, .sampled = 3, .begin = t ? 500 : 0
		};
	}
	ck_assert_int_eq(segview_call(v, SEGVIEW_ALL, CALL_ID_Recv, 700, &c), 0);
	ck_assert_uint_eq(c.count, 6);
	ck_assert_uint_eq(c.delay, 200);
	ck_assert_uint_eq(c.open_delay, 200);
	ck_assert_uint_eq(c.in_call, 1);
	ck_assert_uint_eq(c.bytes_in, 16);
	ck_assert(!c.torn);
	ck_assert_int_eq(segview_hook_set(v, CALL_ID_Recv, HOOK_TIME | 3 << HOOK_SAMPLE_SHIFT, 0),
			 0);
	segview_call(v, 0, CALL_ID_Recv, 600, &c); /* of that thread alone */
	ck_assert_uint_eq(c.count, 3);
	ck_assert_uint_eq(c.open_delay, 0);
	segview_call(v, 1, CALL_ID_Recv, 600, &c);
	ck_assert_uint_eq(c.count, 3);
	ck_assert_uint_eq(c.open_delay, 800);
	segview_call(v, 1, CALL_ID_Recv, 400, &c); /* before it began: nothing */
	ck_assert_uint_eq(c.open_delay, 0);
	ck_assert_int_eq(segview_call(v, 3, CALL_ID_Recv, 0, &c), -ERR_INVALID);
	ck_assert_int_eq(segview_call(v, 0, CALL_COUNT, 0, &c), -ERR_INVALID);
	ck_assert_int_eq(segview_call(v, UINT32_MAX - 1, 0, 0, &c), -ERR_INVALID);
	segview_free(v);
}

TEST(a_meter_that_is_not_there_is_not_read)
{
	struct segview *v = view();
	struct segview_metered out;

	ck_assert_int_eq(segview_meter_read(v, 0, 1, &out), -ERR_INVALID);
	ck_assert_int_eq(segview_meter_read(v, SEG_METERS, 1, &out), -ERR_INVALID);
	ck_assert_int_eq(segview_meter_read(v, UINT32_MAX, 1, &out), -ERR_INVALID);
	segview_free(v);
}

static void put_current(unsigned thread, unsigned func, uint64_t number, uint64_t marks,
			uint64_t frame)
{
	made_thread(&m, thread)->tid = 10 + thread;
	made_thread(&m, thread)->current =
		(struct seg_current){ .word = number * SEG_CURRENT_ONE + marks + func + 1,
				      .frame = frame,
				      .peer = 3,
				      .tag = 7,
				      .comm = 99 };
	((struct seg_header *)(void *)m.p)->w.pcontrol = 1;
}

TEST(a_call_from_before_counts_since_its_hook_is_on)
{
	struct segview *v = view();
	struct segview_call c;

	put_current(0, CALL_ID_Recv, 4, 0, 1);
	put_current(1, CALL_ID_Recv, 4, SEG_CURRENT_TIMED, 1); /* sampling passes over it */
	put_current(2, CALL_ID_Recv, 4, 0, 0); /* it is over */
	segview_call(v, SEGVIEW_ALL, CALL_ID_Recv, 700, &c);
	ck_assert_uint_eq(c.in_call, 0);
	segview_hook_set(v, CALL_ID_Recv, HOOK_COUNT | HOOK_TIME | 3 << HOOK_SAMPLE_SHIFT, 500);
	segview_hook_set(v, CALL_ID_Send, HOOK_TIME, 400);
	segview_call(v, SEGVIEW_ALL, CALL_ID_Recv, 700, &c);
	ck_assert_uint_eq(c.in_call, 1);
	ck_assert_uint_eq(c.open_delay, 200);
	ck_assert_uint_eq(c.count, 0);
	segview_call(v, SEGVIEW_ALL, CALL_ID_Send, 700, &c);
	ck_assert_uint_eq(c.in_call, 0);
	segview_hook_set(v, CALL_ID_Recv, HOOK_TIME, 600); /* on it is already */
	segview_call(v, 0, CALL_ID_Recv, 700, &c);
	ck_assert_uint_eq(c.open_delay, 200);
	segview_hook_set(v, CALL_ID_Recv, HOOK_COUNT, 0);
	segview_hook_set(v, CALL_ID_Recv, HOOK_TIME, 600);
	segview_call(v, 0, CALL_ID_Recv, 700, &c);
	ck_assert_uint_eq(c.open_delay, 100);
	segview_free(v);
}

TEST(the_next_lm_continues_from_where_the_hook_was_switched_on)
{
	struct segview *v = view();
	struct segview_call c;

	put_current(0, CALL_ID_Recv, 4, 0, 1);
	segview_hook_set(v, CALL_ID_Recv, HOOK_TIME, 500);
	segview_reset(v);
	segview_hook_set(v, CALL_ID_Recv, HOOK_TIME, 600);
	segview_call(v, 0, CALL_ID_Recv, 700, &c);
	ck_assert_uint_eq(c.open_delay, 200);
	segview_free(v);
}

TEST(the_call_of_a_thread_is_seen_and_nonsense_is_none)
{
	struct segview *v = view();
	struct segview_current c;

	ck_assert(!segview_current(v, 0, &c));
	put_current(0, CALL_ID_Recv, 4, SEG_CURRENT_FORTRAN, 1);
	ck_assert(segview_current(v, 0, &c));
	ck_assert_uint_eq(c.number, 4);
	ck_assert_uint_eq(c.func, CALL_ID_Recv);
	ck_assert(c.is_inside && c.is_fortran && !c.is_timed);
	ck_assert_int_eq(c.peer, 3);
	ck_assert_int_eq(c.tag, 7);
	ck_assert_uint_eq(c.comm, 99);
	put_current(0, CALL_COUNT, 4, 0, 1);
	ck_assert(!segview_current(v, 0, &c));
	ck_assert(!segview_current(v, 3, &c));
	segview_free(v);
}

TEST(a_writer_that_died_in_an_update_does_not_hang_the_reader)
{
	struct segview *v = view();
	struct segview_call c;
	struct segview_cell cell;

	made_thread(&m, 0)->tid = 1;
	made_slot(&m, 0, CALL_ID_Send)->seq = 7;
	made_slot(&m, 0, CALL_ID_Send)->count = 4;
	made_cells(&m, 0)[2].seq = 1;
	segview_call(v, SEGVIEW_ALL, CALL_ID_Send, 0, &c);
	ck_assert(c.torn);
	ck_assert_uint_eq(c.count, 4);
	segview_counter(v, SEGVIEW_ALL, 2, &cell);
	ck_assert(cell.torn);
	segview_free(v);
}

TEST(an_integrator_counts_what_has_not_ended)
{
	struct segview *v = view();
	struct segview_cell c;

	made_thread(&m, 0)->tid = made_thread(&m, 1)->tid = 1;
	cell_integrator_add(&made_cells(&m, 0)[5], 2, 100);
	cell_integrator_add(&made_cells(&m, 1)[5], 1, 150);
	cell_integrator_add(&made_cells(&m, 1)[5], -1, 160);
	ck_assert_int_eq(segview_integrator(v, SEGVIEW_ALL, 5, 200, &c), 0);
	ck_assert_double_eq(c.integral, 210);
	ck_assert_double_eq(c.v, 2);
	ck_assert_uint_eq(c.t, 160);
	/* Nonsense of one thread does not swallow the other's. */
	made_cells(&m, 0)[5].integral = 0.0 / 0.0;
	made_cells(&m, 0)[5].v = 1e308 * 10;
	segview_integrator(v, SEGVIEW_ALL, 5, 200, &c);
	ck_assert_double_eq(c.integral, 10);
	ck_assert_int_eq(segview_counter(v, 0, SEG_CELLS, &c), -ERR_INVALID);
	segview_free(v);
}

TEST(texts_of_the_program_are_cleaned)
{
	struct seg_own *own = &((struct seg_header *)(void *)m.p)->w, out;
	struct segview *v = view();

	memset(own->job, 'x', sizeof(own->job)); /* no end */
	memcpy(own->site, "a\033[2Jb", 7);
	memcpy(own->program, "\xc0\x80", 3);
	memcpy(own->library, "Open MPI", 9);
	segview_own(v, &out);
	ck_assert_uint_eq(strlen(out.job), sizeof(out.job) - 1);
	ck_assert_str_eq(out.site, "");
	ck_assert_str_eq(out.program, "");
	ck_assert_str_eq(out.library, "Open MPI");
	segview_free(v);
}

/* Each byte of the header's layout part, flipped: refused, or (a spare one) without effect. */
TEST(a_header_that_contradicts_itself_is_refused)
{
	size_t refused = 0, layout = offsetof(struct seg_header, w);

	for (size_t i = 0; i < layout; i++) {
		struct segview *v = NULL;

		for (unsigned bit = 0; bit < 8; bit++) {
			m.p[i] ^= (uint8_t)(1u << bit);
			refused += segview_over(m.p, m.n, &v, NULL) < 0;
			m.p[i] ^= (uint8_t)(1u << bit);
		}
		segview_free(v);
	}
	ck_assert_uint_eq(refused, layout * 8);
}

TEST(another_version_is_named)
{
	struct seg_header *h = (void *)m.p;
	struct segview *v = NULL;
	struct err e = { 0 };
	char layout[32];

	h->version = SEG_VERSION + 1;
	ck_assert_int_eq(segview_over(m.p, m.n, &v, &e), -ERR_UNSUPPORTED);
	snprintf(layout, sizeof(layout), "layout %u", SEG_VERSION + 1);
	ck_assert_ptr_nonnull(strstr(e.text, layout));
	h->magic = 0;
	ck_assert_int_eq(segview_over(m.p, m.n, &v, &e), -ERR_AGAIN);
	ck_assert_int_eq(segview_over(m.p, 100, &v, &e), -ERR_PROTO);
	ck_assert_ptr_null(v);
}

TEST(an_older_program_with_fewer_functions_is_read)
{
	struct seg_header *h = (void *)m.p, plan = { .magic = SEG_MAGIC };
	struct segview_call c;
	struct segview *v;

	seg_plan(&plan, 10, 3, 0);
	memset(m.p, 0, m.n);
	*h = plan;
	ck_assert_int_eq(segview_over(m.p, plan.segment_bytes, &v, NULL), 0);
	ck_assert_uint_eq(segview_funcs(v), 10);
	ck_assert_int_eq(segview_call(v, 0, 9, 0, &c), 0);
	ck_assert_int_eq(segview_call(v, 0, 10, 0, &c), -ERR_INVALID);
	ck_assert_int_eq(segview_hook_set(v, 10, 1, 0), -ERR_INVALID);
	segview_free(v);
}

static void any_partner(void *arg, const struct segview_partner *p)
{
	ck_assert_uint_lt(p->func, CALL_COUNT);
	++*(unsigned *)arg;
}

static void any_event(void *arg, const struct ring_call *c)
{
	ck_assert_ptr_nonnull(call_get(c->func));
	ck_assert_uint_le(c->npar, RING_PAR_MAX);
	++*(unsigned *)arg;
}

/* Reads and writes all that an lm reads and writes. */
static void use_all(struct segview *v)
{
	struct seg_action a = { .op = ACTION_COUNTER_ADD,
				.func = CALL_ID_Send,
				.partner_count = 2 };
	const int32_t partners[] = { 1, 2 };
	struct segview_thread t;
	struct segview_call call;
	struct segview_cell cell;
	struct seg_own own;
	unsigned n = 0, index;

	segview_own(v, &own);
	for (unsigned i = 0; i < segview_threads(v); i++) {
		segview_thread(v, i, &t);
		ck_assert_uint_le(t.ring_used, m.plan.ring_bytes);
		segview_partners(v, i, any_partner, &n);
		segview_events(v, i, 100000, any_event, &n);
	}
	for (unsigned f = 0; f < segview_funcs(v); f++)
		segview_call(v, SEGVIEW_ALL, f, 1000, &call);
	for (unsigned c = 0; c < SEG_CELLS; c++)
		segview_integrator(v, SEGVIEW_ALL, c, 1000, &cell);
	segview_hook_set(v, CALL_ID_Send, HOOK_COUNT, 0);
	if (segview_action_add(v, &a, partners, NULL, &index) == 0)
		segview_action_del(v, index);
	segview_lm_alive(v, 1);
}

TEST(any_memory_behind_a_good_header_is_read_without_harm)
{
	struct segview *v = view();
	struct rng rng;

	rng_init(&rng, suite_seed(3));
	for (int round = 0; round < 60; round++) {
		uint64_t *p = (void *)(m.p + offsetof(struct seg_header, w));

		for (; (uint8_t *)p < m.p + m.n; p++)
			*p = rng_below(&rng, 3) ? rng_next(&rng) : rng_next(&rng) & 0xffff;
		use_all(v);
	}
	segview_free(v);
}

/* A program that flips words while the lm reads. Under the thread sanitizer: no race either. */
static int stop;

static void *vandal(void *arg)
{
	struct rng rng;
	uint64_t *words = (uint64_t *)(void *)m.p;
	size_t first = offsetof(struct seg_header, w) / 8, n = m.n / 8;

	rng_init(&rng, 5);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		for (int i = 0; i < 64; i++)
			__atomic_store_n(&words[first + rng_below(&rng, n - first)], rng_next(&rng),
					 __ATOMIC_RELAXED);
	return NULL;
}

TEST(a_segment_that_changes_during_reads_does_no_harm)
{
	struct segview *v = view();
	pthread_t other;

	ck_assert_int_eq(pthread_create(&other, NULL, vandal, NULL), 0);
	for (int i = 0; i < 200; i++)
		use_all(v);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(other, NULL);
	segview_free(v);
}

/* --- files */

static int memfd(off_t size, int seals)
{
	int fd = memfd_create("omig-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, size), 0);
	if (size == (off_t)m.n)
		ck_assert_int_eq(pwrite(fd, m.p, m.n, 0), (ssize_t)m.n);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static int try(int fd, uid_t owner)
{
	struct segview *v = NULL;
	int rc = segview_open(fd, owner, &v, NULL);

	segview_free(v);
	close(fd);
	return rc;
}

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

TEST(only_a_sealed_file_of_the_right_owner_and_size_is_mapped)
{
	int pipes[2];

	ck_assert_int_eq(try(memfd((off_t)m.n, SEALS), getuid()), 0);
	ck_assert_int_eq(try(memfd((off_t)m.n, SEALS), getuid() + 1), -ERR_DENIED);
	ck_assert_int_eq(try(memfd((off_t)m.n, F_SEAL_GROW | F_SEAL_SEAL), getuid()), -ERR_DENIED);
	ck_assert_int_eq(try(memfd((off_t)m.n, F_SEAL_SHRINK | F_SEAL_SEAL), getuid()),
			 -ERR_DENIED);
	ck_assert_int_eq(try(memfd((off_t)m.n, F_SEAL_SHRINK | F_SEAL_GROW), getuid()),
			 -ERR_DENIED);
	ck_assert_int_eq(try(memfd((off_t)m.n, SEALS | F_SEAL_WRITE), getuid()), -ERR_SYS);
	ck_assert_int_eq(try(memfd((off_t)m.n + 4096, SEALS), getuid()), -ERR_AGAIN); /* zeros */
	ck_assert_int_eq(try(memfd(0, SEALS), getuid()), -ERR_PROTO);
	ck_assert_int_eq(try(memfd((off_t)1 << 40, SEALS), getuid()), -ERR_PROTO);
	ck_assert_int_eq(try(open("/dev/zero", O_RDWR), getuid()), -ERR_DENIED);
	ck_assert_int_eq(try(open("/", O_RDONLY), getuid()), -ERR_DENIED);
	ck_assert_int_eq(pipe(pipes), 0);
	close(pipes[1]);
	ck_assert_int_eq(try(pipes[0], getuid()), -ERR_DENIED);
	ck_assert_int_eq(try(-1, getuid()), -ERR_DENIED); /* its seals are checked first */
}

/* A hole in it is filled from a pool that may be empty: then reading is a signal that kills. */
TEST(memory_of_huge_pages_is_not_mapped)
{
	int fd = memfd_create("omig-test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);

	if (fd < 0)
		return; /* not in this kernel */
	ck_assert_int_eq(ftruncate(fd, 16 << 20), 0);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, SEALS), 0);
	ck_assert_int_eq(try(fd, getuid()), -ERR_DENIED);
}

TEST(a_punched_hole_reads_as_zeros_and_is_no_segment)
{
	int fd = memfd((off_t)m.n, SEALS);
	struct segview *v = NULL;

	ck_assert_int_eq(segview_open(fd, getuid(), &v, NULL), 0);
	ck_assert_int_eq(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)m.n),
			 0);
	use_all(v); /* no SIGBUS */
	segview_free(v);
	ck_assert_int_eq(try(fd, getuid()), -ERR_AGAIN);
}

TEST(unknown_bits_of_hooks_are_refused)
{
	struct segview *v = view();

	ck_assert_int_eq(segview_hook_set(v, 0, HOOK_KNOWN + 1, 0), -ERR_INVALID);
	ck_assert_int_eq(segview_hook_set(v, 0, 16 << HOOK_SAMPLE_SHIFT, 0), -ERR_INVALID);
	ck_assert_int_eq(segview_hook_set(v, 0, HOOK_COUNT | 15 << HOOK_SAMPLE_SHIFT, 0), 0);
	ck_assert_uint_eq(segview_hook_get(v, 0), HOOK_COUNT | 15 << HOOK_SAMPLE_SHIFT);
	ck_assert_uint_eq(segview_hook_get(v, CALL_COUNT), 0);
	((struct seg_header *)(void *)m.p)->w.start_word = HOOK_COUNT | HOOK_EVENT_START;
	segview_reset(v);
	ck_assert_uint_eq(segview_hook_get(v, 0), HOOK_COUNT);
	segview_free(v);
}

TEST(interests_are_stored_as_a_whole_and_reset)
{
	struct segview_interests in = { .rest = HOOK_COUNT }, out;
	struct seg_lm *l = &((struct seg_header *)(void *)m.p)->l;
	struct segview *v = view();

	ck_assert(!segview_interests_get(v, &out)); /* an lm of an older version has none */
	for (unsigned i = 0; i < SEG_INTERESTS; i++)
		in.tool[i] = (struct seg_interest){ 10 + i, HOOK_COUNT | HOOK_TIME };
	segview_interests_set(v, &in);
	ck_assert(segview_interests_get(v, &out));
	ck_assert_mem_eq(&in, &out, sizeof(in));
	l->interest_seq++; /* it died while it wrote */
	ck_assert(!segview_interests_get(v, &out));
	segview_interests_set(v, &in);
	ck_assert(segview_interests_get(v, &out));
	l->interest_seq = UINT32_MAX - 1; /* the next number is 0, which means none */
	segview_interests_set(v, &in);
	ck_assert(segview_interests_get(v, &out));
	segview_reset(v);
	ck_assert(segview_interests_get(v, &out));
	ck_assert_uint_eq(out.rest | out.tool[0].word | out.tool[SEG_INTERESTS - 1].word, 0);
	segview_free(v);
}

/* Types of the tables have 8 bytes at most, and some of them are atomic. */
TEST(each_table_of_the_plan_is_aligned)
{
	struct seg_header h = { 0 };

	seg_plan(&h, call_count, 3, 1);
	const uint64_t table[] = { h.hook_offset,    h.probe_word_offset, h.event_word_offset,
				   h.since_offset,   h.head_offset,	  h.action_offset,
				   h.list_offset,    h.note_offset,	  h.probe_offset,
				   h.read_offset,    h.read_func_offset,  h.meter_offset,
				   h.edge_offset,    h.event_offset,	  h.event_text_offset,
				   h.module_offset,  h.posted_offset,	  h.mount_offset,
				   h.thread_offset,  h.slot_offset,	  h.cell_offset,
				   h.partner_offset, h.metered_offset,	  h.site_offset,
				   h.size_offset,    h.extent_offset,	  h.ring_offset };

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		ck_assert_msg(table[i] % 8 == 0, "table %zu begins at %llu", i,
			      (unsigned long long)table[i]);
}

TEST(the_plan_keeps_to_its_limits)
{
	struct seg_header h;

	seg_plan(&h, 0, 0, 0);
	ck_assert_uint_eq(h.thread_count, 1);
	ck_assert_uint_eq(h.ring_bytes, SEG_RING_MIN_BYTES);
	seg_plan(&h, UINT32_MAX, UINT32_MAX, UINT64_MAX);
	ck_assert_uint_eq(h.func_count, SEG_HOOKS);
	ck_assert_uint_eq(h.thread_count, SEG_THREADS_MAX);
	ck_assert_uint_eq(h.ring_bytes, SEG_RING_MAX_BYTES);
	ck_assert_uint_le(h.segment_bytes, SEG_BYTES_MAX);
	seg_plan(&h, CALL_COUNT, SEG_THREADS_DEFAULT, SEG_RING_DEFAULT_BYTES);
	ck_assert_uint_le(h.segment_bytes, 2240 * 1024); /* memory of each rank */
	ck_assert_uint_eq(h.thread_offset % SEG_PAGE_BYTES, 0);
	ck_assert_uint_eq(h.thread_bytes % SEG_PAGE_BYTES, 0);
}

TEST(the_ca_id_is_found_in_a_connection_string)
{
	char id[SEG_CAID_CHARS + 1];

	ck_assert_int_eq(seg_caid("omig1:h:1:abcdefgh0123:t.s", id), 0);
	ck_assert_str_eq(id, "abcdefgh");
	ck_assert_int_eq(seg_caid("omig1:[::1],[fe80::2]:99:01234567", id), 0);
	ck_assert_str_eq(id, "01234567");
	ck_assert_int_eq(seg_caid(NULL, id), -1);
	ck_assert_str_eq(id, "local");
	ck_assert_int_eq(seg_caid("omig1:h:1:abc", id), -1);
	ck_assert_int_eq(seg_caid("omig1:h:1:../../..", id), -1);
	ck_assert_int_eq(seg_caid("omig2:h:1:abcdefgh", id), -1);
	ck_assert_int_eq(seg_caid("omig1:[::::::", id), -1);
	ck_assert_str_eq(id, "local");
}

TEST(the_path_of_an_lm_fits_or_is_refused)
{
	struct seg_lm_name lm = { .runtime = "/r", .host = "host", .caid = "abcdefgh" };
	char out[40];

	ck_assert_int_eq(seg_lm_path(out, sizeof(out), &lm, ".sock"), 0);
	ck_assert_str_eq(out, "/r/lm-host-abcdefgh.sock");
	ck_assert_int_eq(seg_lm_path(out, 24, &lm, ".sock"), -1);
	lm.host = "a/b";
	ck_assert_int_eq(seg_lm_path(out, sizeof(out), &lm, ".sock"), -1);
	lm.host = "";
	ck_assert_int_eq(seg_lm_path(out, sizeof(out), &lm, ".sock"), -1);
}

/* A file that a dead lm has left is replaced; the umask of the program stays, and is not the
 * socket's. */
TEST(the_socket_of_an_lm_listens_for_its_owner_alone)
{
	char dir[] = "/tmp/omig-test-XXXXXX", path[64], much[200];
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct stat st;
	int fd[2], conn;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.sock", dir);
	str_copy(to.sun_path, sizeof(to.sun_path), path);
	umask(0);
	for (int i = 0; i < 2; i++) {
		fd[i] = seg_listen(path);
		ck_assert_int_ge(fd[i], 0);
		ck_assert_int_eq(fcntl(fd[i], F_GETFD), FD_CLOEXEC);
	}
	ck_assert_uint_eq(umask(022), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFSOCK | 0600);
	conn = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	ck_assert_int_eq(connect(conn, (const struct sockaddr *)&to, sizeof(to)), 0);
	ck_assert_int_lt(accept(fd[0], NULL, NULL), 0);
	ck_assert_int_ge(accept(fd[1], NULL, NULL), 0);
	unlink(path);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(seg_listen(path), -1);
	rmdir(path);
	rmdir(dir);
	ck_assert_int_eq(seg_listen(path), -1);
	ck_assert_int_eq(errno, ENOENT);
	memset(much, 'a', sizeof(much) - 1);
	much[sizeof(much) - 1] = 0;
	ck_assert_int_eq(seg_listen(much), -1);
	ck_assert_int_eq(errno, ENAMETOOLONG);
}

SUITE_WITH("segview", set_up, clean_up)
