/* SPDX-License-Identifier: Apache-2.0 */
/* An lm that is killed while it holds something, and its guardian: real processes, the real
 * lm-guard. */
#include "common/base/file.h"
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "lm/hold/guard.h"
#include "lm/host/host_linux.h"
#include "lm/attach/registration.h"
#include "lm/hold/holds.h"
#include "lm/proc/tickbase.h"
#include "tests/suite.h"
#include "tests/unit/common/store/each_fault.h"
#include "tests/unit/lm/fake_segment.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_TRIES 5000
#define WAIT_STEP_NS (10 * NSEC_PER_MSEC)
#define EPOCH 4711
#define PRIVATE_MAX_KIB 200 /* private pages; Pss would depend on other processes */

static char dir[64], journal[128], guard[FILE_PATH_BYTES];

static void set_up(void)
{
	struct err e = { 0 };

	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(journal, sizeof(journal), "%s/stops", dir);
	ck_assert_int_eq(file_beside_program(guard, "../../../../bin/lm-guard", &e), 0);
	ck_assert_int_eq(access(guard, X_OK), 0);
}

static void clean_up(void)
{
	unlink(journal);
	rmdir(dir);
}

static void wait_a_step(void)
{
	struct timespec step = { .tv_nsec = WAIT_STEP_NS };

	nanosleep(&step, NULL);
}

/* --- a rank and an lm */

static pid_t start_rank(void)
{
	int ready[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		struct fake_segment s;

		fake_segment_open(&s, getpid(), 3, (uint32_t)getpid());
		if (write(ready[1], "x", 1) == 1)
			for (;;)
				pause();
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

struct node {
	struct loop *loop;
	struct host *host;
	struct procs *procs;
	struct registration *registration;
	struct holds *holds;
	struct tickbase ticks;
};

static void node_open(struct node *n)
{
	struct procs_conf procs = { .epoch = EPOCH, .ticks = &n->ticks };
	struct registration_conf in = { .memfd = "omig-testtest", .uid = getuid() };
	struct holds_conf stops = { .journal = journal, .epoch = EPOCH, .guard = guard };
	struct err e = { 0 };

	n->loop = procs.loop = in.loop = stops.loop = loop_new();
	tickbase_init(&n->ticks);
	ck_assert_int_eq(host_linux_open("/", n->loop, &n->host, &e), 0);
	procs.host = in.host = stops.host = n->host;
	ck_assert_int_eq(procs_open(&procs, &n->procs, &e), 0);
	in.procs = stops.procs = n->procs;
	ck_assert_msg(registration_open(&in, &n->registration, &e) == 0, "%s", e.text);
	ck_assert_msg(holds_open(&stops, &n->holds, &e) == 0, "%s", e.text);
	holds_link(n->holds, true);
	registration_adopt(n->registration);
}

/* In a separate process group: stops the rank and continues as an lm does, until it is killed. */
static pid_t start_lm(pid_t rank)
{
	static struct node n;
	int ready[2];
	pid_t pid;
	char c = 0;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		struct proc *p;

		setpgid(0, 0);
		node_open(&n);
		p = procs_find_pid(n.procs, rank);
		if (!p || holds_stop(n.holds, p, 1, NULL) || write(ready[1], "x", 1) != 1)
			_exit(1);
		loop_run(n.loop);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static char state_of(pid_t pid)
{
	char path[64], text[512] = "";
	const char *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	at = strrchr(text, ')');
	return at ? at[2] : 0;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* Kills the lm's process group, as a shell kills a job. */
static void kill_lm(pid_t lm)
{
	ck_assert_int_eq(kill(-lm, SIGKILL), 0);
	ck_assert_int_eq(waitpid(lm, NULL, 0), lm);
}

static void wait_for_end_of(const char *path)
{
	for (int i = 0; access(path, F_OK) == 0 && i < WAIT_TRIES; i++)
		wait_a_step();
	ck_assert_int_ne(access(path, F_OK), 0);
}

TEST(held_process_of_a_killed_lm_runs_without_another_lm)
{
	int status = 0;
	pid_t rank = start_rank(), lm = start_lm(rank);

	ck_assert_int_eq(waitpid(rank, &status, WUNTRACED), rank);
	ck_assert(WIFSTOPPED(status));
	kill_lm(lm);
	ck_assert_int_eq(waitpid(rank, &status, WCONTINUED), rank);
	ck_assert(WIFCONTINUED(status));
	wait_for_end_of(journal);
	end(rank);
}

TEST(a_process_stopped_by_others_stays_stopped)
{
	int status = 0;
	pid_t rank = start_rank(), other = start_rank(), lm;

	kill(rank, SIGSTOP);
	ck_assert_int_eq(waitpid(rank, &status, WUNTRACED), rank);
	lm = start_lm(rank);
	kill_lm(lm);
	/* When the guard of another lm has done its work, the first rank is still held. */
	lm = start_lm(other);
	kill_lm(lm);
	wait_for_end_of(journal);
	ck_assert_int_eq(state_of(rank), 'T');
	end(rank);
	end(other);
}

/* Written whole at once: a late guard may read and remove the file as soon as it exists. */
static void write_lines(uint64_t epoch, pid_t pid, uint64_t start)
{
	char text[128];

	snprintf(text, sizeof(text), "lm %llu\n%d %llu boot\n", (unsigned long long)epoch, (int)pid,
		 (unsigned long long)start);
	put_kept(NULL, journal, "holds 1", text);
}

static struct guard *new_guard(struct loop *l)
{
	struct guard *g = guard_new(&(struct guard_conf){ l, guard, journal, EPOCH });

	ck_assert_ptr_nonnull(g);
	return g;
}

/* Simulates the death of this lm: a child holds the end of its pipe to the guard, and ends. */
static void have_guard_act(void)
{
	pid_t pid = fork(), run;

	if (pid == 0) {
		struct guard *g = new_guard(loop_new());

		guard_want(g, true);
		run = guard_pid(g);
		_exit(run ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

TEST(the_journal_of_another_lm_is_not_its_own)
{
	int status = 0;
	pid_t rank = start_rank();

	kill(rank, SIGSTOP);
	ck_assert_int_eq(waitpid(rank, &status, WUNTRACED), rank);
	write_lines(EPOCH + 1, rank, 1);
	for (int i = 0; i < 3; i++)
		have_guard_act();
	write_lines(EPOCH, rank, 1); /* another process had that pid */
	have_guard_act();
	wait_for_end_of(journal);
	ck_assert_int_eq(state_of(rank), 'T');
	end(rank);
}

#define WAIT_FOR(condition)                                                      \
	do {                                                                     \
		for (int tries = 0; !(condition) && tries < WAIT_TRIES; tries++) \
			loop_wait(l, WAIT_STEP_NS);                              \
		ck_assert(condition);                                            \
	} while (0)

TEST(one_that_is_killed_is_replaced_while_it_is_needed)
{
	struct loop *l = loop_new();
	struct guard *g = new_guard(l);
	int32_t first;

	ck_assert_int_eq(guard_pid(g), 0);
	guard_want(g, true);
	first = guard_pid(g);
	ck_assert_int_ne(first, 0);
	kill(first, SIGKILL);
	WAIT_FOR(guard_pid(g) != first);
	WAIT_FOR(guard_pid(g) != 0);
	guard_want(g, false);
	first = guard_pid(g);
	kill(first, SIGKILL);
	WAIT_FOR(guard_pid(g) == 0);
	WAIT_FOR(loop_next_at(l) == -1);
	guard_free(g);
	loop_free(l);
}

TEST(the_guard_ends_after_a_while_without_holds)
{
	struct loop *l = loop_new_virtual();
	struct guard *g = new_guard(l);
	int32_t pid;

	guard_want(g, true);
	pid = guard_pid(g);
	loop_advance(l, 2 * GUARD_IDLE_NS);
	ck_assert_int_eq(guard_pid(g), pid);
	guard_want(g, false);
	guard_want(g, true);
	ck_assert_int_eq(guard_pid(g), pid);
	guard_want(g, false);
	loop_advance(l, 2 * GUARD_IDLE_NS);
	ck_assert_int_eq(guard_pid(g), 0);
	for (int i = 0; kill(pid, 0) == 0 && i < WAIT_TRIES; i++) {
		wait_a_step(); /* a virtual loop does not wait */
		loop_turn(l);
	}
	ck_assert_int_lt(kill(pid, 0), 0);
	guard_free(g);
	loop_free(l);
}

TEST(one_that_cannot_be_started_is_tried_again)
{
	struct loop *l = loop_new_virtual();
	struct guard *g = guard_new(&(struct guard_conf){ l, "/nowhere/lm-guard", journal, EPOCH });

	guard_want(g, true);
	ck_assert_int_eq(guard_pid(g), 0);
	ck_assert_int_ge(loop_next_at(l), 0);
	loop_advance(l, 2 * GUARD_RETRY_NS);
	ck_assert_int_ge(loop_next_at(l), 0);
	guard_want(g, false);
	ck_assert_int_eq(loop_next_at(l), -1);
	guard_free(g);
	loop_free(l);
}

TEST(the_guard_needs_little_memory)
{
	struct loop *l = loop_new();
	struct guard *g = new_guard(l);
	char path[64], text[2048] = "";
	long own = -1;
	const char *clean, *dirty;
	FILE *f;

	guard_want(g, true);
	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)guard_pid(g));
	WAIT_FOR(state_of(guard_pid(g)) == 'S'); /* it is in its poll() */
	f = fopen(path, "r");
	if (f) { /* not every kernel has it */
		text[fread(text, 1, sizeof(text) - 1, f)] = 0;
		fclose(f);
		clean = strstr(text, "\nPrivate_Clean:");
		dirty = strstr(text, "\nPrivate_Dirty:");
		ck_assert(clean && dirty);
		own = strtol(clean + 15, NULL, 10) + strtol(dirty + 15, NULL, 10);
	}
	printf("# memory of lm-guard alone: %ld KiB\n", own);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	ck_assert_int_le(own, PRIVATE_MAX_KIB);
#endif
	guard_free(g);
	loop_free(l);
}

SUITE_WITH("lm guard", set_up, clean_up)
