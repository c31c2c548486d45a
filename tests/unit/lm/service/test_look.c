/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and files that hang: a real page of a real file system that never answers, and the real
 * lm-look. */
#include "common/base/file.h"
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "lm/service/look.h"
#include "lm/helper/helper.h"
#include "tests/suite.h"
#include "tests/unit/lm/hung_file.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_TRIES 3000
#define WAIT_STEP_NS (10 * NSEC_PER_MSEC)

static char dir[64], hung[96], program[FILE_PATH_BYTES];
static struct loop *loop;
static struct helper *look;
static uint8_t word[] = "in memory";

struct reported {
	unsigned n;
	uint8_t type;
	char text[ERR_TEXT_BYTES];
};

static void set_up(void)
{
	struct err e = { 0 };

	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(hung, sizeof(hung), "%s/" HUNG_FILE, dir);
	ck_assert_int_eq(file_beside_program(program, "../../../../bin/lm-look", &e), 0);
	loop = loop_new();
	look = helper_new(&(struct helper_conf){ .loop = loop,
						 .program = program,
						 .sent_max = 1,
						 .answer_max = LOOK_MAX_NS,
						 .hangs = LOOK_HANGS });
	ck_assert_ptr_nonnull(look);
}

static void clean_up(void)
{
	helper_free(look);
	loop_free(loop);
	umount2(dir, MNT_DETACH); /* where one was mounted */
	ck_assert_int_eq(rmdir(dir), 0);
}

static void on_answer(void *arg, const struct tracer_msg *m)
{
	struct reported *t = arg;

	t->n++;
	t->type = m->type;
	str_copy(t->text, sizeof(t->text), m->type == TRACER_FAILED ? m->text[0] : "");
	if (m->type == TRACER_BYTES)
		str_copy(t->text, sizeof(t->text), (const char *)m->bytes);
}

static uint64_t start_of(pid_t pid)
{
	char path[64], text[512] = "";
	unsigned long long start = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	sscanf(strrchr(text, ')') + 2,
	       "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
	       &start);
	return start;
}

static void ask_memory(pid_t pid, const void *at, struct reported *t)
{
	struct tracer_msg m = { .type = TRACER_READ_MEMORY,
				.pid = pid,
				.start = start_of(pid),
				.nvalue = 4,
				.value = { (uintptr_t)at, sizeof(word), sizeof(word), 1 } };
	struct helper_ask *a;

	ck_assert_int_eq(helper_ask(look, &m, &(struct helper_reply){ on_answer, t }, &a, NULL), 0);
}

static void ask_file(const char *path, struct reported *t)
{
	struct tracer_msg m = { .type = TRACER_FILE, .nvalue = 2, .value = { 0, 9 }, .ntext = 1 };
	struct helper_ask *a;

	m.text[0] = path;
	ck_assert_int_eq(helper_ask(look, &m, &(struct helper_reply){ on_answer, t }, &a, NULL), 0);
}

#define WAIT_FOR(condition)                                                      \
	do {                                                                     \
		for (int tries = 0; !(condition) && tries < WAIT_TRIES; tries++) \
			loop_wait(loop, WAIT_STEP_NS);                           \
		ck_assert(condition);                                            \
	} while (0)

/* Starts a process that maps the file and does not access it. */
static pid_t start_mapper(void **at)
{
	int fd = open(hung, O_RDONLY | O_CLOEXEC);
	pid_t pid;

	ck_assert_int_ge(fd, 0);
	*at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	ck_assert_ptr_ne(*at, MAP_FAILED);
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static bool answers(pid_t pid)
{
	struct reported t = { 0 };

	ask_memory(pid, word, &t);
	WAIT_FOR(t.n == 1);
	return t.type == TRACER_BYTES && !strcmp(t.text, (const char *)word);
}

TEST(memory_and_files_are_looked_at_from_outside)
{
	struct reported t = { 0 }, file = { 0 };
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	ck_assert(answers(pid));
	ask_file("/proc/sys/kernel/ostype", &file);
	WAIT_FOR(file.n == 1);
	ck_assert(!strncmp(file.text, "Linux", 5));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ask_file("/proc/nowhere/at/all", &t);
	WAIT_FOR(t.n == 1);
	ck_assert_uint_eq(t.type, TRACER_FAILED);
}

TEST(a_hanging_read_is_reported_and_blocks_no_other)
{
	struct reported memory = { 0 }, file = { 0 };
	int32_t first;
	void *at;
	pid_t pid;

	if (!hung_file_mount(dir)) {
		printf("# no file system of one's own can be mounted here\n");
		return;
	}
	pid = start_mapper(&at);
	ask_memory(pid, at, &memory);
	WAIT_FOR(helper_pid(look) != 0);
	first = helper_pid(look);
	ask_file(hung, &file);
	WAIT_FOR(memory.n == 1);
	ck_assert_uint_eq(memory.type, TRACER_FAILED);
	ck_assert_str_eq(memory.text, LOOK_HANGS);
	WAIT_FOR(file.n == 1);
	ck_assert_str_eq(file.text, LOOK_HANGS);
	ck_assert(answers(pid));
	ck_assert_int_ne(helper_pid(look), first);
	hung_file_end();
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/*
 * The reader is killed, not left waiting where it cannot be killed: that would lock the program
 * too.
 */
TEST(a_reader_that_hangs_in_a_page_can_be_killed)
{
	struct reported memory = { 0 };
	int32_t first;
	void *at;
	pid_t pid;

	if (!hung_file_mount(dir))
		return;
	pid = start_mapper(&at);
	ask_memory(pid, at, &memory);
	WAIT_FOR(helper_pid(look) != 0);
	first = helper_pid(look);
	WAIT_FOR(memory.n == 1);
	WAIT_FOR(kill(first, 0) < 0);
	hung_file_end();
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
	setenv("CK_DEFAULT_TIMEOUT", "60", 0);
	return suite_run("lm look", set_up, clean_up);
}
