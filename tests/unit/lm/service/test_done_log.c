/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A manipulation is done at most once for the id of its request. Later replies about it are true.
 */
#include "common/base/file.h"
#include "common/base/array.h"
#include "common/base/rng.h"
#include "lm/service/done_log.h"
#include "tests/suite.h"
#include "tests/unit/common/store/each_fault.h"
#include "tests/unit/lm/world.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHER "omig:tool-manipulate//you@there"
#define EPOCH 100

static char dir[64], path[128];
static const struct disk *disk; /* NULL: the system's */
static struct done_log *done;
static struct world w;
static struct fake_segment segment;
static char rank[TOKEN_BYTES];

static void set_up(void)
{
	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/done", dir);
}

static void clean_up(void)
{
	char bad[136];

	snprintf(bad, sizeof(bad), "%s.bad", path);
	unlink(bad);
	unlink(path);
	rmdir(dir);
}

/* --- stored operations */

static void reopen(void)
{
	struct err e = { 0 };

	done_log_close(done);
	ck_assert_msg(done_log_open(disk, path, &done, &e) == 0, "%s", e.text);
}

static struct op op_of(uint64_t number)
{
	return (struct op){ done_log_who(done, MANIPULATOR, EPOCH), number, 1 };
}

static enum op_state state_of(uint64_t number, unsigned *status)
{
	const struct op op = op_of(number);

	return done_log_find(done, &op, status);
}

static void begin(uint64_t number)
{
	const struct op op = op_of(number);

	ck_assert_int_eq(done_log_begin(done, &op, NULL), 0);
}

TEST(done_log_survives_a_crash)
{
	unsigned status = 0;
	struct op op;

	reopen();
	op = op_of(1);
	ck_assert_int_eq(state_of(1, &status), OP_NEW);
	begin(1);
	begin(2);
	done_log_end(done, &op, STATUS_OS_ERROR);
	op = op_of(3);
	ck_assert_int_eq(done_log_refuse(done, &op, NULL), 0);
	reopen(); /* nothing is written at the end, as after a kill */
	ck_assert_int_eq(state_of(1, &status), OP_ENDED);
	ck_assert_uint_eq(status, STATUS_OS_ERROR);
	ck_assert_int_eq(state_of(2, &status), OP_BEGUN);
	ck_assert_int_eq(state_of(3, &status), OP_REFUSED);
	ck_assert_int_eq(state_of(4, &status), OP_NEW);
	done_log_close(done);
	done = NULL;
}

static off_t file_bytes(void)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_size;
}

/* Each lm has a log, and most record no operation. */
TEST(where_nothing_was_done_there_is_nearly_nothing)
{
	unsigned status;
	uint64_t who;

	reopen();
	who = done_log_who(done, MANIPULATOR, EPOCH);
	ck_assert_int_lt(file_bytes(), 64);
	reopen();
	ck_assert_int_lt(file_bytes(), 64);
	ck_assert_uint_eq(done_log_who(done, MANIPULATOR, EPOCH), who); /* the file is unchanged */
	begin(1);
	reopen();
	ck_assert_int_eq(state_of(1, &status), OP_BEGUN);
	ck_assert_int_eq(state_of(2, &status), OP_NEW);
	done_log_close(done);
	done = NULL;
}

TEST(unreadable_done_log_is_not_deleted)
{
	static struct memdisk m;
	struct done_log *other = NULL;
	struct err e = { 0 };
	unsigned status = 0;

	memdisk_init(&m, 1);
	disk = &m.disk;
	reopen();
	begin(1);
	m.fault = MEMDISK_FAIL;
	m.error = EIO;
	m.times = 100;
	m.fault_at = m.ops + 1;
	ck_assert_int_eq(done_log_open(disk, path, &other, &e), -ERR_SYS);
	m.fault_at = 0;
	ck_assert_ptr_null(other);
	ck_assert_msg(strstr(e.text, path), "%s", e.text);
	reopen();
	ck_assert_int_eq(state_of(1, &status), OP_BEGUN);
	done_log_close(done);
	done = NULL;
	memdisk_done(&m);
}

static void end(uint64_t number)
{
	const struct op op = op_of(number);

	begin(number);
	done_log_end(done, &op, STATUS_OK);
}

static int open_again(const struct disk *d)
{
	done_log_close(done);
	done = NULL;
	disk = d;
	return done_log_open(d, path, &done, NULL);
}

/* Records as many operations as the log holds: the next one replaces the first. */
static void do_a_round(const struct disk *d)
{
	ck_assert_int_eq(open_again(d), 0);
	for (uint64_t i = 1; i <= DONE_LOG_MAX; i++)
		end(i);
}

static int do_another(const struct disk *d)
{
	struct op op;
	unsigned status;

	if (open_again(d))
		return -ERR_SYS;
	op = op_of(DONE_LOG_MAX + 1);
	return state_of(op.number, &status) == OP_NEW ? done_log_begin(done, &op, NULL) : 0;
}

static enum kept_state another_there(const struct disk *d)
{
	unsigned status = 0, first = 0;
	enum op_state got, oldest;

	ck_assert_int_eq(open_again(d), 0);
	got = state_of(DONE_LOG_MAX + 1, &status);
	oldest = state_of(1, &first);
	if (state_of(DONE_LOG_MAX, &status) != OP_ENDED || oldest == OP_NEW)
		return KEPT_OTHER;
	return got == OP_BEGUN ? KEPT_NEW : got == OP_NEW ? KEPT_OLD : KEPT_OTHER;
}

static void do_one(const struct disk *d)
{
	ck_assert_int_eq(open_again(d), 0);
	begin(1);
}

/* The end of an operation is not reported: the later read shows the outcome. */
static int end_it(const struct disk *d)
{
	struct op op;
	unsigned status = 0;

	if (open_again(d))
		return -ERR_SYS;
	op = op_of(1);
	done_log_end(done, &op, STATUS_OS_ERROR);
	return !open_again(d) && state_of(1, &status) == OP_ENDED ? 0 : -ERR_AGAIN;
}

static enum kept_state end_there(const struct disk *d)
{
	unsigned status = STATUS_OS_ERROR;
	enum op_state got;

	ck_assert_int_eq(open_again(d), 0);
	got = state_of(1, &status);
	return got == OP_BEGUN				      ? KEPT_OLD
	       : got == OP_ENDED && status == STATUS_OS_ERROR ? KEPT_NEW
							      : KEPT_OTHER;
}

TEST(begun_operation_is_not_new_after_any_fault)
{
	each_fault(&(struct kept_case){ "begin", do_a_round, do_another, another_there, true });
	each_fault(&(struct kept_case){ "end", do_one, end_it, end_there, true });
	done_log_close(done);
	done = NULL;
}

/* The growing file is rewritten from time to time. */
TEST(a_long_life_does_not_make_the_file_long)
{
	unsigned status;

	reopen();
	for (uint64_t i = 1; i <= 4 * DONE_LOG_MAX; i++)
		end(i);
	ck_assert_int_lt(file_bytes(), 300 * 1024);
	reopen();
	ck_assert_int_eq(state_of(4 * DONE_LOG_MAX, &status), OP_ENDED);
	ck_assert_int_eq(state_of(3 * DONE_LOG_MAX + 1, &status), OP_ENDED);
	ck_assert_int_eq(state_of(3 * DONE_LOG_MAX, &status), OP_FORGOTTEN);
	done_log_close(done);
	done = NULL;
}

TEST(tools_actions_and_epochs_do_not_meet)
{
	unsigned status;
	struct op op;

	reopen();
	begin(1);
	op = (struct op){ done_log_who(done, OTHER, EPOCH), 1, 1 };
	ck_assert_int_eq(done_log_find(done, &op, &status), OP_NEW);
	op = (struct op){ done_log_who(done, MANIPULATOR, EPOCH + 1), 1, 1 };
	ck_assert_int_eq(done_log_find(done, &op, &status), OP_NEW);
	op = (struct op){ done_log_who(done, MANIPULATOR, EPOCH), 1, 2 };
	ck_assert_int_eq(done_log_find(done, &op, &status), OP_NEW);
	done_log_close(done);
	done = NULL;
}

TEST(evicted_operation_is_never_new_again)
{
	unsigned status;
	struct op other;

	reopen();
	for (uint64_t i = 1; i <= DONE_LOG_MAX + 10; i++)
		begin(i);
	for (int again = 0; again < 2; again++) {
		ck_assert_int_eq(state_of(1, &status), OP_FORGOTTEN);
		ck_assert_int_eq(state_of(10, &status), OP_FORGOTTEN);
		ck_assert_int_eq(state_of(11, &status), OP_BEGUN);
		ck_assert_int_eq(state_of(DONE_LOG_MAX + 11, &status), OP_NEW);
		other = (struct op){ done_log_who(done, OTHER, EPOCH), 1, 1 };
		ck_assert_int_eq(done_log_find(done, &other, &status), OP_NEW);
		reopen();
	}
	done_log_close(done);
	done = NULL;
}

TEST(a_file_that_makes_no_sense_is_begun_again)
{
	struct rng rng;
	unsigned status;

	rng_init(&rng, suite_seed(5));
	for (int i = 0; i < 200; i++) {
		int fd = open(path, O_RDWR | O_CREAT, 0600);
		uint64_t noise[64];

		for (size_t k = 0; k < 64; k++)
			noise[k] = rng_next(&rng);
		ck_assert_int_gt(pwrite(fd, noise, sizeof(noise), (off_t)rng_below(&rng, 60000)),
				 0);
		if (i % 5 == 0)
			ck_assert_int_eq(ftruncate(fd, (off_t)rng_below(&rng, 60000)), 0);
		close(fd);
		reopen();
		begin((uint64_t)i + 1);
		ck_assert_int_eq(state_of((uint64_t)i + 1, &status), OP_BEGUN);
	}
	ck_assert_int_eq(chmod(path, 0644), 0);
	done_log_close(done);
	done = NULL;
	ck_assert_int_eq(done_log_open(disk, path, &done, NULL), -ERR_DENIED);
}

/* --- what an lm does with it */

static void open_world(void)
{
	world_open(&w);
	world_crash_lm(&w);
	w.done = path;
	world_start_lm(&w);
	world_add_rank(&w, &segment, 100, 0, rank);
	w.as.op_epoch = EPOCH;
	w.as.op = 1;
}

static void close_world(void)
{
	world_close(&w);
	fake_segment_close(&segment);
}

static size_t signals(void)
{
	return fake_proc_find(&w.host, 100)->nsignal;
}

static const char *kick_as(const char *identity)
{
	static char text[256];
	const struct msg_entry *e;

	snprintf(text, sizeof(text), ":proc_send_signal([%s],10)", rank);
	e = reply_entry_of(world_ask_as(&w, 1, identity, text), NULL);
	snprintf(text, sizeof(text), "%u %s", (unsigned)e->status, entry_text(e));
	return text;
}

static const char *kick(void)
{
	return kick_as(MANIPULATOR);
}

static void cut_link(void)
{
	above_close(&w.mainsm);
	world_run(&w, 100 * MS);
	above_listen(&w, &w.mainsm, ROLE_MAINSM, "top", &w.port);
	for (int i = 0; i < 300 && !w.mainsm.up.link; i++)
		world_run(&w, 100 * MS);
	ck_assert_ptr_nonnull(w.mainsm.up.link);
}

TEST(a_thousand_times_the_same_is_done_once_with_one_answer)
{
	char first[256];

	open_world();
	str_copy(first, sizeof(first), kick());
	ck_assert_uint_eq(signals(), 1);
	for (int i = 0; i < 1000; i++)
		ck_assert_str_eq(kick(), first);
	cut_link();
	ck_assert_str_eq(kick(), first);
	ck_assert_uint_eq(signals(), 1);
	w.as.op++;
	ck_assert_str_eq(kick(), first);
	ck_assert_uint_eq(signals(), 2);
	ck_assert_str_eq(kick_as(OTHER), first); /* that is another tool's request */
	ck_assert_uint_eq(signals(), 3);
	close_world();
}

TEST(after_a_crash_it_is_not_repeated_and_that_is_reported)
{
	open_world();
	kick();
	world_crash_lm(&w);
	world_start_lm(&w);
	world_run(&w, 5 * SEC);
	ck_assert_ptr_nonnull(strstr(kick(), "done before, with the status OK"));
	ck_assert_uint_eq(signals(), 1);
	close_world();
}

TEST(a_query_for_the_outcome_does_nothing)
{
	open_world();
	w.as.flags = MSG_REQUEST_OUTCOME;
	ck_assert_ptr_nonnull(strstr(kick(), "not done, and it never will be"));
	w.as.flags = 0;
	ck_assert_ptr_nonnull(strstr(kick(), "not done, and it never will be"));
	ck_assert_uint_eq(signals(), 0);
	w.as.op++;
	kick();
	w.as.flags = MSG_REQUEST_OUTCOME;
	ck_assert_ptr_null(strstr(kick(), "done"));
	ck_assert_uint_eq(signals(), 1);
	w.as.op = 0;
	ck_assert_ptr_nonnull(strstr(kick(), "has no id"));
	ck_assert_uint_eq(signals(), 1);
	close_world();
}

TEST(unfinished_operation_of_a_dead_lm_is_unknown)
{
	struct op op;

	reopen();
	op = op_of(1);
	begin(1);
	done_log_close(done);
	done = NULL;
	open_world();
	ck_assert_ptr_nonnull(strstr(kick(), "outcome unknown"));
	ck_assert_uint_eq(signals(), 0);
	ck_assert_uint_eq(op.number, 1);
	close_world();
}

TEST(without_an_id_each_request_is_another_one)
{
	open_world();
	w.as.op = 0;
	kick();
	kick();
	ck_assert_uint_eq(signals(), 2);
	close_world();
}

SUITE_WITH("lm done log", set_up, clean_up)
