/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of this program: found by their note, switched by their words, reported with their
 * counters.
 */
#include "common/base/err.h"
#include "common/ring/calls.h"
#include "common/ring/calls_id.h"
#include "libapp/hot/app_state.h"
#include "libapp/setup/probe_abi.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/odd_objects.h"
#include "tests/unit/libapp/rank.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- as `omig probes` would make them */

static unsigned words[OMIG_PROBE_PAGE / 4] __attribute__((aligned(OMIG_PROBE_PAGE)));
static const unsigned char step_types[] = { SEG_I32 };
static const unsigned char end_types[] = { SEG_I64, SEG_F64, SEG_U8 };
static const unsigned char odd_types[] = { SEG_I64, 99 };
static const struct omig_probe table[] = {
	{ "step", step_types, 1 },
	{ "odd", odd_types, 2 }, /* of an unknown type */
	{ "region_end", end_types, 3 },
};
struct omig_probes probes_of_test
	__attribute__((visibility("hidden"), used)) = { OMIG_PROBE_ABI, 3, table, words, NULL, 0 };
__asm__(".pushsection .note.omig,\"a\",%note\n"
	".balign 4\n.long 5, 8, 1\n.asciz \"OMIG\"\n.balign 4\n"
	"0: .quad probes_of_test - 0b\n.popsection\n");

enum { STEP, ODD, REGION_END };

/* The objects of odd_objects.h, then those of this process. */
int dl_iterate_phdr(int (*fn)(struct dl_phdr_info *, size_t, void *), void *arg)
{
	int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	void *sym = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	int rc = show_odd_objects(fn, arg);

	memcpy(&real, &sym, sizeof(real));
	return rc ? rc : real(fn, arg);
}

static void step(int vt)
{
	unsigned word = __atomic_load_n(&words[STEP], __ATOMIC_RELAXED);
	union omig_value v[1];

	v[0].i = vt;
	if (word)
		probes_of_test.hit(probes_of_test.first + STEP, word, v);
}

static void region_end(long vt, double residuum, unsigned char tries)
{
	unsigned word = __atomic_load_n(&words[REGION_END], __ATOMIC_RELAXED);
	union omig_value v[3];

	v[0].i = vt;
	v[1].f = residuum;
	v[2].i = tries;
	if (word)
		probes_of_test.hit(probes_of_test.first + REGION_END, word, v);
}

/* --- */

#define SEEN_MAX 64

struct seen {
	struct segview_hit hit[SEEN_MAX];
	union seg_value par[SEEN_MAX][SEG_PROBE_PARAMS];
	unsigned n;
};

static void on_hit(void *arg, const struct segview_hit *h)
{
	struct seen *s = arg;

	if (s->n == SEEN_MAX)
		return;
	s->hit[s->n] = *h;
	memcpy(s->par[s->n++], h->par,
	       segview_probe(rank_view, h->probe)->nparam * sizeof(h->par[0]));
}

static void look(struct seen *s)
{
	memset(s, 0, sizeof(*s));
	for (unsigned i = 0; i < segview_threads(rank_view); i++)
		ck_assert_int_ge(
			segview_take(rank_view, i, UINT32_MAX,
				     &(struct segview_taker){ .on_hit = on_hit, .arg = s }),
			0);
}

static void on(unsigned probe, uint32_t word)
{
	ck_assert_int_eq(segview_probe_set(rank_view, probe, word), 0);
}

static unsigned read_cell(unsigned probe, enum seg_read_kind kind, unsigned cell)
{
	unsigned slot;

	ck_assert_int_eq(segview_read_add(rank_view, probe,
					  &(struct segview_read){ .kind = kind, .cell = cell },
					  &slot),
			 0);
	return slot;
}

static unsigned read_sends(unsigned probe, enum seg_read_kind kind)
{
	static const uint16_t sends[] = { CALL_ID_Send, CALL_ID_Barrier };
	unsigned slot;

	ck_assert_int_eq(
		segview_read_add(rank_view, probe,
				 &(struct segview_read){ .kind = kind, .func = sends, .nfunc = 2 },
				 &slot),
		0);
	return slot;
}

static int buf[16];

static void send_three(void)
{
	MPI_Send(buf, 3, FAKE_INT, 2, 5, FAKE_WORLD);
}

TEST(probes_are_found_by_the_note_of_their_program)
{
	ck_assert_uint_eq(segview_probes(rank_view), 2);
	ck_assert_int_eq(segview_probe_find(rank_view, "step"), STEP);
	ck_assert_int_eq(segview_probe_find(rank_view, "region_end"), REGION_END);
	ck_assert_int_eq(segview_probe_find(rank_view, "odd"), -1);
	ck_assert_uint_eq(segview_probe(rank_view, REGION_END)->nparam, 3);
	ck_assert_mem_eq(segview_probe(rank_view, REGION_END)->type, end_types, 3);
	ck_assert_ptr_null(segview_probe(rank_view, ODD));
}

TEST(a_probe_that_is_off_reports_nothing)
{
	struct seen s;

	step(1);
	region_end(1, 0.5, 3);
	look(&s);
	ck_assert_uint_eq(s.n, 0);
}

TEST(an_active_probe_reports_its_parameters)
{
	uint64_t before = ticks_now(app_state.ticks);
	struct seen s;

	on(REGION_END, PROBE_RECORD);
	step(1);
	region_end(-17, 0.125, 200);
	on(REGION_END, 0);
	region_end(18, 1, 1);
	look(&s);
	ck_assert_uint_eq(s.n, 1);
	ck_assert_uint_eq(s.hit[0].probe, REGION_END);
	ck_assert_int_eq(s.par[0][0].i, -17);
	ck_assert_double_eq(s.par[0][1].f, 0.125);
	ck_assert_uint_eq(s.par[0][2].u, 200);
	ck_assert_int_eq(s.hit[0].tid, getpid());
	ck_assert_uint_ge(s.hit[0].ticks, before);
	ck_assert_uint_le(s.hit[0].ticks, ticks_now(app_state.ticks));
	ck_assert_uint_eq(s.hit[0].mask, 0);
}

TEST(probe_reads_counters_as_of_its_call)
{
	unsigned count, out, delay, cell;
	struct seen s;

	rank_hooks(HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_ACTION_START);
	rank_action((struct seg_action){ .func = CALL_ID_Send,
					 .phase = CALL_START,
					 .op = ACTION_COUNTER_ADD,
					 .cell = 7,
					 .value = 2 },
		    -1);
	on(STEP, PROBE_RECORD);
	count = read_sends(STEP, SEG_READ_CALLS);
	out = read_sends(STEP, SEG_READ_OUT);
	delay = read_sends(STEP, SEG_READ_DELAY);
	cell = read_cell(STEP, SEG_READ_COUNTER, 7);
	for (int i = 1; i <= 5; i++) {
		send_three();
		step(i);
		MPI_Barrier(FAKE_WORLD);
	}
	look(&s);
	ck_assert_uint_eq(s.n, 5);
	for (unsigned i = 0; i < 5; i++) {
		const union seg_value *r = s.hit[i].read;

		ck_assert_uint_eq(s.hit[i].mask,
				  1u << count | 1u << out | 1u << delay | 1u << cell);
		ck_assert_int_eq(s.par[i][0].i, i + 1);
		ck_assert_uint_eq(r[count].u, 2 * i + 1);
		ck_assert_uint_eq(r[out].u, 12 * (i + 1));
		ck_assert_int_eq(r[cell].i, 2 * (i + 1));
		ck_assert_uint_gt(r[delay].u, i ? s.hit[i - 1].read[delay].u : 0);
	}
}

TEST(an_integrator_is_read_at_the_probes_own_clock_read)
{
	unsigned slot[2];
	struct seen s;
	uint64_t first;

	rank_hooks(HOOK_ACTION_START);
	rank_action((struct seg_action){ .func = CALL_ID_Send,
					 .phase = CALL_START,
					 .op = ACTION_INTEGRATOR_ADD,
					 .cell = 3,
					 .value = 1 },
		    -1);
	rank_action((struct seg_action){ .func = CALL_ID_Send,
					 .phase = CALL_START,
					 .op = ACTION_INTEGRATOR_ADD,
					 .cell = 4,
					 .value = 2 },
		    -1);
	on(STEP, PROBE_RECORD);
	slot[0] = read_cell(STEP, SEG_READ_INTEGRATOR, 3);
	slot[1] = read_cell(STEP, SEG_READ_INTEGRATOR, 4);
	send_three();
	step(1);
	step(2);
	look(&s);
	ck_assert_uint_eq(s.n, 2);
	first = s.hit[0].ticks - (uint64_t)s.hit[0].read[slot[0]].f; /* when the send began */
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_double_eq(s.hit[i].read[slot[0]].f, (double)(s.hit[i].ticks - first));
		ck_assert_double_eq_tol(s.hit[i].read[slot[1]].f, 2 * s.hit[i].read[slot[0]].f,
					2e6);
	}
}

TEST(partners_are_distinguished_at_a_probe)
{
	static const uint16_t sends[] = { CALL_ID_Send, CALL_ID_Barrier };
	static const int32_t partners[] = { 1, 3 };
	struct segview_read want = { SEG_READ_PARTNER_OUT, 0, sends, 2, partners, 2 };
	unsigned out, calls, delay, other;
	struct seen s;

	rank_hooks(HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER);
	on(STEP, PROBE_RECORD);
	ck_assert_int_eq(segview_read_add(rank_view, STEP, &want, &out), 0);
	want.kind = SEG_READ_PARTNER_CALLS;
	ck_assert_int_eq(segview_read_add(rank_view, STEP, &want, &calls), 0);
	want.kind = SEG_READ_PARTNER_DELAY;
	ck_assert_int_eq(segview_read_add(rank_view, STEP, &want, &delay), 0);
	want.nrank = 1;
	ck_assert_int_eq(segview_read_add(rank_view, STEP, &want, &other), 0);
	ck_assert_uint_ne(delay, other);
	for (int to = 0; to < 4; to++)
		MPI_Send(buf, to + 1, FAKE_INT, to, 5, FAKE_WORLD);
	MPI_Send(buf, 10, FAKE_INT, 3, 5, FAKE_WORLD);
	step(1);
	look(&s);
	ck_assert_uint_eq(s.n, 1);
	ck_assert_uint_eq(s.hit[0].read[calls].u, 3);
	ck_assert_uint_eq(s.hit[0].read[out].u, 4 * (2 + 4 + 10));
	ck_assert_uint_eq(s.hit[0].read[other].u, rank_partner(CALL_ID_Send, 1).delay);
	ck_assert_uint_gt(s.hit[0].read[delay].u, s.hit[0].read[other].u);
}

/* --- regions: from step to region_end */

static unsigned meter(enum seg_read_kind kind, unsigned begin, unsigned end)
{
	static const uint16_t sends[] = { CALL_ID_Send };
	const struct segview_meter want = { begin,
					    end,
					    { .kind = kind, .func = sends, .nfunc = 1 } };
	unsigned number;

	ck_assert_int_eq(segview_meter_add(rank_view, &want, ticks_now(app_state.ticks), &number),
			 0);
	return number;
}

static uint64_t metered(unsigned number)
{
	struct segview_metered m;

	ck_assert_int_eq(segview_meter_read(rank_view, number, ticks_now(app_state.ticks), &m), 0);
	ck_assert(!m.torn);
	ck_assert_uint_eq(m.doubt, 0);
	return m.value;
}

TEST(meter_counts_only_calls_inside_its_region)
{
	unsigned calls, delay, bytes;

	rank_hooks(HOOK_COUNT | HOOK_TIME | HOOK_VOLUME);
	calls = meter(SEG_READ_CALLS, STEP, REGION_END);
	delay = meter(SEG_READ_DELAY, STEP, REGION_END);
	bytes = meter(SEG_READ_OUT, STEP, REGION_END);
	for (int i = 1; i <= 3; i++) {
		send_three();
		step(i);
		send_three();
		send_three();
		ck_assert_uint_eq(metered(calls), 2 * i); /* read while it is open */
		step(i); /* a thread inside stays there */
		region_end(i, 0, 0);
		send_three();
		region_end(i, 0, 0);
	}
	ck_assert_uint_eq(metered(calls), 6);
	ck_assert_uint_eq(metered(bytes), 6 * 12);
	ck_assert_uint_gt(metered(delay), 0);
	ck_assert_uint_lt(metered(delay), rank_call(CALL_ID_Send).delay);
	segview_meter_del(rank_view, bytes);
	ck_assert_uint_eq(words[STEP], PROBE_EDGE);
	segview_meter_del(rank_view, calls);
	segview_meter_del(rank_view, delay);
	ck_assert_uint_eq(words[STEP] | words[REGION_END], 0);
}

TEST(partners_are_distinguished_in_a_region)
{
	static const uint16_t sends[] = { CALL_ID_Send, CALL_ID_Barrier };
	static const int32_t partners[] = { 1, 3 };
	struct segview_meter want = { STEP,
				      REGION_END,
				      { SEG_READ_PARTNER_CALLS, 0, sends, 2, partners, 2 } };
	unsigned calls, bytes;

	rank_hooks(HOOK_COUNT | HOOK_VOLUME | HOOK_PARTNER);
	ck_assert_int_eq(segview_meter_add(rank_view, &want, 0, &calls), 0);
	want.read.kind = SEG_READ_PARTNER_OUT;
	ck_assert_int_eq(segview_meter_add(rank_view, &want, 0, &bytes), 0);
	for (int i = 1; i <= 3; i++) {
		MPI_Send(buf, 7, FAKE_INT, 3, 5, FAKE_WORLD); /* outside */
		step(i);
		for (int to = 0; to < 4; to++)
			MPI_Send(buf, to + 1, FAKE_INT, to, 5, FAKE_WORLD);
		ck_assert_uint_eq(metered(calls), 2 * i);
		region_end(i, 0, 0);
	}
	ck_assert_uint_eq(metered(bytes), 3 * 4 * (2 + 4));
	segview_meter_del(rank_view, calls);
	segview_meter_del(rank_view, bytes);
}

TEST(a_region_that_was_open_at_the_beginning_counts_from_there)
{
	struct segview_metered m;
	unsigned calls;

	rank_hooks(HOOK_COUNT);
	send_three();
	calls = meter(SEG_READ_CALLS, STEP, REGION_END);
	send_three();
	ck_assert_int_eq(segview_meter_read(rank_view, calls, 0, &m), 0);
	ck_assert_uint_eq(m.value, 0);
	ck_assert_uint_eq(m.doubt, 1); /* not known yet */
	region_end(1, 0, 0);
	send_three();
	ck_assert_uint_eq(metered(calls), 1);
	ck_assert_uint_eq(meter(SEG_READ_CALLS, STEP, REGION_END), calls); /* shared */
	segview_meter_del(rank_view, calls);
	segview_meter_del(rank_view, calls);
	ck_assert_uint_eq(meter(SEG_READ_CALLS, STEP, REGION_END), calls);
	/*
	 * The first probe after the change: the thread counts as outside, because its earlier note
	 * belongs to another meter.
	 */
	step(2);
	send_three();
	ck_assert_uint_eq(metered(calls), 1);
	calls = meter(SEG_READ_CALLS, STEP, STEP); /* all after the first one */
	step(3);
	send_three();
	step(4);
	ck_assert_uint_eq(metered(calls), 1);
}

static void *in_another_thread(void *arg)
{
	for (int i = 0; i < 10; i++)
		send_three();
	step(77);
	return NULL;
}

TEST(all_threads_of_the_process_count)
{
	unsigned count;
	pthread_t t;
	struct seen s;

	rank_hooks(HOOK_COUNT | HOOK_TIME);
	on(STEP, PROBE_RECORD);
	count = read_sends(STEP, SEG_READ_CALLS);
	send_three();
	ck_assert_int_eq(pthread_create(&t, NULL, in_another_thread, NULL), 0);
	pthread_join(t, NULL);
	step(78);
	look(&s);
	ck_assert_uint_eq(s.n, 2);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_uint_eq(s.hit[i].read[count].u, 11);
	ck_assert_uint_ne(s.hit[0].tid, s.hit[1].tid);
}

#define MEANWHILE 20000

static void *works_meanwhile(void *arg)
{
	for (int i = 0; i < MEANWHILE; i++)
		send_three();
	__atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
	return NULL;
}

/*
 * Whenever they are read, counters only grow, and no call is missing at the end. Delays may
 * decrease: a call seems open while its thread is off its processor between the end and its record.
 */
TEST(figures_of_a_thread_that_works_meanwhile_only_grow)
{
	unsigned count, out;
	uint64_t last[SEG_READS] = { 0 };
	int is_over = 0;
	pthread_t t;
	struct seen s;

	rank_hooks(HOOK_COUNT | HOOK_TIME | HOOK_VOLUME);
	on(STEP, PROBE_RECORD);
	count = read_sends(STEP, SEG_READ_CALLS);
	out = read_sends(STEP, SEG_READ_OUT);
	ck_assert_int_eq(pthread_create(&t, NULL, works_meanwhile, &is_over), 0);
	for (int over = 0; !over;) {
		over = __atomic_load_n(&is_over, __ATOMIC_ACQUIRE);
		for (int i = 0; i < 32; i++)
			step(i);
		look(&s);
		for (unsigned i = 0; i < s.n; i++)
			for (unsigned k = 0; k < SEG_READS; k++) {
				if (!(s.hit[i].mask >> k & 1))
					continue;
				ck_assert_uint_ge(s.hit[i].read[k].u, last[k]);
				last[k] = s.hit[i].read[k].u;
			}
	}
	pthread_join(t, NULL);
	ck_assert_uint_eq(last[count], MEANWHILE);
	ck_assert_uint_eq(last[out], 12 * MEANWHILE);
}

TEST(actions_of_a_probe_run_in_the_rank)
{
	struct seg_action whole = { .op = ACTION_COUNTER_ADD,
				    .func = SEG_HOOKS + REGION_END,
				    .cell = 1,
				    .operand = ACTION_PAR,
				    .par = 1 };
	struct seg_action tested = { .op = ACTION_COUNTER_ADD,
				     .func = SEG_HOOKS + REGION_END,
				     .cell = 2,
				     .operand = ACTION_PAR,
				     .par = 2,
				     .test = ACTION_IF_GT,
				     .test_par = 2,
				     .test_value = 2.25 };
	struct segview_cell c;
	unsigned index;
	struct seen s;

	ck_assert_int_eq(segview_action_add(rank_view, &whole, NULL, NULL, &index), 0);
	ck_assert_int_eq(segview_action_add(rank_view, &tested, NULL, NULL, &index), 0);
	tested.par = 4; /* the number is three */
	ck_assert_int_eq(segview_action_add(rank_view, &tested, NULL, NULL, &index), -ERR_INVALID);
	on(REGION_END, PROBE_ACTION);
	region_end(40, 1.5, 0);
	region_end(2, 3.5, 0);
	segview_counter(rank_view, SEGVIEW_ALL, 1, &c);
	ck_assert_int_eq(c.n, 42);
	segview_counter(rank_view, SEGVIEW_ALL, 2, &c);
	ck_assert_int_eq(c.n, 3);
	look(&s);
	ck_assert_uint_eq(s.n, 0);
}

TEST(records_that_nothing_takes_are_dropped_and_counted)
{
	struct segview_thread t;
	int taken;

	on(STEP, PROBE_RECORD);
	for (int i = 0; i < 20000; i++)
		step(i);
	taken = segview_take(rank_view, 0, UINT32_MAX, &(struct segview_taker){ 0 });
	ck_assert_int_gt(taken, 100);
	segview_thread(rank_view, 0, &t);
	ck_assert_uint_eq(t.ring_dropped + (unsigned)taken, 20000);
}

static void probe_inside(void)
{
	step(5);
}

TEST(a_probe_inside_of_a_call_is_counted_and_not_reported)
{
	struct seg_own own;
	struct seen s;

	rank_hooks(HOOK_COUNT | HOOK_TIME);
	on(STEP, PROBE_RECORD);
	for (int i = 0; i < 3; i++) {
		fake_end.inside = probe_inside;
		send_three();
	}
	fake_end.inside = NULL;
	step(6);
	look(&s);
	segview_own(rank_view, &own);
	ck_assert_uint_eq(own.probes_nested, 3);
	ck_assert_uint_eq(s.n, 1);
	ck_assert_int_eq(s.par[0][0].i, 6);
	ck_assert_uint_eq(rank_call(CALL_ID_Send).count, 3);
}

TEST(a_slot_that_means_something_new_has_no_value_in_old_records)
{
	unsigned old, new;
	struct seen s;

	on(STEP, PROBE_RECORD);
	old = read_cell(STEP, SEG_READ_COUNTER, 1);
	step(1);
	segview_read_del(rank_view, STEP, old);
	new = read_cell(STEP, SEG_READ_COUNTER, 2);
	ck_assert_uint_eq(old, new);
	step(2);
	look(&s);
	ck_assert_uint_eq(s.n, 2);
	ck_assert_uint_eq(s.hit[0].mask, 0);
	ck_assert_uint_eq(s.hit[1].mask, 1u << new);
}

TEST(pcontrol_silences_probes_and_lets_them_speak)
{
	struct seen s;

	on(STEP, PROBE_RECORD);
	MPI_Pcontrol(0, NULL);
	step(1);
	MPI_Pcontrol(1, NULL);
	step(2);
	look(&s);
	ck_assert_uint_eq(s.n, 1);
	ck_assert_int_eq(s.par[0][0].i, 2);
}

TEST(a_forked_child_reports_nothing)
{
	struct seen s;
	int status;
	pid_t pid;

	on(STEP, PROBE_RECORD);
	step(1);
	pid = fork();
	if (pid == 0) {
		step(2);
		_exit(words[STEP] != 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	step(3);
	look(&s);
	ck_assert_uint_eq(s.n, 2);
	ck_assert_int_eq(s.par[1][0].i, 3);
}

SUITE_WITH("probes", rank_up, rank_down)
