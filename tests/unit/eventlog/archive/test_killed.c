/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches that were reported as stored are read back after every crash. A loader is stopped,
 * continued and killed at random points of commit, checkpoint and restart of the WAL. Beside it a
 * reader is stopped too. OMIG_ARCHIVE_KILLS=5000 is the long run.
 */
#include "common/base/rng.h"
#include "tests/unit/eventlog/archive/stored.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCH 40
#define SPAN_US 12000 /* a loader lives so long at most: some twenty batches */
#define SPAN_US_MOST 3000000 /* and so long on a busy machine */

/* Batches that were reported as safe to a loader. They are in memory that outlives the loader. */
static _Atomic uint64_t *reported;
static pid_t helper[2]; /* ended with the test */

static void end_helpers(void)
{
	for (int i = 0; i < 2; i++)
		if (helper[i] > 0)
			kill(helper[i], SIGKILL);
}

static void start(void)
{
	reported = mmap(NULL, sizeof(*reported), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	ck_assert(reported != MAP_FAILED);
}

static void stop(void)
{
	end_helpers();
	munmap(reported, sizeof(*reported));
}

static void load_until_killed(uint64_t from)
{
	struct archive *a = stored_open(AR_WRITE);

	archive_set_batch(a, BATCH);
	stored_number(a, "PRAGMA wal_autocheckpoint=20"); /* pages, instead of 4000: a restarted WAL
							     every few batches */
	for (uint64_t i = from;; i++)
		if (stored_put(a, (struct stored_at){ .stream = 7, .number = i }, i % 3 ? "x" : "y",
			       "n", I32((int)i)))
			atomic_store(reported, from + archive_report(a)->safe);
}

static void read_until_killed(void)
{
	for (;;) {
		struct archive *a = stored_open(AR_READ);
		uint64_t least = atomic_load(reported);

		if ((uint64_t)stored_number(a, "SELECT coalesce(sum(n), 0) FROM type") < least)
			_exit(9);
		archive_close(a);
	}
}

static pid_t child(void (*run)(uint64_t), uint64_t arg)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run(arg);
	_exit(1);
}

static void reader(uint64_t unused)
{
	read_until_killed();
}

/* Some time passes, in which the two are stopped and continued. A stopped process holds its
 * locks. */
static void disturb(struct rng *r, uint64_t span_us)
{
	int64_t left = (int64_t)rng_below(r, span_us);

	while (left > 0) {
		int64_t us = 50 + (int64_t)rng_below(r, 3000);

		nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
		left -= us;
		kill(helper[rng_below(r, 2)], rng_below(r, 3) ? SIGCONT : SIGSTOP);
	}
}

static void end(int i, int want_signal)
{
	int status;

	kill(helper[i], want_signal);
	kill(helper[i], SIGCONT);
	ck_assert_int_eq(waitpid(helper[i], &status, 0), helper[i]);
	ck_assert_msg(WIFSIGNALED(status), "process %d ended with status %d", i,
		      WEXITSTATUS(status));
	helper[i] = 0;
}

static uint64_t are_there(void)
{
	struct archive *a = stored_open(AR_READ);
	uint64_t n = (uint64_t)stored_number(a, "SELECT sum(n) FROM type");

	ck_assert_uint_eq((uint64_t)stored_number(a, "SELECT count(*) FROM event"), n);
	ck_assert_uint_eq((uint64_t)stored_number(a, "SELECT next FROM loaded"), n);
	archive_close(a);
	return n;
}

TEST(reported_events_survive_each_kill)
{
	const char *wish = getenv("OMIG_ARCHIVE_KILLS");
	int kills = wish ? (int)strtol(wish, NULL, 10) : 30;
	uint64_t before, n, span_us = SPAN_US;
	struct rng r;

	rng_init(&r, suite_seed((uint64_t)getpid()));
	stored_new();
	stored_close(stored_open(AR_WRITE));
	atomic_store(reported, 0);
	for (int i = 0; i < kills; i++) {
		before = atomic_load(reported);
		helper[0] = child(load_until_killed, before);
		helper[1] = child(reader, 0);
		disturb(&r, span_us);
		end((int)rng_below(&r, 2), SIGKILL);
		end(helper[0] ? 0 : 1, SIGKILL);
		if (!atomic_load(reported)) { /* the loader was killed before its first batch */
			span_us = 2 * span_us < SPAN_US_MOST ? 2 * span_us : SPAN_US_MOST;
			continue;
		}
		n = are_there();
		ck_assert_uint_ge(n, atomic_load(reported));
		ck_assert_uint_eq(n % BATCH, 0);
		atomic_store(reported, n); /* a batch may be stored and not yet be reported */
	}
	ck_assert_uint_gt(atomic_load(reported), 0);
	printf("%d kills, %llu events\n", kills, (unsigned long long)atomic_load(reported));
	stored_remove();
}

SUITE_WITH("killed", start, stop)
