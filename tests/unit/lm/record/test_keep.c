/* SPDX-License-Identifier: Apache-2.0 */
/* Events of kept subscriptions: from the ring to the disk, and from there up. */
#include "common/base/file.h"
#include "eventlog/evread.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MAX_NS (20 * NSEC_PER_SEC)
#define KEPT(names) "thread_writes_events([@],[" names "],\"\",0,\"run7\"): print([])"

static char dir[40];
static struct fake_segment wide;
static struct evread *reader;
static uint64_t stream, place, events, last;
static bool has_ended;

static void set_up(void)
{
	/* In memory where that is to be had: here no disk is tested. */
	snprintf(dir, sizeof(dir), "%s/omig-lm-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	open_ranks();
	world_crash_lm(&w);
	w.spool = dir;
	world_start_lm(&w);
	reader = evread_new();
}

static void clean_up(void)
{
	pid_t child;

	evread_free(reader);
	close_ranks();
	child = fork();
	if (!child)
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
	waitpid(child, NULL, 0);
}

static unsigned announce(struct fake_segment *s, const char *name)
{
	static const struct evfield field[] = { { "n", EV_INT32 } };
	const struct evtype t = { .name = name, .level = EV_INFO, .nfield = 1, .field = field };

	return fake_segment_announce_type(s, &t);
}

static void write_events(struct fake_segment *s, unsigned number, int32_t from, int32_t to)
{
	for (int32_t n = from; n < to; n++)
		fake_segment_event(s, number, (const uint8_t *)&n, sizeof(n));
}

static void open_with(const struct msg_events_open *m)
{
	stream = m->stream;
	above_send(&w.mainsm, &(struct msg){ .type = MSG_EVENTS_OPEN, .events_open = *m });
	world_run(&w, 10 * MS);
}

static void open_as(const char *owner, uint64_t number, bool ending)
{
	open_with(&(struct msg_events_open){ "run7", owner, number, 8, MSG_KEEP_DROP_OLDEST,
					     8u << 20, 600, ending });
}

static void ack(void)
{
	above_send(&w.mainsm, &(struct msg){ .type = MSG_EVENTS_ACK,
					     .events_ack = { "run7", stream, place } });
}

static void take(const struct msg_events *m)
{
	struct event ev;
	size_t used, at = 0;

	ck_assert_str_eq(m->sub, "run7");
	if (m->stream < stream)
		return; /* of the previous opening, still in transit */
	ck_assert_uint_eq(m->stream, stream);
	has_ended |= m->end;
	place = m->end ? place : m->place;
	for (; at < m->blocks.n; at += used) {
		if (evread_push(reader, m->blocks.p + at, m->blocks.n - at, true, &used) !=
		    EVREAD_BLOCK)
			break; /* repeated ones are passed over */
		for (; evread_next(reader, &ev); events++)
			last = (uint64_t)ev.value[0].i32;
	}
}

/* Virtual time for the lm, real time for its disk. */
static void wait_a_little(void)
{
	const struct msg *m;

	world_run(&w, 50 * MS);
	usleep(2000);
	while ((m = above_next(&w.mainsm, MSG_EVENTS)) != NULL)
		take(&m->events);
}

static bool has_come(uint64_t n)
{
	nsec_t end = clock_mono() + WAIT_MAX_NS;

	while (events < n && clock_mono() < end)
		wait_a_little();
	return events == n;
}

static bool comes_to_an_end(void)
{
	nsec_t end = clock_mono() + WAIT_MAX_NS;

	while (!has_ended && clock_mono() < end)
		wait_a_little();
	return has_ended;
}

static unsigned arm_status_of(const char *pattern, int32_t pid)
{
	const struct msg_arm_ack *a = arm(pattern, world_token(&w, pid), 0, false);

	return a->nentry ? a->entry[0].status : STATUS_OK;
}

static unsigned arm_status_as(const char *pattern)
{
	return arm_status_of(pattern, 100);
}

TEST(events_go_to_the_disk_and_up_and_are_acknowledged)
{
	unsigned number = announce(&seg, "io.read");

	open_as(MANIPULATOR, 3, false);
	ck_assert_uint_eq(arm_status_as(KEPT("\"io.*\"")), STATUS_OK);
	write_events(&seg, number, 0, 100);
	ck_assert(has_come(100));
	ck_assert_uint_eq(last, 99);
	ck_assert(evread_is_clean(evread_report(reader)));
	ack();
	write_events(&seg, number, 100, 200);
	ck_assert(has_come(200));
	/* Another opening: blocks without acknowledgement are sent again. */
	open_as(MANIPULATOR, 4, false);
	while (!evread_report(reader)->repeated_blocks)
		wait_a_little();
	ck_assert_uint_eq(evread_report(reader)->repeated_blocks, 1);
	ck_assert_uint_eq(last, 199);
}

TEST(only_the_owner_gets_it_and_only_of_what_is_there)
{
	ck_assert_uint_eq(arm_status_as(KEPT("\"all\"")), STATUS_UNKNOWN_OBJECT);
	open_as(OBSERVER, 3, false);
	ck_assert_uint_eq(arm_status_as(KEPT("\"all\"")), STATUS_NO_PERMISSION);
}

TEST(another_request_takes_the_place_without_a_gap)
{
	unsigned number = announce(&seg, "io.read");
	const struct msg_arm_ack *a;

	open_as(MANIPULATOR, 3, false);
	ck_assert_uint_eq(arm_status_as(KEPT("\"all\"")), STATUS_OK);
	write_events(&seg, number, 0, 50);
	a = world_arm(&w, "c_6", with(KEPT("\"all\""), world_token(&w, 100)), 0, false);
	ck_assert_uint_eq(a->entry[0].status, STATUS_OK);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 1);
	write_events(&seg, number, 50, 100);
	ck_assert(has_come(100));
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { "c_5" } });
	write_events(&seg, number, 100, 110);
	ck_assert(has_come(110));
}

TEST(the_next_lm_is_armed_before_its_parent_asks)
{
	unsigned number = announce(&seg, "io.read");

	open_as(MANIPULATOR, 3, false);
	ck_assert_uint_eq(arm_status_as(KEPT("\"all\"")), STATUS_OK);
	write_events(&seg, number, 0, 10); /* they are in the ring still */
	world_crash_lm(&w);
	world_start_lm(&w);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 1);
	write_events(&seg, number, 10, 20);
	open_as(MANIPULATOR, 1, false);
	has_come(20);
	ck_assert_uint_eq(events, 20);
	ck_assert(evread_is_clean(evread_report(reader)));
}

static void copy_arm(const char *from, const char *to)
{
	char a[64], b[64];
	struct buf bytes = BUF_INIT(1 << 16);

	snprintf(a, sizeof(a), "%s/%s", dir, from);
	snprintf(b, sizeof(b), "%s/%s", dir, to);
	ck_assert_int_eq(file_read(a, bytes.max, FILE_SECRET, &bytes, NULL), 0);
	ck_assert_int_eq(file_write_atomic(b, bytes.p, bytes.n, NULL), 0);
	buf_done(&bytes);
}

/*
 * The list of processes could not be written: the next lm gets it from above. arm_more: arms
 * another request before.
 */
static void arm_later_than_others(void (*arm_more)(const char *both))
{
	unsigned number = announce(&other, "io.read");
	char both[80];

	announce(&seg, "io.read");
	snprintf(both, sizeof(both), "%s,%s", rank0, rank1);
	open_as(MANIPULATOR, 3, false);
	ck_assert_uint_eq(arm_status_as(KEPT("\"all\"")), STATUS_OK);
	copy_arm("run7.arm", "before");
	world_arm(&w, "c_5", with(KEPT("\"all\""), both), 0, false);
	write_events(&other, number, 0, 10);
	ck_assert(has_come(10));
	world_crash_lm(&w);
	copy_arm("before", "run7.arm");
	/* as one that is killed leaves it */
	*(uint32_t *)(void *)(other.base + other.h->event_word_offset) = EVENT_RECORD;
	write_events(&other, number, 10, 20);
	world_start_lm(&w);
	if (arm_more)
		arm_more(both);
	world_arm(&w, "c_5", with(KEPT("\"all\""), both), 0, false);
	open_as(MANIPULATOR, 1, false);
	ck_assert(has_come(20));
}

TEST(late_armed_process_continues_at_its_cursor)
{
	arm_later_than_others(NULL);
}

/* Arms another request, for which the rings are emptied: earlier events do not count for it. */
static void arm_calls(const char *both)
{
	world_arm(&w, "c_9", with("thread_has_started_lib_call([@],\"MPI_Send\"): print([])", both),
		  0, false);
}

TEST(other_request_armed_first_keeps_the_cursor)
{
	arm_later_than_others(arm_calls);
}

/* It has no ring, and rows of the stored cursors are free. */
TEST(a_process_without_a_segment_begins_during_a_subscription)
{
	struct proc_registration in = { .pid = 300 };
	struct proc *p = NULL;

	announce(&seg, "io.read");
	open_as(MANIPULATOR, 3, false);
	ck_assert_uint_eq(arm_status_as(KEPT("\"all\"")), STATUS_OK);
	fake_proc_add(&w.host, 300, "sh");
	ck_assert_int_eq(procs_take(w.lm->procs, &in, &p, NULL), 0);
	ck_assert_ptr_null(p->seg);
}

static bool is_armed_on_disk(const char *arm)
{
	struct buf bytes = BUF_INIT(1 << 16);
	bool is_there = !file_read(arm, bytes.max, FILE_SECRET, &bytes, NULL) && bytes.n;

	buf_done(&bytes);
	return is_there;
}

TEST(a_request_that_the_disk_does_not_take_is_written_later)
{
	nsec_t end = clock_mono() + WAIT_MAX_NS;
	char arm[64];

	announce(&seg, "io.read");
	snprintf(arm, sizeof(arm), "%s/run7.arm", dir);
	ck_assert_int_eq(mkdir(arm, 0700), 0);
	open_as(MANIPULATOR, 3, false);
	ck_assert_uint_eq(arm_status_as(KEPT("\"all\"")), STATUS_OK);
	wait_a_little();
	ck_assert_int_eq(rmdir(arm), 0);
	while (!is_armed_on_disk(arm) && clock_mono() < end)
		wait_a_little();
	ck_assert(is_armed_on_disk(arm));
	world_crash_lm(&w);
	world_start_lm(&w);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 1);
}

static uint64_t key_now(void)
{
	const struct proc *p = procs_find_pid(w.lm->procs, 100);

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_ne(p->seg_key, 0);
	ck_assert_ptr_eq(procs_find_key(w.lm->procs, p->seg_key), p);
	return p->seg_key;
}

/*
 * The recorded part is identified by a key; inodes are counted from the beginning again after a
 * boot.
 */
TEST(a_ring_is_the_same_for_the_next_lm_but_not_after_a_boot)
{
	uint64_t key = key_now();

	world_crash_lm(&w);
	world_start_lm(&w);
	ck_assert_uint_eq(key_now(), key);
	world_crash_lm(&w);
	w.host.boot_id = "boot-2";
	world_start_lm(&w);
	ck_assert_uint_ne(key_now(), key);
}

TEST(an_ending_subscription_sends_the_rest_and_its_end)
{
	unsigned number = announce(&seg, "io.read");

	open_as(MANIPULATOR, 3, false);
	ck_assert_uint_eq(arm_status_as(KEPT("\"all\"")), STATUS_OK);
	write_events(&seg, number, 0, 10);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { "c_5" } });
	open_as(MANIPULATOR, 3, true);
	ck_assert(has_come(10));
	ck_assert(!has_ended);
	ack();
	ck_assert(comes_to_an_end());
	above_send(&w.mainsm,
		   &(struct msg){ .type = MSG_EVENTS_END, .events_end = { "run7", MANIPULATOR } });
	world_run(&w, 10 * MS);
	ck_assert_ptr_null(keeps_find(w.lm->recorder.keeps, "run7"));
}

TEST(the_end_of_a_subscription_needs_no_disarm)
{
	unsigned number = announce(&seg, "io.read");

	open_as(MANIPULATOR, 3, false);
	ck_assert_uint_eq(arm_status_as(KEPT("\"all\"")), STATUS_OK);
	write_events(&seg, number, 0, 10);
	open_as(MANIPULATOR, 3, true);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 0);
	ck_assert(has_come(10));
	ack();
	ck_assert(comes_to_an_end());
	world_crash_lm(&w);
	world_start_lm(&w);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 0);
}

/*
 * Returns the number of events taken from a rank with the largest ring; nothing is acknowledged
 * meanwhile.
 */
static unsigned fill_up(unsigned number)
{
	const struct keep *k = keeps_find(w.lm->recorder.keeps, "run7");
	nsec_t end = clock_mono() + WAIT_MAX_NS;
	unsigned n = 0;

	for (; !keep_is_full(k) && clock_mono() < end; n += 20000) {
		write_events(&wide, number, 0, 20000);
		wait_a_little();
	}
	ck_assert(keep_is_full(k));
	return n;
}

static void all_is_there_or_lost(unsigned n)
{
	const struct evread_report *r = evread_report(reader);

	for (nsec_t end = clock_mono() + WAIT_MAX_NS; !has_ended && clock_mono() < end;) {
		wait_a_little();
		ack();
	}
	ck_assert(has_ended);
	ck_assert_uint_eq(events + r->dropped + r->lost_events, n);
	ck_assert_uint_gt(events, 0);
}

/* happen: returns the number of further events. */
static void stop_the_source(unsigned (*happen)(unsigned number))
{
	struct msg_events_open m = {
		"run7", MANIPULATOR, 3, 8, MSG_KEEP_STOP, 2u << 20, 600, false
	};
	unsigned number, n;

	world_add_rank_with(
		&w, &wide,
		&(struct fake_rank){
			.pid = 300, .rank = 2, .tid = 300, .ring_bytes = SEG_RING_MAX_BYTES },
		NULL);
	number = announce(&wide, "io.read");
	open_with(&m);
	ck_assert_uint_eq(arm_status_of(KEPT("\"all\""), 300), STATUS_OK);
	n = fill_up(number);
	n += happen(number);
	m.stream++; /* blocks without acknowledgement are sent again, and count as repeated */
	m.ending = true;
	open_with(&m);
	all_is_there_or_lost(n);
	fake_segment_close(&wide);
}

/* Writes records until the subscription has no room, then acknowledges until all are stored. */
static unsigned make_more(unsigned number)
{
	const struct keep *k = keeps_find(w.lm->recorder.keeps, "run7");
	nsec_t end = clock_mono() + WAIT_MAX_NS;
	uint64_t before;

	write_events(&wide, number, 0, 500);
	while (keep_is_full(k) && clock_mono() < end) {
		ack();
		wait_a_little();
	}
	ck_assert(!keep_is_full(k));
	before = events;
	write_events(&wide, number, 0, 100);
	while (events < before + 100 && clock_mono() < end) {
		ack();
		wait_a_little();
	}
	return 600;
}

TEST(events_of_a_stopped_source_are_counted_as_lost)
{
	stop_the_source(make_more);
}

static unsigned end_and_begin(unsigned number)
{
	write_events(&wide, number, 0, 500);
	world_crash_lm(&w);
	world_start_lm(&w);
	wait_a_little();
	write_events(&wide, number, 0, 30);
	wait_a_little();
	return 530;
}

TEST(the_next_lm_counts_on_from_there)
{
	stop_the_source(end_and_begin);
}

static unsigned meet_a_probe(unsigned unused)
{
	for (int i = 0; i < 300; i++)
		fake_segment_probe(&wide, FAKE_STEP, &(union seg_value){ .i = i });
	wait_a_little();
	return 300;
}

TEST(probes_that_have_no_room_are_counted_too)
{
	stop_the_source(meet_a_probe);
}

/*
 * Starts an lm in a separate process, which runs until it is killed; nothing is acknowledged to it.
 */
static pid_t start_killable(unsigned life, int ready)
{
	pid_t child = fork();

	if (child)
		return child;
	world_start_lm(&w);
	open_as(MANIPULATOR, 10 + life, false);
	if (!life)
		arm(KEPT("\"all\""), world_token(&w, 100), 0, false);
	if (write(ready, "", 1) != 1)
		_exit(1);
	/* after a day at the earliest: a recording that is not armed again is given up */
	for (;;) {
		world_run(&w, MS);
		above_skip_all(&w.mainsm);
		usleep(50);
	}
}

#define LIVES 12

TEST(a_killed_lm_records_nothing_twice_and_reports_all)
{
	unsigned number = announce(&seg, "io.read"), at = 0;
	const struct evread_report *r = evread_report(reader);
	unsigned seed = (unsigned)suite_seed(7);
	int ready[2];
	char c;

	world_crash_lm(&w);
	ck_assert_int_eq(pipe(ready), 0);
	for (unsigned life = 0; life < LIVES; life++) {
		pid_t child = start_killable(life, ready[1]);
		nsec_t end;

		ck_assert_int_gt(child, 0);
		ck_assert_int_eq(read(ready[0], &c, 1), 1);
		end = clock_mono() + rand_r(&seed) % (40 * MS);
		while (clock_mono() < end) {
			unsigned n = 1 + (unsigned)rand_r(&seed) % 200;

			write_events(&seg, number, (int32_t)at, (int32_t)(at + n));
			at += n;
			if (rand_r(&seed) % 2)
				usleep((unsigned)rand_r(&seed) % 300);
		}
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		/* while no lm is there */
		write_events(&seg, number, (int32_t)at, (int32_t)(at + 5));
		at += 5;
	}
	world_start_lm(&w);
	open_as(MANIPULATOR, 1, false);
	for (nsec_t end = clock_mono() + WAIT_MAX_NS;
	     events + r->dropped + r->lost_events < at && clock_mono() < end;) {
		wait_a_little();
		ack(); /* there is room for eight messages, and a segment of each life */
	}
	for (int i = 0; i < 20; i++)
		wait_a_little(); /* nothing more arrives */
	ck_assert_uint_eq(events + r->dropped + r->lost_events, at);
	ck_assert_uint_gt(events, 0);
	ck_assert_uint_eq(r->bad_records + r->torn_blocks + r->undescribed, 0);
}

TEST(a_subscription_that_is_over_takes_its_request_with_it)
{
	announce(&seg, "io.read");
	open_as(MANIPULATOR, 3, false);
	ck_assert_uint_eq(arm_status_as(KEPT("\"all\"")), STATUS_OK);
	above_close(&w.mainsm);
	world_run(&w, 500 * SEC);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 1);
	world_run(&w, 200 * SEC);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 0);
}

SUITE_WITH("lm keep", set_up, clean_up)
