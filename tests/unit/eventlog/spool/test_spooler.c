/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker, a thread or the loop itself, and the loop: neither a hanging disk nor a slow consumer
 * blocks.
 */
#include "common/base/hash.h"
#include "common/base/array.h"
#include "eventlog/evgap.h"
#include "eventlog/spool/ledger.h"
#include "eventlog/spool/spooler.h"
#include "tests/suite.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MAX_NS (20 * NSEC_PER_SEC)
#define BODY_MAX_BYTES (EVBLOCK_MAX_BYTES - EVBLOCK_HEAD_BYTES)

static char dir[32];
static struct loop *l;
static struct spooler *spooler;
static uint64_t seq, first; /* of the one stream */

static struct {
	int open_rc; /* 1: not yet */
	uint64_t settled;
	bool is_full;
	unsigned words;
	struct {
		uint64_t blocks, gaps, events, lost, due, place;
		bool keeps_on;
	} of[4];
} seen;

static void on_open(void *arg, int rc, const struct err *e)
{
	seen.open_rc = rc;
}

static void on_settled(void *arg, uint64_t appended)
{
	ck_assert_uint_gt(appended, seen.settled);
	seen.settled = appended;
}

static void on_full(void *arg, bool is_full)
{
	seen.is_full = is_full;
}

static void on_word(void *arg, const char *text)
{
	seen.words++;
}

static void on_blocks(void *arg, int c, const uint8_t *p, size_t n, uint64_t place)
{
	struct evblock b;
	struct evgap g;

	for (size_t at = 0; at < n; at += b.bytes) {
		ck_assert_int_eq(evblock_look(p + at, n - at, &b), EVBLOCK_GOOD);
		if (evgap_of(p + at, &b, &g)) {
			seen.of[c].gaps++;
			seen.of[c].lost += g.end_first - g.first;
		} else {
			seen.of[c].blocks++;
			seen.of[c].events += b.events;
		}
		ck_assert_uint_eq(g.seq, seen.of[c].due);
		seen.of[c].due = g.end_seq;
	}
	seen.of[c].place = place;
	if (!seen.of[c].keeps_on)
		return;
	spooler_ack(spooler, c, place);
	spooler_want(spooler, c);
}

static struct spooler_calls calls = { .on_open = on_open,
				      .on_settled = on_settled,
				      .on_blocks = on_blocks,
				      .on_full = on_full,
				      .on_word = on_word };

static nsec_t after_a_while(void *arg)
{
	return NSEC_PER_MSEC / 4;
}

static const struct spooler_turns turns = { after_a_while, NULL };

static struct spool_conf conf(void)
{
	return (struct spool_conf){ .when_full = SPOOL_STOP,
				    .max_bytes = 64u << 20,
				    .commit_ns = NSEC_PER_MSEC,
				    .commit_bytes = 1u << 20 };
}

static void start(const struct spool_conf *c)
{
	struct spooler_calls with = calls;
	struct err e = { 0 };

	memset(&seen, 0, sizeof(seen));
	seen.open_rc = 1;
	with.loop = l;
	ck_assert_msg(!spooler_open(dir, c, &with, &spooler, &e), "%s", e.text);
}

#define WAIT_FOR(expr)                                      \
	do {                                                \
		nsec_t end_ = clock_mono() + WAIT_MAX_NS;   \
		while (!(expr) && clock_mono() < end_)      \
			loop_wait(l, 100 * NSEC_PER_MSEC);  \
		ck_assert_msg(expr, "not in time: " #expr); \
	} while (0)

static int append(size_t body, uint32_t events)
{
	static uint8_t p[EVBLOCK_MAX_BYTES];
	struct evblock b = { .version = EVBLOCK_VERSION,
			     .bytes = (uint32_t)(EVBLOCK_HEAD_BYTES + body),
			     .stream = 5,
			     .seq = seq,
			     .first = first,
			     .events = events };
	int rc;

	b.crc = hash_crc32c(0, p + EVBLOCK_HEAD_BYTES, body);
	evblock_encode(&b, p);
	rc = spooler_append(spooler, p, &b);
	if (!rc || rc == -ERR_LIMIT) {
		seq++;
		first += events;
	}
	return rc;
}

static void set_up(void)
{
	/* In memory where that is to be had: here no disk is tested, and one may take longer to
	 * sync than spooler_close() waits. */
	snprintf(dir, sizeof(dir), "%s/omig-spool-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	l = loop_new();
	calls.turns = NULL;
	seq = first = 0;
}

static void clean_up(void)
{
	pid_t child;

	loop_free(l);
	child = fork();
	if (!child)
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
	waitpid(child, NULL, 0);
}

static void stop(void)
{
	spooler_close(spooler);
	spooler = NULL;
}

static void come_back_once(void)
{
	const struct spool_conf c = conf();
	struct stat st;
	int id;

	start(&c);
	id = spooler_consumer(spooler, "one", true);
	ck_assert_int_eq(id, 0);
	seen.of[id].keeps_on = true;
	spooler_want(spooler, id);
	for (int i = 0; i < 500; i++)
		ck_assert_int_eq(append(1000, 3), 0);
	WAIT_FOR(seen.of[0].blocks == 500 && seen.settled == 500);
	ck_assert_int_eq(seen.open_rc, 0);
	ck_assert(!stat(dir, &st) && (st.st_mode & 0777) == 0700);
	stop();
	start(&c);
	seen.of[0].due = 500;
	ck_assert_int_eq(spooler_consumer(spooler, "one", true), 0);
	spooler_want(spooler, 0);
	ck_assert_int_eq(append(1000, 3), 0);
	WAIT_FOR(seen.of[0].blocks);
	ck_assert_uint_eq(seen.of[0].due, 501);
	stop();
}

static void come_again(void)
{
	const struct spool_conf c = conf();

	start(&c);
	ck_assert_int_eq(spooler_consumer(spooler, "one", true), 0);
	spooler_want(spooler, 0);
	ck_assert_int_eq(append(1000, 3), 0);
	WAIT_FOR(seen.of[0].blocks == 1);
	seen.of[0].due = 0;
	spooler_rewind(spooler, 0);
	spooler_want(spooler, 0);
	WAIT_FOR(seen.of[0].blocks == 2);
	spooler_ack(spooler, 0, seen.of[0].place);
	stop();
}

static void one_takes_nothing(void)
{
	const struct spool_conf c = conf();

	start(&c);
	ck_assert_int_eq(spooler_consumer(spooler, "quick", true), 0);
	ck_assert_int_eq(spooler_consumer(spooler, "stuck", true), 1);
	seen.of[0].keeps_on = true;
	spooler_want(spooler, 0);
	spooler_want(spooler, 1); /* once, and never more */
	for (int i = 0; i < 1000; i++) { /* half of the queue's limit, in case the thread sleeps */
		ck_assert_int_eq(append(8000, 1), 0);
		if (i % 100 == 0)
			loop_turn(l);
	}
	WAIT_FOR(seen.of[0].blocks == 1000);
	ck_assert_uint_lt(seen.of[1].blocks, 1000);
	spooler_remove(spooler, 1);
	ck_assert_int_ge(spooler_consumer(spooler, "third", false), 1);
	stop();
}

static void one_owner(void)
{
	const struct spool_conf c = conf();
	struct spooler *was;

	start(&c);
	was = spooler;
	WAIT_FOR(seen.open_rc != 1);
	start(&c);
	WAIT_FOR(seen.open_rc != 1);
	ck_assert_int_eq(seen.open_rc, -ERR_EXISTS);
	ck_assert_int_eq(append(1000, 3), -ERR_CLOSED);
	spooler_close(was);
	/* The opening is tried again. */
	WAIT_FOR(seen.open_rc == 0);
	ck_assert_int_eq(append(1000, 3), 0);
	WAIT_FOR(seen.settled == 1);
	stop();
}

TEST(blocks_return_in_order_and_once_acknowledged_never_again)
{
	come_back_once();
}

TEST(unacknowledged_blocks_are_sent_again_after_a_rewind)
{
	come_again();
}

TEST(a_consumer_that_takes_nothing_delays_no_other)
{
	one_takes_nothing();
}

TEST(one_folder_has_one_owner)
{
	one_owner();
}

TEST(limits_received_before_the_open_apply_after_it)
{
	const struct spool_conf c = conf();
	struct spooler *was;

	start(&c);
	was = spooler;
	WAIT_FOR(seen.open_rc != 1);
	start(&c);
	WAIT_FOR(seen.open_rc == -ERR_EXISTS);
	spooler_limit(spooler, SPOOL_STOP, 2u << 20);
	spooler_close(was);
	WAIT_FOR(seen.open_rc == 0);
	for (int i = 0; i < 30; i++)
		append(100 * 1024, 1);
	WAIT_FOR(seen.settled == 30);
	ck_assert(seen.is_full);
	stop();
}

TEST(without_a_thread_all_is_the_same)
{
	static void (*const each[])(void) = { come_back_once, come_again, one_takes_nothing,
					      one_owner };

	for (size_t i = 0; i < ARRAY_LEN(each); i++) {
		calls.turns = &turns;
		each[i]();
		clean_up();
		set_up();
	}
}

TEST(a_consumer_is_found_again_by_its_name)
{
	const struct spool_conf c = conf();
	char name[16];

	start(&c);
	for (int i = 0; i < LEDGER_CONSUMERS_MAX; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		ck_assert_int_eq(spooler_consumer(spooler, name, true), i);
	}
	ck_assert_int_eq(spooler_consumer(spooler, "c0", true), 0);
	ck_assert_int_eq(spooler_consumer(spooler, "c7", false), 7);
	ck_assert_int_eq(spooler_consumer(spooler, "one more", true), -ERR_INVALID);
	ck_assert_int_eq(spooler_consumer(spooler, "", true), -ERR_INVALID);
	ck_assert_int_eq(spooler_consumer(spooler, "more", true), -ERR_LIMIT);
	spooler_remove(spooler, 5);
	WAIT_FOR(spooler_consumer(spooler, "more", true) == 5);
	stop();
}

/* The worker answers them while it is closed, and no callback takes the blocks. */
static void not_taken(void)
{
	static const char *const names[] = { "a", "b", "c" };
	const struct spool_conf c = conf();

	start(&c);
	WAIT_FOR(seen.open_rc == 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(spooler_consumer(spooler, names[i], true), i);
		spooler_want(spooler, i);
	}
	ck_assert_int_eq(append(1000, 3), 0);
	stop();
	ck_assert_uint_eq(seen.of[0].blocks + seen.of[1].blocks + seen.of[2].blocks, 0);
}

TEST(blocks_that_are_not_taken_end_with_it)
{
	not_taken();
	calls.turns = &turns;
	not_taken();
}

static struct {
	unsigned n;
	uint64_t appended;
} empty;

static void on_empty(void *arg, int consumer, uint64_t appended)
{
	ck_assert_int_eq(consumer, 0);
	empty.n++;
	empty.appended = appended;
}

static void has_all(void)
{
	const struct spool_conf c = conf();

	memset(&empty, 0, sizeof(empty));
	calls.on_empty = on_empty;
	start(&c);
	ck_assert_int_eq(spooler_consumer(spooler, "one", true), 0);
	spooler_want(spooler, 0);
	WAIT_FOR(empty.n == 1);
	ck_assert_uint_eq(empty.appended, 0);
	ck_assert_int_eq(append(1000, 3), 0);
	WAIT_FOR(seen.of[0].blocks == 1);
	spooler_ack(spooler, 0, seen.of[0].place);
	spooler_want(spooler, 0);
	WAIT_FOR(empty.n == 2);
	ck_assert_uint_eq(empty.appended, 1);
	spooler_want(spooler, 0);
	WAIT_FOR(empty.n == 3);
	stop();
	ck_assert_uint_eq(empty.n, 3);
	calls.on_empty = NULL;
}

TEST(an_empty_spool_is_reported_once_for_each_request)
{
	has_all();
	clean_up();
	set_up();
	calls.turns = &turns;
	has_all();
}

/* The segment is shorter than it was, so that a read finds no block in it. */
static void has_lost_all(void)
{
	const struct spool_conf c = conf();
	char path[64];

	memset(&empty, 0, sizeof(empty));
	calls.on_empty = on_empty;
	start(&c);
	ck_assert_int_eq(append(1000, 3), 0);
	WAIT_FOR(seen.settled == 1);
	snprintf(path, sizeof(path), "%s/%016x.seg", dir, 0);
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert_int_eq(spooler_consumer(spooler, "one", true), 0);
	spooler_want(spooler, 0);
	WAIT_FOR(empty.n == 1);
	ck_assert_uint_eq(empty.appended, 1);
	ck_assert_uint_eq(seen.of[0].blocks, 0);
	stop();
	calls.on_empty = NULL;
}

TEST(a_spool_whose_rest_is_damaged_is_empty)
{
	has_lost_all();
	clean_up();
	set_up();
	calls.turns = &turns;
	has_lost_all();
}

TEST(the_spooler_passes_on_counters_and_notices)
{
	const struct spool_conf c = conf();
	struct spool_stats stats;
	char path[64];
	FILE *f;

	ck_assert_int_eq(chmod(dir, 0700), 0);
	snprintf(path, sizeof(path), "%s/ledger", dir);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_gt(fputs("no ledger", f), 0);
	fclose(f);
	ck_assert_int_eq(chmod(path, 0600), 0);
	start(&c);
	WAIT_FOR(seen.words == 1);
	ck_assert_int_eq(append(1000, 3), 0);
	WAIT_FOR(seen.settled == 1);
	spooler_stats(spooler, &stats);
	ck_assert_uint_eq(stats.segments, 1);
	ck_assert_uint_eq(stats.disk_bytes, EVBLOCK_HEAD_BYTES + 1000);
	ck_assert_uint_eq(stats.lost_blocks + stats.failures + stats.damaged_bytes, 0);
	stop();
	spooler_close(NULL);
}

/* --- a disk that hangs */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static int hanging_sync(void *arg, int fd)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return disk_system.sync(arg, fd);
}

static int enter_hanging(void *arg, const char *path, struct disk *out, struct err *e)
{
	int rc = disk_system.enter(arg, path, out, e);

	out->sync = hanging_sync;
	return rc;
}

TEST(a_hanging_disk_loses_counted_blocks_without_delay)
{
	struct spool_conf c = conf();
	struct disk hanging = disk_system;
	uint64_t refused = 0;
	int got;

	hanging.enter = enter_hanging;
	c.disk = &hanging;
	pthread_mutex_lock(&gate);
	start(&c);
	ck_assert_int_eq(spooler_consumer(spooler, "one", true), 0);
	while (!(got = append(BODY_MAX_BYTES, 10)) || (got == -ERR_LIMIT && refused < 20))
		refused += got != 0;
	ck_assert_int_eq(got, -ERR_LIMIT);
	ck_assert_uint_eq(seen.settled, 0);
	pthread_mutex_unlock(&gate);
	seen.of[0].keeps_on = true;
	spooler_want(spooler, 0);
	WAIT_FOR(seen.of[0].due == seq);
	ck_assert_uint_ge(seen.of[0].lost, refused * 10);
	ck_assert_uint_eq(seen.of[0].events + seen.of[0].lost, first);
	WAIT_FOR(seen.settled == seq);
	stop();
}

SUITE_WITH("spooler", set_up, clean_up)
