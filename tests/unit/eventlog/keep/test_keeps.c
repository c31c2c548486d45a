/* SPDX-License-Identifier: Apache-2.0 */
/* Kept subscriptions between who makes blocks and who is above: openings, acknowledgements, restarts, the end. */
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/str.h"
#include "eventlog/evgap.h"
#include "eventlog/keep/keeps.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MAX_NS (20 * NSEC_PER_SEC)
#define OWNER "omig:tool-observe//u"
#define MIB (UINT64_C(1) << 20)

static char dir[32];
static struct loop *l;
static struct keeps *ks;
static struct keeps_all all;

/* What has come up, of one stream of blocks. */
static struct {
	uint64_t stream, place, blocks, events, lost, ends, due, settled, told, gone, given;
	bool refuses;
	int full;
} seen;

static int send_up(void *arg, const struct msg *m)
{
	const struct msg_events *ev = &m->events;
	struct evblock b;
	struct evgap g;

	ck_assert_int_eq(m->type, MSG_EVENTS);
	if (seen.refuses)
		return -ERR_CLOSED;
	seen.stream = ev->stream;
	seen.place = ev->place;
	seen.ends += ev->end;
	for (size_t at = 0; at < ev->blocks.n; at += b.bytes) {
		ck_assert_int_eq(evblock_look(ev->blocks.p + at, ev->blocks.n - at, &b), EVBLOCK_GOOD);
		if (evgap_of(ev->blocks.p + at, &b, &g))
			seen.lost += g.end_first - g.first;
		else
			seen.events += b.events;
		ck_assert_uint_eq(g.seq, seen.due);
		seen.due = g.end_seq;
		seen.blocks++;
	}
	return 0;
}

static void on_told(void *arg, struct keep *k)
{
	seen.told++;
}

static void on_settled(void *arg, struct keep *k, uint64_t n)
{
	seen.settled = n;
}

static void on_full(void *arg, struct keep *k, bool is_full)
{
	seen.full += is_full ? 1 : 100;
}

static void on_given(void *arg, struct keep *k, const uint8_t *p, size_t n)
{
	seen.given += n;
}

static void on_gone(void *arg, struct keep *k)
{
	seen.gone++;
}

static void start(void)
{
	const struct keeps_conf c = { .loop = l,
				      .dir = dir,
				      .max_bytes = 160 * MIB,
				      .all = &all,
				      .send = send_up,
				      .on_told = on_told,
				      .on_settled = on_settled,
				      .on_full = on_full,
				      .on_given = on_given,
				      .on_gone = on_gone };
	struct err e = { 0 };

	ck_assert_msg(!keeps_open(&c, &ks, &e), "%s", e.text);
}

#define WAIT_FOR(expr)                                      \
	do {                                                \
		nsec_t end_ = clock_mono() + WAIT_MAX_NS;   \
		while (!(expr) && clock_mono() < end_)      \
			loop_wait(l, 100 * NSEC_PER_MSEC);  \
		ck_assert_msg(expr, "not in time: " #expr); \
	} while (0)

static void open_as(const char *name, const char *owner, uint64_t stream, uint32_t policy, bool ending)
{
	keeps_take(ks, &(struct msg){ .type = MSG_EVENTS_OPEN,
				      .events_open = { name, owner, stream, 4, policy,
						       policy == MSG_KEEP_STOP ? 2 * MIB : 8 * MIB, 600, ending } });
}

static void open_it(uint64_t stream)
{
	open_as("run7", OWNER, stream, MSG_KEEP_DROP_OLDEST, false);
}

static void ack(uint64_t stream, uint64_t place)
{
	keeps_take(ks, &(struct msg){ .type = MSG_EVENTS_ACK, .events_ack = { "run7", stream, place } });
}

static struct keep *run7(void)
{
	struct keep *k = keeps_find(ks, "run7");

	ck_assert_ptr_nonnull(k);
	return k;
}

static uint64_t seq;

static int append(size_t body)
{
	static uint8_t p[EVBLOCK_MAX_BYTES];
	struct evblock b = { .version = EVBLOCK_VERSION,
			     .bytes = (uint32_t)(EVBLOCK_HEAD_BYTES + body),
			     .stream = 9,
			     .seq = seq,
			     .first = 10 * seq,
			     .events = 10 };

	b.crc = hash_crc32c(0, p + EVBLOCK_HEAD_BYTES, body);
	evblock_encode(&b, p);
	seq++;
	return keep_append(run7(), p, &b);
}

static void set_up(void)
{
	/* In memory where that is to be had: here no disk is tested. */
	snprintf(dir, sizeof(dir), "%s/omig-keep-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	memset(&seen, 0, sizeof(seen));
	seq = 0;
	l = loop_new();
	start();
}

static void clean_up(void)
{
	pid_t child;

	keeps_free(ks);
	loop_free(l);
	child = fork();
	if (!child)
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
	waitpid(child, NULL, 0);
}

START_TEST(blocks_go_up_in_order_as_far_as_there_is_room)
{
	uint64_t before;

	open_it(3);
	ck_assert_uint_eq(seen.told, 1);
	for (int i = 0; i < 40; i++)
		ck_assert_int_eq(append(100 * 1024), 0);
	WAIT_FOR(seen.settled == 40);
	WAIT_FOR(seen.blocks >= 8); /* four messages, of up to five, fewer at the end of a segment */
	loop_wait(l, 50 * NSEC_PER_MSEC);
	ck_assert_uint_le(seen.blocks, 20);
	ck_assert_uint_eq(seen.stream, 3);
	before = seen.blocks;
	ack(2, seen.place); /* of an opening that is over */
	loop_wait(l, 50 * NSEC_PER_MSEC);
	ck_assert_uint_eq(seen.blocks, before);
	while (seen.blocks < 40) {
		before = seen.blocks;
		ack(3, seen.place);
		WAIT_FOR(seen.blocks > before);
	}
	ck_assert_uint_eq(seen.events, 400);
	ck_assert_uint_gt(seen.given, 40 * 100 * 1024);
}
END_TEST

START_TEST(what_is_not_acknowledged_comes_again_with_the_next_opening)
{
	uint64_t first;

	open_it(3);
	append(100);
	WAIT_FOR(seen.blocks == 1);
	ack(3, seen.place);
	append(100);
	WAIT_FOR(seen.blocks == 2);
	first = seen.events;
	keeps_link_down(ks);
	append(100);
	seen.due = 1;
	open_it(4);
	WAIT_FOR(seen.blocks == 4);
	ck_assert_uint_eq(seen.events, first + 20);
	ck_assert_uint_eq(seen.stream, 4);
	/* the same opening again is no new one */
	open_it(4);
	loop_wait(l, 50 * NSEC_PER_MSEC);
	ck_assert_uint_eq(seen.blocks, 4);
}
END_TEST

START_TEST(who_cannot_send_begins_anew)
{
	seen.refuses = true;
	open_it(3);
	append(100);
	WAIT_FOR(seen.settled == 1);
	WAIT_FOR(seen.given);
	seen.refuses = false;
	open_it(5);
	WAIT_FOR(seen.blocks == 1);
}
END_TEST

START_TEST(all_of_it_outlives_the_daemon)
{
	struct keep *k;
	struct err e = { 0 };

	open_it(3);
	append(100);
	append(100);
	WAIT_FOR(seen.blocks == 2);
	keeps_free(ks);
	start();
	ck_assert_uint_eq(keeps_check(ks, "run7", OWNER, &k, &e), 0);
	ck_assert_uint_eq(keep_told(k)->lease_s, 600);
	ck_assert_int_eq(keeps_check(ks, "run7", "omig:tool-observe//v", &k, &e), -ERR_DENIED);
	ck_assert_uint_ge(seen.given, 4 * 164); /* both were given, and found at the start */
	append(100);
	seen.due = 0;
	seen.blocks = 0;
	open_it(1);
	WAIT_FOR(seen.blocks == 3);
}
END_TEST

START_TEST(one_that_ends_says_so_when_all_is_safe_above)
{
	open_it(3);
	keep_feed(run7(), 1);
	append(100);
	WAIT_FOR(seen.blocks == 1);
	open_as("run7", OWNER, 3, MSG_KEEP_DROP_OLDEST, true);
	ack(3, seen.place);
	loop_wait(l, 50 * NSEC_PER_MSEC);
	ck_assert_uint_eq(seen.ends, 0); /* somebody makes more */
	append(100);
	keep_feed(run7(), -1);
	WAIT_FOR(seen.blocks == 2);
	loop_wait(l, 50 * NSEC_PER_MSEC);
	ck_assert_uint_eq(seen.ends, 0); /* not acknowledged */
	ack(3, seen.place);
	WAIT_FOR(seen.ends == 1);
	loop_wait(l, 50 * NSEC_PER_MSEC);
	ck_assert_uint_eq(seen.ends, 1);
	/* and again to who opens anew: it may not have heard it */
	open_as("run7", OWNER, 4, MSG_KEEP_DROP_OLDEST, true);
	WAIT_FOR(seen.ends == 2);
}
END_TEST

static bool is_there(const char *name)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !lstat(path, &st);
}

/* Its end is to be said when all is above, though what it is told cannot be had. */
static void all_comes_before_the_end(uint32_t policy)
{
	append(1000);
	open_as("run7", OWNER, 4, policy, true);
	WAIT_FOR(seen.blocks == 1);
	ck_assert_uint_eq(seen.ends, 0);
	ack(4, seen.place);
	WAIT_FOR(seen.ends == 1);
}

START_TEST(a_full_disk_makes_no_end_of_what_is_on_it)
{
	char path[64];

	open_it(0);
	snprintf(path, sizeof(path), "%s/run7.sub", dir);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0); /* nothing can be written in its place */
	all_comes_before_the_end(MSG_KEEP_DROP_OLDEST);
}
END_TEST

START_TEST(more_room_that_is_not_there_makes_no_end_of_what_there_is)
{
	open_as("run7", OWNER, 0, MSG_KEEP_STOP, false);
	all.bytes += KEEPS_ALL_MAX_BYTES - 4 * MIB;
	all_comes_before_the_end(MSG_KEEP_DROP_NEWEST);
	all.bytes -= KEEPS_ALL_MAX_BYTES - 4 * MIB;
}
END_TEST

START_TEST(an_ended_one_leaves_nothing_behind)
{
	open_it(3);
	append(100);
	WAIT_FOR(seen.blocks == 1);
	ck_assert(is_there("run7.sub") && is_there("run7"));
	keeps_take(ks, &(struct msg){ .type = MSG_EVENTS_END, .events_end = { "run7", "omig:tool-observe//v" } });
	loop_wait(l, 10 * NSEC_PER_MSEC);
	ck_assert_uint_eq(seen.gone, 0); /* not its owner */
	keeps_take(ks, &(struct msg){ .type = MSG_EVENTS_END, .events_end = { "run7", OWNER } });
	WAIT_FOR(seen.gone == 1);
	ck_assert_ptr_null(keeps_find(ks, "run7"));
	ck_assert(!is_there("run7.sub") && !is_there("run7"));
	seq = 0;
	seen.due = 0;
	open_it(9);
	append(100);
	WAIT_FOR(seen.blocks == 2);
}
END_TEST

START_TEST(one_that_is_asked_for_again_in_the_turn_of_its_end_is_new)
{
	struct keep *k;
	struct err e = { 0 };

	open_it(3);
	append(100);
	WAIT_FOR(seen.blocks == 1);
	keeps_take(ks, &(struct msg){ .type = MSG_EVENTS_END, .events_end = { "run7", OWNER } });
	open_it(4);
	ck_assert_uint_eq(seen.gone, 1);
	ck_assert_msg(!keeps_check(ks, "run7", OWNER, &k, &e), "%s", e.text);
	seq = seen.due = 0;
	append(100);
	WAIT_FOR(seen.blocks == 2);
	ck_assert_uint_eq(seen.stream, 4);
	ck_assert(is_there("run7.sub"));
}
END_TEST

START_TEST(a_full_disk_stops_the_source_or_loses_exactly)
{
	open_as("run7", OWNER, 3, MSG_KEEP_STOP, false);
	for (int i = 0; i < 30; i++)
		append(100 * 1024);
	WAIT_FOR(seen.full == 1);
	ck_assert(keep_is_full(run7()));
	WAIT_FOR(seen.settled == 30);
	while (seen.events + seen.lost < 300) {
		uint64_t before = seen.blocks;

		ack(3, seen.place);
		WAIT_FOR(seen.blocks > before);
	}
	ck_assert_uint_eq(seen.events + seen.lost, 300);
	ck_assert_uint_gt(seen.lost, 0);
	ack(3, seen.place);
	WAIT_FOR(seen.full == 101);
}
END_TEST

START_TEST(other_limits_hold_from_now_on_and_for_what_is_there)
{
	open_as("run7", OWNER, 3, MSG_KEEP_STOP, false);
	for (int i = 0; i < 30; i++)
		append(100 * 1024);
	WAIT_FOR(seen.full == 1);
	WAIT_FOR(seen.settled == 30);
	open_as("run7", OWNER, 3, MSG_KEEP_DROP_NEWEST, false); /* four times the room */
	ck_assert_int_eq(seen.full, 101);
	ck_assert(!keep_is_full(run7()));
	for (int i = 0; i < 30; i++)
		ck_assert_int_eq(append(100 * 1024), 0);
	WAIT_FOR(seen.settled == 60);
	while (seen.events + seen.lost < 600) {
		uint64_t before = seen.blocks;

		ack(3, seen.place); /* of the same opening */
		WAIT_FOR(seen.blocks > before);
	}
	ck_assert_uint_lt(seen.lost, 300);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused_with_its_reason)
{
	struct keep *k;
	struct err e = { 0 };

	open_as("../x", OWNER, 3, 0, false);
	ck_assert_int_eq(keeps_check(ks, "../x", OWNER, &k, &e), -ERR_INVALID);
	open_as("x", OWNER, 3, 7, false);
	ck_assert_int_eq(keeps_check(ks, "x", OWNER, &k, &e), -ERR_INVALID);
	open_as("x", "", 3, 0, false);
	ck_assert_int_eq(keeps_check(ks, "x", "", &k, &e), -ERR_INVALID);
	open_as("x", OWNER, 3, 0, false);
	ck_assert_int_eq(keeps_check(ks, "x", OWNER, &k, &e), 0);
	open_as("x", "omig:tool-observe//v", 3, 0, false);
	ck_assert_int_eq(keeps_check(ks, "x", OWNER, &k, &e), 0);
	ck_assert_int_eq(keeps_check(ks, "x", "omig:tool-observe//v", &k, &e), -ERR_DENIED);
	keeps_take(ks, &(struct msg){ .type = MSG_EVENTS_OPEN,
				      .events_open = { "y", OWNER, 3, 4, 0, 155 * MIB, 600, false } });
	ck_assert_int_eq(keeps_check(ks, "y", OWNER, &k, &e), -ERR_LIMIT);
	ck_assert_int_eq(keeps_check(ks, "z", OWNER, &k, &e), -ERR_NOTFOUND);
}
END_TEST

START_TEST(no_more_than_so_many_are_kept)
{
	struct keep *k;
	struct err e = { 0 };
	char name[8];

	for (int i = 0; i <= KEEPS_MAX; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		open_as(name, OWNER, 1, 0, false);
		ck_assert_int_eq(keeps_check(ks, name, OWNER, &k, &e), i < KEEPS_MAX ? 0 : -ERR_LIMIT);
	}
}
END_TEST

START_TEST(users_of_one_process_share_what_there_is)
{
	struct keep *k;
	struct err e = { 0 };

	open_it(3);
	ck_assert_uint_eq(all.n, 1);
	ck_assert_uint_eq(all.bytes, 8 * MIB);
	all.n = KEEPS_ALL_MAX;
	open_as("x", OWNER, 3, 0, false);
	ck_assert_int_eq(keeps_check(ks, "x", OWNER, &k, &e), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "of all users"));
	all.n = 1;
	all.bytes += KEEPS_ALL_MAX_BYTES - 16 * MIB;
	open_as("x", OWNER, 3, 0, false);
	ck_assert_int_eq(keeps_check(ks, "x", OWNER, &k, &e), 0);
	open_as("y", OWNER, 3, 0, false);
	ck_assert_int_eq(keeps_check(ks, "y", OWNER, &k, &e), -ERR_LIMIT);
	open_as("run7", OWNER, 4, MSG_KEEP_STOP, false); /* one that is there may have less */
	ck_assert_int_eq(keeps_check(ks, "run7", OWNER, &k, &e), 0);
	all.bytes -= KEEPS_ALL_MAX_BYTES - 16 * MIB;
	ck_assert_uint_eq(all.n, 2);
	ck_assert_uint_eq(all.bytes, 10 * MIB);
	keeps_free(ks);
	ck_assert_uint_eq(all.n + all.bytes, 0);
	start();
	ck_assert_uint_eq(all.n, 2);
}
END_TEST

START_TEST(one_that_could_not_be_made_leaves_nothing_behind)
{
	unsigned refused = 0;

	ALLOC_SWEEP (k) {
		open_it(3);
		alloc_sweep_pause();
		if (keeps_find(ks, "run7")) {
			keeps_take(ks, &(struct msg){ .type = MSG_EVENTS_END, .events_end = { "run7", OWNER } });
			WAIT_FOR(!keeps_find(ks, "run7"));
		} else {
			refused++;
		}
		ck_assert(!is_there("run7.sub"));
	}
	ck_assert_uint_gt(refused, 0);
	ck_assert_uint_eq(all.n + all.bytes, 0);
}
END_TEST

START_TEST(a_damaged_file_takes_no_other_subscription_with_it)
{
	char path[64];

	open_it(3);
	append(100);
	WAIT_FOR(seen.blocks == 1);
	keeps_free(ks);
	for (const char *const *p = (const char *const[]){ "a.sub", ".sub", "b.sub", NULL }; *p; p++) {
		snprintf(path, sizeof(path), "%s/%s", dir, *p);
		ck_assert_int_eq(file_write_atomic(path, "\0\0\0\3nonsense", 12, NULL), 0);
	}
	start();
	ck_assert_ptr_null(keeps_find(ks, "a"));
	seen.due = 0;
	open_it(1);
	WAIT_FOR(seen.blocks == 2);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { blocks_go_up_in_order_as_far_as_there_is_room,
		what_is_not_acknowledged_comes_again_with_the_next_opening, who_cannot_send_begins_anew,
		all_of_it_outlives_the_daemon, one_that_ends_says_so_when_all_is_safe_above,
		a_full_disk_makes_no_end_of_what_is_on_it, more_room_that_is_not_there_makes_no_end_of_what_there_is,
		an_ended_one_leaves_nothing_behind, one_that_is_asked_for_again_in_the_turn_of_its_end_is_new, a_full_disk_stops_the_source_or_loses_exactly,
		what_makes_no_sense_is_refused_with_its_reason, no_more_than_so_many_are_kept,
		other_limits_hold_from_now_on_and_for_what_is_there, users_of_one_process_share_what_there_is, one_that_could_not_be_made_leaves_nothing_behind, a_damaged_file_takes_no_other_subscription_with_it
	};

	return suite_run_with("keeps", set_up, clean_up, tests, sizeof(tests) / sizeof(tests[0]));
}
