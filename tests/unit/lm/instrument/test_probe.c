/* SPDX-License-Identifier: Apache-2.0 */
/* Interests in probes with their counters, and conditional requests on them. */
#include "common/base/limits.h"
#include "common/omis/text/status.h"
#include "common/ring/calls_id.h"
#include "lm/proc/hooks.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <math.h>
#include <signal.h>

#define SEEN_MAX 16

struct seen {
	unsigned n;
	int64_t vt[SEEN_MAX];
	double residuum[SEEN_MAX], read[SEEN_MAX][SEG_READS];
	unsigned nread;
	nsec_t time;
};

static void on_hit(void *arg, const struct probe_hit *h)
{
	struct seen *s = arg;

	ck_assert_uint_lt(s->n, SEEN_MAX);
	ck_assert_ptr_nonnull(h->thread);
	s->vt[s->n] = h->vt;
	if (h->npar > 1)
		s->residuum[s->n] = h->par[1].f;
	if (h->nread)
		memcpy(s->read[s->n], h->read, h->nread * sizeof(*h->read));
	s->nread = h->nread;
	s->time = h->time;
	s->n++;
}

static struct proc *proc0(void)
{
	return procs_find_pid(w.lm->procs, 100);
}

static int set_interest(const char *probe, const struct probe_read *read, size_t nread,
			struct seen *s, struct probe_interest **out)
{
	return probes_add_interest(
		w.lm->probes, proc0(),
		&(struct probe_ask){
			.probe = probe, .read = read, .nread = nread, .on_hit = on_hit, .arg = s },
		out);
}

static void region(struct fake_segment *s, int64_t vt, double residuum)
{
	fake_segment_probe(s, FAKE_REGION,
			   (const union seg_value[]){ { .i = vt }, { .f = residuum }, { .u = 9 } });
}

static void step(struct fake_segment *s, int64_t vt)
{
	fake_segment_probe(s, FAKE_STEP, &(union seg_value){ .i = vt });
}

TEST(a_probe_is_on_while_it_is_requested)
{
	struct probe_interest *a = NULL, *b = NULL, *c = NULL;
	struct seen one = { 0 }, two = { 0 };

	ck_assert_int_eq(set_interest("step", NULL, 0, &one, &a), 0);
	ck_assert_int_eq(set_interest("step", NULL, 0, &two, &b), 0);
	ck_assert_int_eq(set_interest("stop", NULL, 0, &two, &c), -ERR_NOTFOUND);
	ck_assert_uint_eq(fake_segment_probe_word(&seg, FAKE_STEP), PROBE_RECORD);
	ck_assert_uint_eq(fake_segment_probe_word(&seg, FAKE_REGION), 0);
	ck_assert_uint_eq(fake_segment_probe_word(&other, FAKE_STEP), 0);
	step(&seg, 1);
	probes_drop_interest(&a);
	ck_assert_ptr_null(a);
	ck_assert_uint_eq(fake_segment_probe_word(&seg, FAKE_STEP), PROBE_RECORD);
	step(&seg, 2);
	world_run(&w, 30 * MS); /* the rings are read by themselves */
	ck_assert_uint_eq(one.n, 0); /* it had ended before */
	ck_assert_uint_eq(two.n, 2);
	probes_drop_interest(&b);
	probes_drop_interest(&b);
	ck_assert_uint_eq(fake_segment_probe_word(&seg, FAKE_STEP), 0);
	ck_assert(!probes_wants_any(w.lm->probes));
}

TEST(probe_hits_before_an_interest_are_not_reported)
{
	struct probe_interest *a = NULL, *b = NULL;
	struct seen one = { 0 }, two = { 0 };

	ck_assert_int_eq(set_interest("step", NULL, 0, &one, &a), 0);
	step(&seg, 1);
	ck_assert_int_eq(set_interest("step", NULL, 0, &two, &b), 0);
	step(&seg, 2);
	probes_drain(w.lm->probes);
	ck_assert_uint_eq(one.n, 2);
	ck_assert_uint_eq(two.n, 1);
	ck_assert_int_eq(two.vt[0], 2);
	probes_drop_interest(&a);
	probes_drop_interest(&b);
}

TEST(counters_come_with_the_probe_as_each_interest_has_them)
{
	static const uint16_t sends[] = { CALL_ID_Send, CALL_ID_Barrier };
	const struct probe_read calls = { .kind = SEG_READ_CALLS, .func = sends, .nfunc = 2 },
				bytes = { .kind = SEG_READ_OUT, .func = sends, .nfunc = 2 },
				delay = { .kind = SEG_READ_DELAY, .func = sends, .nfunc = 1 };
	const struct probe_read first[] = { calls, delay }, second[] = { bytes, calls };
	struct probe_interest *a = NULL, *b = NULL;
	struct seen one = { 0 }, two = { 0 };

	ck_assert_int_eq(hooks_add_interest(proc0(), HOOKS_TOOL(3), HOOKS_ALL,
					    HOOK_COUNT | HOOK_TIME | HOOK_VOLUME, 0),
			 0);
	hooks_apply(proc0(), HOOKS_ALL);
	ck_assert_int_eq(set_interest("region_end", first, 2, &one, &a), 0);
	ck_assert_int_eq(set_interest("region_end", second, 2, &two, &b), 0);
	call(&seg, "MPI_Send", 80, 1);
	region(&seg, -5, 0.25);
	call(&seg, "MPI_Barrier", 0, -1);
	call(&seg, "MPI_Send", 8, 1);
	region(&seg, 6, 0.125);
	probes_drain(w.lm->probes);
	ck_assert_uint_eq(one.n, 2);
	ck_assert_uint_eq(two.n, 2);
	ck_assert_int_eq(one.vt[0], -5);
	ck_assert_double_eq(one.residuum[0], 0.25);
	ck_assert_double_eq(one.read[0][0], 1);
	ck_assert_double_eq(one.read[1][0], 3);
	ck_assert_double_eq_tol(one.read[1][1], 200e-9, 1e-15); /* the fake clock is in ns */
	ck_assert_double_eq(two.read[0][0], 80);
	ck_assert_double_eq(two.read[1][0], 88);
	ck_assert_double_eq(two.read[1][1], 3);
	probes_drop_interest(&a);
	region(&seg, 7, 0);
	probes_drain(w.lm->probes);
	ck_assert_double_eq(two.read[2][0], 88);
	ck_assert_double_eq(two.read[2][1], 3);
	probes_drop_interest(&b);
}

TEST(too_many_figures_are_refused_as_a_whole)
{
	struct probe_read many[SEG_READS + 1];
	struct probe_interest *a = NULL, *b = NULL;
	struct seen one = { 0 };

	for (unsigned i = 0; i <= SEG_READS; i++)
		many[i] = (struct probe_read){ .kind = SEG_READ_COUNTER, .cell = i };
	ck_assert_int_eq(set_interest("step", many, SEG_READS + 1, &one, &a), -ERR_LIMIT);
	ck_assert_int_eq(set_interest("step", many, SEG_READS - 1, &one, &a), 0);
	ck_assert_int_eq(set_interest("step", &many[SEG_READS - 2], 3, &one, &b), -ERR_LIMIT);
	ck_assert_int_eq(set_interest("step", &many[SEG_READS - 2], 2, &one, &b), 0);
	probes_drop_interest(&b);
	ck_assert_int_eq(set_interest("step", &many[SEG_READS], 1, &one, &b), 0);
	probes_drop_interest(&a);
	probes_drop_interest(&b);
	many[0].cell = SEG_CELLS;
	ck_assert_int_eq(set_interest("step", many, 1, &one, &a), -ERR_INVALID);
	ck_assert_uint_eq(fake_segment_probe_word(&seg, FAKE_STEP), 0);
}

TEST(an_interest_ends_with_its_process_after_the_last_record)
{
	struct probe_interest *a = NULL;
	struct seen one = { 0 };

	ck_assert_int_eq(set_interest("step", NULL, 0, &one, &a), 0);
	step(&seg, 41);
	fake_proc_end(fake_proc_find(&w.host, 100), SIGKILL);
	ck_assert_uint_eq(one.n, 1);
	ck_assert_ptr_null(a);
	ck_assert(!probes_wants_any(w.lm->probes));
}

TEST(without_memory_nothing_is_requested_by_half)
{
	static const uint16_t sends[] = { CALL_ID_Send };
	const struct probe_read r[] = { { .kind = SEG_READ_CALLS, .func = sends, .nfunc = 1 },
					{ .kind = SEG_READ_COUNTER, .cell = 3 } };
	struct probe_interest *a = NULL, *b = NULL;
	struct seen one = { 0 };
	int rc;

	ALLOC_SWEEP (k) {
		segview_reset(proc0()->seg);
		rc = set_interest("step", r, 2, &one, &a);
		if (!rc)
			rc = set_interest("region_end", r, 2, &one, &b);
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		ck_assert(!a == !fake_segment_probe_word(&seg, FAKE_STEP));
		ck_assert(!b == !fake_segment_probe_word(&seg, FAKE_REGION));
		probes_drop_interest(&a);
		probes_drop_interest(&b);
		ck_assert_ptr_null(proc0()->probes);
	}
}

/* --- conditional requests */

TEST(a_probe_is_an_event_with_its_parameters)
{
	const struct msg_triggered *t;

	arm("thread_executes_probe([@],\"region_end\"): print([$vt,$par2])", rank0, 0, true);
	ck_assert_uint_eq(fake_segment_probe_word(&seg, FAKE_REGION), PROBE_RECORD);
	ck_assert_uint_eq(fake_segment_probe_word(&other, FAKE_REGION), 0);
	region(&seg, 17, 0.5);
	fake_segment_probe(
		&seg, FAKE_REGION,
		(const union seg_value[]){ { .i = -1 }, { .f = -3 }, { .u = UINT64_MAX } });
	world_run(&w, 30 * MS);
	t = next_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->proc, rank0);
	ck_assert_int_eq(strncmp(t->thread, "t_7_", 4), 0);
	ck_assert_uint_eq(t->npar, 3);
	ck_assert_str_eq(par(t, 1), "17");
	ck_assert_str_eq(par(t, 2), "0.5");
	ck_assert_str_eq(par(t, 3), "9");
	t = next_triggered();
	ck_assert_str_eq(par(t, 1), "-1");
	ck_assert_str_eq(par(t, 2), "-3.0");
	ck_assert_double_eq(strtod(par(t, 3), NULL), 0x1p64);
	ck_assert_ptr_null(next_triggered());
	world_run(&w, 30 * MS);
}

static void lets_go(void *arg, struct proc *p)
{
	procs_detach(p, "an event ring makes no sense");
}

/* Its ring is read again for the interest, which removes the process and its site. */
TEST(a_segment_that_becomes_invalid_while_armed_affects_no_other)
{
	const struct msg_arm_ack *ack;

	probes_set_ring(w.lm->probes, &(struct probes_ring){ .drain = lets_go });
	ack = arm("thread_executes_probe([@],\"step\"): print([$vt])", rank0, 0, true);
	for (size_t i = 0; i < ack->nentry; i++)
		ck_assert_msg(ack->entry[i].status < STATUS_FIRST_ERROR, "%s",
			      entry_text(&ack->entry[i]));
	ck_assert_uint_eq(procs_detached(w.lm->procs), 1);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 1); /* the awaited process may still appear */
}

TEST(counting_at_a_probe_is_done_in_the_rank)
{
	arm("thread_executes_probe([@],\"step\"): pa_counter_local_increment(pa_cl_1,$par1)", rank0,
	    1, false);
	ck_assert_uint_eq(fake_segment_probe_word(&seg, FAKE_STEP), PROBE_ACTION);
	step(&seg, 40);
	step(&seg, 2);
	ck_assert_uint_eq(fake_segment_thread(&seg, 0)->ring_head, 0);
	world_run(&w, 30 * MS);
	ck_assert_int_eq(read_counter("pa_cl_1"), 42);
}

TEST(filters_take_parameters_of_probes)
{
	const struct msg_triggered *t;

	arm("thread_executes_probe([@],\"region_end\"): omig_if($par2,\">\",1.5) print([$vt])",
	    rank0, 1, true);
	region(&seg, 1, 1.5);
	region(&seg, 2, 1.75);
	world_run(&w, 30 * MS);
	t = next_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(par(t, 1), "2");
	ck_assert_ptr_null(next_triggered());
}

TEST(an_unknown_probe_is_refused_with_the_names_of_others)
{
	const struct msg_arm_ack *a;

	a = arm("thread_executes_probe([@],\"loop_ed\"): print([$vt])", rank0, 0, true);
	ck_assert_uint_eq(a->nentry, 2);
	ck_assert_uint_eq(a->entry[1].status, STATUS_PARAMETER_ERROR);
	ck_assert_ptr_nonnull(
		strstr(entry_text(&a->entry[1]), "no process here has a probe 'loop_ed'"));
	ck_assert_ptr_nonnull(strstr(entry_text(&a->entry[1]), "there are: step, region_end"));
}

BARE_TEST(processes_that_come_later_are_watched_at_their_probes)
{
	struct fake_segment third;
	const struct msg_triggered *t;

	open_ranks();
	arm("thread_executes_probe([@],\"step\"): print([$vt])", "n_7", 0, true);
	world_add_rank(&w, &third, 300, 2, NULL);
	ck_assert_uint_eq(fake_segment_probe_word(&third, FAKE_STEP), PROBE_RECORD);
	step(&third, 5);
	world_run(&w, 30 * MS);
	t = next_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(par(t, 1), "5");
	close_ranks();
	fake_segment_close(&third);
}

TEST(a_process_reports_its_probes)
{
	const struct msg_reply *r;

	r = world_ask(&w, OBSERVER, with(":proc_get_probes([@])", rank0));
	ck_assert_uint_eq(r->nentry, 1);
	ck_assert_str_eq(r->entry[0].objects, rank0);
	ck_assert_str_eq(
		entry_text(&r->entry[0]),
		"2,[\"step\",[\"int32\"]],[\"region_end\",[\"int64\",\"float64\",\"uint64\"]]");
}

TEST(a_record_that_no_probe_of_the_process_makes_detaches_it)
{
	struct seg_thread *t;
	struct ring ring;
	union ring_record r = {
		.probe = { .word = RING_WORD(40, RING_PROBE), .probe = 7, .npar = 1 }
	};

	arm("thread_executes_probe([@],\"step\"): print([$vt])", rank0, 0, true);
	t = fake_segment_thread(&seg, 0);
	ring = (struct ring){ (uint8_t *)t + seg.h->ring_offset, seg.h->ring_bytes, &t->ring_head,
			      &t->ring_tail, &t->ring_dropped };
	ck_assert(ring_put(&ring, &r, 40));
	world_run(&w, 30 * MS);
	ck_assert_ptr_null(proc0()->seg);
	ck_assert_uint_eq(procs_detached(w.lm->procs), 1);
}

SUITE_WITH("lm probes", open_ranks, close_ranks)
