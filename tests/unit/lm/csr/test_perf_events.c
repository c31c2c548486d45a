/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests whose events the kernel records. The test replaces perf_event_open(), which
 * few machines permit.
 */
#include "common/base/array.h"
#include "common/omis/text/status.h"
#include "lm/host/perf.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#define RECORDS_MAX 8
#define PERFS_MAX 16

struct perf {
	bool is_open;
	int32_t tid;
	enum perf_what what;
	uint64_t addr;
	struct perf_record record[RECORDS_MAX];
	size_t n;
};

static struct perf perfs[PERFS_MAX];
static int refuse; /* an error of the next openings; 0: none */

int perf_open(int32_t tid, enum perf_what what, uint64_t addr, struct perf **out, struct err *e)
{
	struct perf *p = perfs;

	if (refuse)
		return err_set(e, (enum err_code)refuse, "the kernel refuses it");
	while (p->is_open)
		p++;
	ck_assert(p < perfs + PERFS_MAX);
	*p = (struct perf){ .is_open = true, .tid = tid, .what = what, .addr = addr };
	*out = p;
	return 0;
}

void perf_close(struct perf *p)
{
	ck_assert(p->is_open);
	p->is_open = false;
}

void perf_read(struct perf *p, perf_fn fn, void *arg)
{
	ck_assert(p->is_open);
	for (size_t i = 0; i < p->n; i++)
		fn(arg, &p->record[i]);
	p->n = 0;
}

size_t perf_decode(const uint8_t *p, size_t n, struct perf_record *out, bool *is_known)
{
	return 0;
}

/* --- the tests */

static void set_up(void)
{
	memset(perfs, 0, sizeof(perfs));
	refuse = 0;
	open_ranks();
	fake_thread_add(fake_proc_find(&w.host, 100), 101);
	world_run(&w, 2 * SEC);
}

static void clean_up(void)
{
	close_ranks();
}

static size_t count_open(void)
{
	size_t n = 0;

	for (size_t i = 0; i < PERFS_MAX; i++)
		n += perfs[i].is_open;
	return n;
}

static struct perf *perf_of(int32_t tid)
{
	for (size_t i = 0; i < PERFS_MAX; i++)
		if (perfs[i].is_open && perfs[i].tid == tid)
			return &perfs[i];
	ck_abort_msg("thread %d is not watched", tid);
	return NULL;
}

static void note(int32_t tid, struct perf_record r)
{
	struct perf *p = perf_of(tid);

	ck_assert_uint_lt(p->n, RECORDS_MAX);
	r.tid = tid;
	p->record[p->n++] = r;
}

/* Events that fired since the last call; rings are read every 10 ms. */
static unsigned fired(void)
{
	unsigned n = 0;

	world_run(&w, 20 * MS);
	while (next_triggered())
		n++;
	return n;
}

/* Entries that are errors, each of a thread of rank 0. */
static size_t count_errors(const struct msg_arm_ack *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->nentry; i++) {
		if (a->entry[i].status == STATUS_OK)
			continue;
		ck_assert_int_eq(strncmp(a->entry[i].objects, "t_7_", 4), 0);
		ck_assert_str_eq(entry_text(&a->entry[i]), "the kernel refuses it");
		n++;
	}
	return n;
}

/* The third and the last bring their thread back, the last one from a wait. */
static const struct perf_record life[] = {
	{ .time = 1 }, { .time = 2, .is_out = true, .is_preempted = true },
	{ .time = 3 }, { .time = 4, .is_out = true },
	{ .time = 5 },
};

static const struct {
	const char *event;
	unsigned fires;
} events[] = {
	{ "thread_has_been_descheduled", 2 }, { "proc_has_been_descheduled", 2 },
	{ "thread_has_been_scheduled", 3 },   { "proc_has_been_scheduled", 3 },
	{ "thread_has_blocked", 1 },	      { "thread_has_been_unblocked", 1 },
};

TEST(switches_of_a_thread_fire_what_they_mean)
{
	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		char text[100];

		snprintf(text, sizeof(text), "%s([@]): print([1])", events[i].event);
		ck_assert_uint_eq(count_errors(arm(text, rank0, 0, true)), 0);
		ck_assert_uint_eq(count_open(), 2); /* both threads, and not the other rank */
		ck_assert_uint_eq(perf_of(100)->what, PERF_SWITCH);
		for (size_t k = 0; k < ARRAY_LEN(life); k++)
			note(101, life[k]);
		ck_assert_msg(fired() == events[i].fires, "%s", events[i].event);
		ck_assert_uint_eq(fired(), 0);
		csrs_disarm(w.lm->csrs, "c_5");
		ck_assert_uint_eq(count_open(), 0);
	}
}

TEST(an_address_fires_with_its_thread_and_its_time)
{
	const struct msg_triggered *t;
	nsec_t now;

	arm("thread_reached_addr([@],4660): print([1])", rank0, 0, true);
	ck_assert_uint_eq(count_open(), 2);
	ck_assert_uint_eq(perf_of(101)->what, PERF_ADDR);
	ck_assert_uint_eq(perf_of(101)->addr, 4660);
	now = loop_now(w.loop);
	note(101, (struct perf_record){ .time = now - 5 });
	note(101, (struct perf_record){ .time = INT64_MAX });
	world_run(&w, 20 * MS);
	t = next_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->proc, rank0);
	ck_assert_int_eq(strncmp(t->thread, "t_7_", 4), 0);
	ck_assert_int_eq(t->time_ns, timebase_at(&w.time, now - 5));
	t = next_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_int_le(t->time_ns, timebase_at(&w.time, loop_now(w.loop)));
}

TEST(events_that_could_not_be_noted_are_counted)
{
	const struct msg_triggered *t;

	arm("thread_reached_addr([@],1): print([1])", rank0, 0, true);
	note(100, (struct perf_record){ .lost = 4 });
	ck_assert_uint_eq(fired(), 0);
	note(100, (struct perf_record){ .time = 1 });
	world_run(&w, 20 * MS);
	t = next_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_uint_eq(t->dropped, 4);
}

TEST(threads_that_come_and_go_are_watched_while_they_live)
{
	arm("thread_has_blocked([@]): print([1])", rank0, 0, true);
	ck_assert_uint_eq(count_open(), 2);
	fake_thread_add(fake_proc_find(&w.host, 100), 102);
	world_run(&w, 2 * SEC);
	ck_assert_uint_eq(count_open(), 3);
	note(102, (struct perf_record){ .time = 1, .is_out = true });
	ck_assert_uint_eq(fired(), 1);
	fake_thread_end(fake_proc_find(&w.host, 100), 101);
	world_run(&w, 2 * SEC);
	ck_assert_uint_eq(count_open(), 2);
	ck_assert(perf_of(100) && perf_of(102));
	/* The last record is still read when the process ends. */
	note(102, (struct perf_record){ .time = 1, .is_out = true });
	fake_proc_end(fake_proc_find(&w.host, 100), 0);
	ck_assert_uint_eq(fired(), 1);
	ck_assert_uint_eq(count_open(), 0);
}

TEST(two_requests_have_rings_of_their_own)
{
	arm("thread_has_blocked([@]): print([1])", rank0, 0, true);
	world_arm(&w, "c_6", with("thread_has_blocked([@]): print([1])", rank1), 0, true);
	ck_assert_uint_eq(count_open(), 3);
	note(200, (struct perf_record){ .time = 1, .is_out = true });
	world_run(&w, 20 * MS);
	ck_assert_str_eq(next_triggered()->csr, "c_6");
	csrs_disarm(w.lm->csrs, "c_5");
	ck_assert_uint_eq(count_open(), 1);
	note(200, (struct perf_record){ .time = 1, .is_out = true });
	ck_assert_uint_eq(fired(), 1); /* it is examined still */
}

TEST(refused_breakpoint_is_an_error_of_its_thread)
{
	const struct msg_arm_ack *a;

	refuse = ERR_LIMIT;
	a = arm("thread_reached_addr([@],1): print([1])", rank0, 0, true);
	ck_assert_uint_eq(count_errors(a), 2);
	csrs_disarm(w.lm->csrs, "c_5");
	refuse = ERR_NOTFOUND; /* a thread that has just ended */
	a = arm("thread_reached_addr([@],1): print([1])", rank0, 0, true);
	ck_assert_uint_eq(count_errors(a), 0);
	ck_assert_uint_eq(fired(), 0);
}

SUITE_WITH("lm perf events", set_up, clean_up)
