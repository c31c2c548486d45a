/* SPDX-License-Identifier: Apache-2.0 */
/* Trigger files of handles: what is on, where it goes, and what changes later. */
#include "common/base/clock.h"
#include "tests/unit/eventlog/netlogger/logged.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char trigger[80], other[80];
static NL_Handle *lp;

static void put(const char *text)
{
	char part[96];
	FILE *f;

	snprintf(part, sizeof(part), "%s.new", trigger);
	f = fopen(part, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(rename(part, trigger), 0);
}

static void set_up(void)
{
	logged_set_up();
	snprintf(trigger, sizeof(trigger), "%s.trigger", logged_path);
	snprintf(other, sizeof(other), "%s.other", logged_path);
	unlink(other);
	lp = NetLoggerOpen(logged_s("p"), logged_url, 0);
	ck_assert_ptr_nonnull(lp);
}

static void clean_up(void)
{
	unlink(trigger);
	unlink(other);
	logged_clean_up();
}

static int writes(const char *event, int n)
{
	return NetLoggerWriteLvl(lp, NL_LVL_INFO, logged_s(event), NULL, logged_s("N=%d"), n);
}

static const char *other_lines(void)
{
	char own[sizeof(logged_path)];
	const char *text;

	snprintf(own, sizeof(own), "%s", logged_path);
	snprintf(logged_path, sizeof(logged_path), "%.63s", other);
	text = logged_lines();
	snprintf(logged_path, sizeof(logged_path), "%s", own);
	return text;
}

TEST(only_requested_events_are_written)
{
	put("io.* level=info where N > 5\nrpc level=error\n");
	ck_assert_int_eq(NetLoggerSetTrigger(lp, trigger, 0), 0);
	ck_assert_int_eq(writes("io.read", 5), 0);
	ck_assert_int_eq(writes("io.read", 6), 1);
	ck_assert_int_eq(writes("rpc", 7), 0);
	ck_assert_int_eq(writes("none", 7), 0);
	ck_assert_int_eq(NetLoggerSetTrigger(lp, NULL, 0), 0);
	ck_assert_int_eq(writes("none", 8), 1);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_str_eq(logged_lines(), "io.read: N=6i\nnone: N=8i\n");
}

TEST(without_the_file_nothing_is_on)
{
	ck_assert_int_eq(NetLoggerSetTrigger(lp, trigger, 0), 0);
	ck_assert_int_eq(writes("io.read", 1), 0);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_str_eq(logged_lines(), "");
}

TEST(an_entry_has_its_own_destination)
{
	char text[300];

	snprintf(text, sizeof(text), "io.* to=file://%s\nrpc\nbad to=x-none://host\n", other);
	put(text);
	ck_assert_int_eq(NetLoggerSetTrigger(lp, trigger, 0), 0);
	ck_assert_int_eq(writes("io.read", 1), 1);
	ck_assert_int_eq(writes("rpc", 2), 1);
	ck_assert_int_eq(writes("io.write", 3), 1);
	ck_assert_int_eq(writes("bad", 4), -1);
	ck_assert_int_eq(writes("bad", 5), -1);
	ck_assert_int_eq(NetLoggerFlush(lp), 0);
	ck_assert_str_eq(other_lines(), "io.read: N=1i\nio.write: N=3i\n");
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_str_eq(logged_lines(), "rpc: N=2i\n");
}

/* The helper thread reads the file each second. */
static void until_written(const char *event)
{
	nsec_t end = clock_mono() + 60 * NSEC_PER_SEC;

	while (writes(event, 1) != 1 && clock_mono() < end)
		nanosleep(&(struct timespec){ .tv_nsec = NSEC_PER_MSEC }, NULL);
	ck_assert_int_lt(clock_mono(), end);
}

TEST(a_changed_file_switches_a_running_program)
{
	char text[300];

	ck_assert_int_eq(NetLoggerSetTrigger(lp, trigger, 0), 0);
	ck_assert_int_eq(writes("io.read", 1), 0);
	put("io.read\n");
	until_written("io.read");
	snprintf(text, sizeof(text), "rpc to=%s\n", other);
	put(text);
	until_written("rpc");
	ck_assert_int_eq(writes("io.read", 2), 0);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_str_eq(logged_lines(), "io.read: N=1i\n");
	ck_assert_str_eq(other_lines(), "rpc: N=1i\n");
}

TEST(a_child_writes_streams_of_its_own_to_each_destination)
{
	char text[300];
	int status;
	pid_t pid;

	snprintf(text, sizeof(text), "all to=%s\n", other);
	put(text);
	ck_assert_int_eq(NetLoggerSetTrigger(lp, trigger, 0), 0);
	ck_assert_int_eq(writes("a", 1), 1);
	pid = fork();
	if (!pid) {
		writes("b", 2);
		_exit(NetLoggerClose(lp) ? 1 : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_str_eq(other_lines(), "b: N=2i\na: N=1i\n");
}

TEST(intervals_have_limits)
{
	errno = 0;
	ck_assert_int_eq(NetLoggerSetTrigger(lp, trigger, -1), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(NetLoggerSetTrigger(lp, trigger, 86401), -1);
	ck_assert_int_eq(NetLoggerSetTrigger(NULL, trigger, 0), -1);
	ck_assert_int_eq(NetLoggerSetTrigger(lp, trigger, 86400), 0);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
}

SUITE_WITH("nltrigger", set_up, clean_up)
