/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A manipulation is done at most once for the id of its request. Later replies about it are true.
 */
#include "common/base/file.h"
#include "common/base/array.h"
#include "common/base/rng.h"
#include "lm/service/done_log.h"
#include "tests/suite.h"
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
	unlink(path);
	rmdir(dir);
}

/* --- a disk that fails for a while */

static bool cannot_read;
static unsigned fails_in; /* the so-manieth write fails; 0: none */
static size_t half; /* and so much of it is written */

ssize_t __real_pread(int fd, void *p, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at);

ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at)
{
	errno = EIO;
	return cannot_read ? -1 : __real_pread(fd, p, n, at);
}

ssize_t __real_pwrite(int fd, const void *p, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t at);

ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t at)
{
	if (!fails_in || --fails_in)
		return __real_pwrite(fd, p, n, at);
	ck_assert_int_ge(__real_pwrite(fd, p, n < half ? n : half, at), 0);
	errno = EIO;
	return -1;
}

/* --- what is remembered */

static void reopen(void)
{
	struct err e = { 0 };

	done_log_close(done);
	ck_assert_msg(done_log_open(path, &done, &e) == 0, "%s", e.text);
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

TEST(what_was_begun_and_ended_outlives_a_crash)
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
	reopen(); /* nothing is written at the end: it is as after a kill */
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

/* There is one for each lm, and most of them are never asked to do anything. */
TEST(where_nothing_was_done_there_is_nearly_nothing)
{
	unsigned status;
	uint64_t who;

	reopen();
	who = done_log_who(done, MANIPULATOR, EPOCH);
	ck_assert_int_lt(file_bytes(), 64);
	reopen();
	ck_assert_int_lt(file_bytes(), 64);
	ck_assert_uint_eq(done_log_who(done, MANIPULATOR, EPOCH), who); /* it is the same file */
	begin(1);
	reopen();
	ck_assert_int_eq(state_of(1, &status), OP_BEGUN);
	ck_assert_int_eq(state_of(2, &status), OP_NEW);
	done_log_close(done);
	done = NULL;
}

TEST(what_cannot_be_read_is_not_thrown_away)
{
	struct done_log *other = NULL;
	struct err e = { 0 };
	unsigned status = 0;

	reopen();
	begin(1);
	cannot_read = true;
	ck_assert_int_eq(done_log_open(path, &other, &e), -ERR_SYS);
	cannot_read = false;
	ck_assert_ptr_null(other);
	ck_assert_msg(strstr(e.text, path), "%s", e.text);
	reopen();
	ck_assert_int_eq(state_of(1, &status), OP_BEGUN);
	done_log_close(done);
	done = NULL;
}

static void end(uint64_t number)
{
	const struct op op = op_of(number);

	begin(number);
	done_log_end(done, &op, STATUS_OK);
}

static void fail_after_a_round(unsigned so_manieth)
{
	unsigned status = 0;
	struct op op;

	unlink(path);
	reopen();
	for (uint64_t i = 1; i <= DONE_LOG_MAX; i++)
		end(i);
	op = op_of(DONE_LOG_MAX + 1);
	fails_in = so_manieth;
	done_log_begin(done, &op, NULL);
	fails_in = 0;
	reopen();
	ck_assert_int_ne(state_of(DONE_LOG_MAX + 1, &status), OP_ENDED);
	ck_assert_int_ne(state_of(1, &status), OP_NEW);
}

TEST(half_a_record_is_not_what_became_of_another_one)
{
	for (unsigned write = 1; write <= 4; write++)
		for (half = 4; half <= 20; half += 4)
			fail_after_a_round(write);
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

TEST(what_is_forgotten_is_never_new_again)
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

TEST(a_file_that_makes_no_sense_is_begun_anew)
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
	ck_assert_int_eq(done_log_open(path, &done, NULL), -ERR_DENIED);
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
	above_listen(&w.mainsm, ROLE_MAINSM, "top", &w.port);
	for (int i = 0; i < 300 && !w.mainsm.link; i++)
		world_run(&w, 100 * MS);
	ck_assert_ptr_nonnull(w.mainsm.link);
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

TEST(after_a_crash_it_is_not_done_again_and_that_is_said)
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

TEST(who_asks_what_became_of_it_has_it_never_done)
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

TEST(what_was_begun_when_the_lm_died_is_unknown)
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
