/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "tests/suite.h"
#include "tools/libomis/omis.h"
#include "tools/selftest/selftest.h"
#include "tools/selftest/selftest_keeper.h"

#include <fcntl.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(every_service_that_is_done_has_a_row)
{
	Omis_service_info s;

	for (unsigned i = 0; omis_service_info(i, &s); i++)
		if (!str_eq(s.state, "unsupported"))
			ck_assert_msg(selftest_row_find(s.name) != NULL,
				      "%s is done: give it a row in tools/selftest/selftest_rows.c",
				      s.name);
}

static bool is_service(const char *name)
{
	Omis_service_info s;

	for (unsigned i = 0; omis_service_info(i, &s); i++)
		if (str_eq(s.name, name))
			return true;
	return false;
}

TEST(a_row_is_of_a_service_and_the_only_one)
{
	for (const struct selftest_row *r = selftest_rows; r->service; r++) {
		ck_assert_msg(is_service(r->service), "%s is not a service", r->service);
		ck_assert_msg(selftest_row_find(r->service) == r, "%s has two rows", r->service);
	}
}

static bool names_service(const struct selftest_row *r)
{
	for (size_t i = 0; r->step[i].kind != STEP_END; i++)
		if (strstr(r->step[i].text, r->service))
			return true;
	return r->step[0].kind == STEP_ELSEWHERE;
}

static bool is_pattern(enum selftest_step_kind k)
{
	return k == STEP_MATCH || k == STEP_AWAIT || k == STEP_OUTPUT || k == STEP_NOTIFIED ||
	       k == STEP_NOT_NOTIFIED;
}

static bool checks_something(const struct selftest_row *r)
{
	for (size_t i = 0; r->step[i].kind != STEP_END; i++)
		if ((is_pattern(r->step[i].kind) && r->step[i].kind != STEP_NOT_NOTIFIED) ||
		    r->step[i].kind == STEP_PROC_FILE || r->step[i].kind == STEP_QUIET ||
		    r->step[i].kind == STEP_ELSEWHERE)
			return true;
	return false;
}

TEST(a_row_uses_its_service_and_checks_the_result)
{
	for (const struct selftest_row *r = selftest_rows; r->service; r++) {
		ck_assert_msg(names_service(r), "%s is not used", r->service);
		ck_assert_msg(checks_something(r), "%s: nothing is checked", r->service);
	}
}

TEST(patterns_can_be_read)
{
	regex_t re;

	for (const struct selftest_row *r = selftest_rows; r->service; r++)
		for (size_t i = 0; r->step[i].kind != STEP_END; i++) {
			const char *p = r->step[i].text;

			if (!is_pattern(r->step[i].kind) || strchr(p, '{'))
				continue;
			ck_assert_msg(regcomp(&re, p, REG_EXTENDED) == 0, "%s: %s", r->service, p);
			regfree(&re);
		}
}

TEST(words_are_expanded_and_escaped_in_patterns)
{
	static struct selftest_words empty;
	struct selftest_words *w = &empty;
	struct buf out = BUF_INIT(256);
	struct err e = { 0 };

	ck_assert(selftest_word_set(w, "proc", "p_1") && selftest_word_set(w, "dir", "/a.b"));
	ck_assert_int_eq(selftest_expand(w, ":f([{proc}],\"{dir}\") {2}", false, &out, &e), 0);
	ck_assert_str_eq(buf_str(&out), ":f([p_1],\"/a.b\") {2}");
	buf_clear(&out);
	ck_assert_int_eq(selftest_expand(w, "^{dir}( x){2}$", true, &out, &e), 0);
	ck_assert_str_eq(buf_str(&out), "^/a\\.b( x){2}$");
	ck_assert_int_eq(selftest_expand(w, "{nothing}", false, &out, &e), -ERR_NOTFOUND);
	ck_assert(selftest_word_set(w, "proc", "p_2"));
	ck_assert_str_eq(selftest_word(w, "proc", 4), "p_2");
	ck_assert_uint_eq(w->n, 2);
	buf_done(&out);
}

TEST(words_beyond_the_limit_are_refused)
{
	static struct selftest_words empty;
	struct selftest_words *w = &empty;
	char name[16];

	for (int i = 0; i < SELFTEST_WORDS_MAX; i++) {
		snprintf(name, sizeof(name), "w%d", i);
		ck_assert(selftest_word_set(w, name, "x"));
	}
	ck_assert(!selftest_word_set(w, "one-more", "x"));
	ck_assert(selftest_word_set(w, "w0", "y"));
}

/* A process of the folder, by its environment. */
static pid_t inhabitant(const char *dir)
{
	char state[FILE_PATH_BYTES + 64], *env[] = { state, NULL }, name[] = "sleep",
					  time[] = "600";
	char *argv[] = { name, time, NULL };
	pid_t pid;

	snprintf(state, sizeof(state), "OMIG_STATE_DIR=%s/state", dir);
	pid = fork();
	if (pid == 0) {
		execve("/bin/sleep", argv, env);
		_exit(127);
	}
	return pid;
}

TEST(the_keeper_ends_processes_of_its_folder_and_removes_it)
{
	char dir[FILE_PATH_BYTES], file[FILE_PATH_BYTES + 64];
	struct err e = { 0 };
	pid_t keeper, pid;
	int fd, status;

	ck_assert_int_eq(selftest_keeper_start(dir, sizeof(dir), &fd, &keeper, &e), 0);
	snprintf(file, sizeof(file), "%s/state", dir);
	ck_assert_int_eq(mkdir(file, 0700), 0);
	snprintf(file, sizeof(file), "%s/state/file", dir);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	ck_assert(!selftest_keeper_has(dir, false));
	pid = inhabitant(dir);
	while (!selftest_keeper_has(dir, false))
		usleep(1000);
	selftest_keeper_end(fd, keeper);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(access(dir, F_OK), -1);
}

SUITE("selftest")
