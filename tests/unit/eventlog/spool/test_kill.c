/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that write blocks and take them out of a spool at once, killed at any moment. A block
 * reported as settled was taken in the end, or was reported as lost; and its bytes are those
 * written. OMIG_KILLS=200 kills more often.
 */
#include "common/base/hash.h"
#include "common/base/rng.h"
#include "eventlog/evgap.h"
#include "eventlog/spool/spooler.h"
#include "tests/suite.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIVES_MAX 1001
#define BLOCKS_MAX 200000 /* of one life */
#define EVENTS 7 /* in each block */
#define BODY_BYTES 2048
/* for the one that takes the rest: never so long where a disk works */
#define LAST_MAX_NS (20 * NSEC_PER_SEC)

/* State that outlives a process. */
struct shared {
	uint64_t appended[LIVES_MAX], settled[LIVES_MAX], due[LIVES_MAX];
	/* A bit for each block; only used pages take memory. */
	uint8_t has[LIVES_MAX][BLOCKS_MAX / 8], lost[LIVES_MAX][BLOCKS_MAX / 8];
};

static struct shared *shared;
static char dir[] = "/tmp/omig-spool-XXXXXX";
static bool has_bounds; /* the oldest is dropped, early */

/* State of the killed process. */
static struct {
	struct loop *loop;
	struct spooler *spooler;
	struct loop_timer *timer;
	unsigned life;
	int consumer;
	bool is_last; /* nothing new; ends when all is taken */
} me;

static void make(uint64_t seq, uint8_t *p, struct evblock *b)
{
	*b = (struct evblock){ .version = EVBLOCK_VERSION,
			       .bytes = EVBLOCK_HEAD_BYTES + BODY_BYTES,
			       .stream = me.life,
			       .seq = seq,
			       .first = seq * EVENTS,
			       .events = EVENTS };
	memset(p + EVBLOCK_HEAD_BYTES, (int)(seq + me.life), BODY_BYTES);
	b->crc = hash_crc32c(0, p + EVBLOCK_HEAD_BYTES, BODY_BYTES);
	evblock_encode(b, p);
}

static void append_some(void *arg)
{
	uint8_t p[EVBLOCK_HEAD_BYTES + BODY_BYTES];
	struct evblock b;

	for (int i = 0; i < 20 && shared->appended[me.life] < BLOCKS_MAX; i++) {
		int rc;

		make(shared->appended[me.life], p, &b);
		rc = spooler_append(me.spooler, p, &b);
		if (rc && rc != -ERR_LIMIT)
			break;
		shared->appended[me.life]++;
	}
	loop_timer_arm(me.timer, NSEC_PER_MSEC / 2);
}

static void on_settled(void *arg, uint64_t appended)
{
	shared->settled[me.life] = appended;
}

static void set_bit(uint8_t *bits, uint64_t i)
{
	bits[i / 8] |= (uint8_t)(1 << i % 8);
}

static bool get_bit(const uint8_t *bits, uint64_t i)
{
	return bits[i / 8] & (1 << i % 8);
}

static void take(const uint8_t *p, const struct evblock *b)
{
	uint64_t life = b->stream;
	struct evgap g;

	if (life >= LIVES_MAX || b->seq >= BLOCKS_MAX)
		abort();
	if (evgap_of(p, b, &g)) {
		for (uint64_t i = shared->due[life]; i < g.end_seq; i++)
			set_bit(shared->lost[life], i);
	} else if (b->events != EVENTS || b->first != b->seq * EVENTS ||
		   p[b->bytes - 1] != (uint8_t)(b->seq + life)) {
		abort();
	} else {
		set_bit(shared->has[life], b->seq);
	}
	if (g.end_seq > shared->due[life])
		shared->due[life] = g.end_seq;
}

/* Counts of all earlier processes. */
static bool is_all_said(void)
{
	for (unsigned i = 1; i < me.life; i++)
		if (shared->due[i] < shared->settled[i])
			return false;
	return true;
}

static void on_blocks(void *arg, int consumer, const uint8_t *p, size_t n, uint64_t place)
{
	struct evblock b;

	for (size_t at = 0; at < n; at += b.bytes) {
		if (evblock_look(p + at, n - at, &b) != EVBLOCK_GOOD)
			abort();
		take(p + at, &b);
	}
	spooler_ack(me.spooler, me.consumer, place);
	spooler_want(me.spooler, me.consumer);
	if (me.is_last && is_all_said())
		loop_stop(me.loop);
}

static void on_open(void *arg, int rc, const struct err *e)
{
	if (rc)
		fprintf(stderr, "not opened: %s\n", e->text);
	if (rc)
		abort();
}

static void on_timeout(void *arg)
{
	loop_stop(me.loop);
}

static void live(unsigned life, bool is_last)
{
	const struct spool_conf c = { .when_full =
					      has_bounds ? SPOOL_DROP_OLDEST : SPOOL_DROP_NEWEST,
				      .max_bytes = has_bounds ? 2u << 20 : 1u << 30,
				      .segment_bytes = 256 * 1024,
				      .commit_ns = 2 * NSEC_PER_MSEC,
				      .commit_bytes = 64 * 1024 };
	struct spooler_calls calls = { .on_open = on_open,
				       .on_settled = on_settled,
				       .on_blocks = on_blocks };
	struct err e = { 0 };

	me.life = life;
	me.is_last = is_last;
	me.loop = calls.loop = loop_new();
	if (!me.loop || spooler_open(dir, &c, &calls, &me.spooler, &e))
		abort();
	me.consumer = spooler_consumer(me.spooler, "taker", true);
	me.timer = loop_timer_new(me.loop, is_last ? on_timeout : append_some, NULL);
	spooler_want(me.spooler, me.consumer);
	loop_timer_arm(me.timer, is_last ? (is_all_said() ? 0 : LAST_MAX_NS) : 0);
	loop_run(me.loop);
	spooler_close(me.spooler);
	loop_timer_free(me.timer);
	loop_free(me.loop);
}

/* Every second one is killed when it has done something, the others also while they begin. */
static void kill_it(pid_t child, unsigned life, unsigned after_us)
{
	const volatile uint64_t *settled = &shared->settled[life];

	for (int i = 0; life % 2 && !*settled && i < 20000; i++)
		usleep(1000);
	usleep(after_us);
	kill(child, SIGKILL);
}

static int run_life(unsigned life, bool is_last, unsigned kill_after_us)
{
	pid_t child = fork();
	int status = 0;

	ck_assert_int_ge(child, 0);
	if (!child) {
		live(life, is_last);
		_exit(0);
	}
	if (!is_last)
		kill_it(child, life, kill_after_us);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status;
}

static void look(unsigned lives)
{
	uint64_t settled = 0, came = 0;

	for (unsigned life = 1; life <= lives; life++) {
		settled += shared->settled[life];
		for (uint64_t i = 0; i < shared->settled[life]; i++) {
			bool has = get_bit(shared->has[life], i);

			came += has;
			ck_assert_msg(has || get_bit(shared->lost[life], i),
				      "block %llu of life %u is settled, and is nowhere",
				      (unsigned long long)i, life);
		}
	}
	printf("# %u lives: %llu blocks settled, %llu came, %llu were told to be lost\n", lives,
	       (unsigned long long)settled, (unsigned long long)came,
	       (unsigned long long)(settled - came));
	ck_assert_uint_gt(settled, 0);
	ck_assert(came == settled || has_bounds);
}

static void remove_dir(void)
{
	pid_t child = fork();

	if (!child)
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
	waitpid(child, NULL, 0);
}

static void kill_many(void)
{
	const char *wish = getenv("OMIG_KILLS");
	unsigned kills = wish ? (unsigned)strtoul(wish, NULL, 10) : 10;
	struct rng rng;
	int status;

	kills = kills < LIVES_MAX - 2 ? kills : LIVES_MAX - 2;
	rng_init(&rng, suite_seed(1));
	ck_assert_ptr_nonnull(mkdtemp(dir));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert(shared != MAP_FAILED);
	for (unsigned life = 1; life <= kills; life++) {
		status =
			run_life(life, false, (unsigned)rng_below(&rng, life % 4 ? 30000 : 120000));
		ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
			      "life %u ended by itself: %d", life, status);
	}
	ck_assert_int_eq(run_life(kills + 1, true, 0), 0);
	look(kills);
	remove_dir();
	munmap(shared, sizeof(*shared));
}

TEST(settled_blocks_survive_the_end_of_the_process)
{
	has_bounds = false;
	kill_many();
}

TEST(settled_blocks_survive_when_the_oldest_are_dropped)
{
	has_bounds = true;
	kill_many();
}

SUITE("kill")
