/* SPDX-License-Identifier: Apache-2.0 */
/* Programs with NetLogger's calls: their output is read back, with the kinds of their formats. */
#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "tests/unit/eventlog/netlogger/logged.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

int old_api_writes(NL_Handle *lp);

TEST(formats_of_printf_say_the_kinds)
{
	NL_Handle *lp = NetLoggerOpen(logged_s("server"), logged_url, 0);

	ck_assert_ptr_nonnull(lp);
	ck_assert_int_eq(
		NetLoggerWrite(
			lp, logged_s("Kinds"), logged_s("UNITS=bytes DISK=%d"),
			logged_s(
				"I=%d L=%ld LL=%lld U=%u D=%f E=%.2e S=%s Q=\"%s\" X=0x%x C=%c P=100%% M=%d/%d"),
			7, -1, 1L << 40, -5LL, 4000000000u, 0.1, 1e300, "two words", "in quotes",
			255, 'c', 1, 2),
		1);
	ck_assert_int_eq(
		NetLoggerWrite(lp, logged_s("Fixed"), NULL, logged_s("A=5 B=05 C=text D= E=2.5")),
		1);
	ck_assert_int_eq(NetLoggerWrite(lp, logged_s("None"), logged_s(""), logged_s("")), 1);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_str_eq(
		logged_lines(),
		"Kinds: !UNITS='bytes' !DISK=7i I=-1i L=1099511627776l LL=-5l U=4000000000l D=0.1d E=1e+300d "
		"S='two words' Q='in quotes' X='0xff' C='c' P='100%' M='1/2'\n"
		"Fixed: A=5i B='05' C='text' D='' E=2.5d\n"
		"None:\n");
}

TEST(a_string_ends_at_its_precision)
{
	NL_Handle *lp = NetLoggerOpen(logged_s("p"), logged_url, 0);
	char *eight = malloc(8); /* without a terminating 0 */

	ck_assert_ptr_nonnull(eight);
	memcpy(eight, "abcdefgh", 8);
	ck_assert_int_eq(NetLoggerWrite(lp, logged_s("E"), NULL,
					logged_s("A=%.8s B=%-10.3s C=%.s D=%.99s"), eight, eight,
					eight, "all"),
			 1);
	ck_assert_int_eq(NetLoggerWrite(lp, logged_s("E"), NULL, logged_s("A=%ls"), L"wide"), -1);
	ck_assert_int_eq(NetLoggerWrite(lp, logged_s("E"), NULL, logged_s("A=%lc"), L'w'), -1);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_str_eq(logged_lines(), "E: A='abcdefgh' B='abc' C='' D='all'\n");
	free(eight);
}

/* Each returns whether its message is written: 1; 0 above the level. */
TEST(each_way_to_write_returns_if_it_has_written)
{
	NL_Handle *lp = NetLoggerOpen(NULL, logged_url, 0);

	NetLoggerSetLevel(lp, 4);
	for (int level = 4; level <= 5; level++) {
		int is_written = level == 4;

		ck_assert_int_eq(
			NetLoggerWriteLvl(lp, level, logged_s("E"), NULL, logged_s("A=%d"), 1),
			is_written);
		ck_assert_int_eq(NetLoggerGTWriteLvl(lp, 1, 2, level, logged_s("E"), NULL,
						     logged_s("A=%d"), 1),
				 is_written);
		ck_assert_int_eq(
			NetLoggerWriteLvl_old(lp, level, logged_s("E"), logged_s("A=%d"), 1),
			is_written);
		ck_assert_int_eq(NetLoggerWriteStringLvl(lp, level, logged_s("E"), logged_s("C=1"),
							 logged_s("A=1")),
				 is_written);
		ck_assert_int_eq(NetLoggerGTWriteStringLvl(lp, level, 1, 2, logged_s("E"),
							   logged_s("C=1"), logged_s("A=1")),
				 is_written);
		ck_assert_int_eq(
			NetLoggerWriteStringLvl_old(lp, level, logged_s("E"), logged_s("A=1")),
			is_written);
		ck_assert_int_eq(NetLoggerGTWriteStringLvl_old(lp, level, 1, 2, logged_s("E"),
							       logged_s("A=1")),
				 is_written);
	}
	ck_assert_int_eq(NetLoggerWrite_old(lp, logged_s("E"), logged_s("A=%d"), 1), 1);
	ck_assert_int_eq(NetLoggerGTWrite_old(lp, 1, 2, logged_s("E"), logged_s("A=%d"), 1), 1);
	ck_assert_int_eq(NetLoggerFastWrite(lp, logged_s("E"), logged_s("A=%d"), 1), 1);
	ck_assert_int_eq(NetLoggerWriteString(lp, logged_s("E"), logged_s("C=1"), logged_s("A=1")),
			 1);
	ck_assert_int_eq(
		NetLoggerGTWriteString(lp, 1, 2, logged_s("E"), logged_s("C=1"), logged_s("A=1")),
		1);
	ck_assert_int_eq(NetLoggerWriteString_old(lp, logged_s("E"), logged_s("A=1")), 1);
	ck_assert_int_eq(NetLoggerGTWriteString_old(lp, 1, 2, logged_s("E"), logged_s("A=1")), 1);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
}

TEST(levels_tags_and_times)
{
	NL_Handle *lp = NetLoggerOpen(NULL, logged_url, 0);
	struct evfile *f;
	struct event ev;
	struct err e = { 0 };

	NetLoggerSetLevel(lp, 4);
	ck_assert_int_eq(NetLoggerGTWriteLvl(lp, 1017436389, 443568, 4, logged_s("In"), NULL,
					     logged_s("A=%d"), 1),
			 1);
	ck_assert_int_eq(NetLoggerWriteLvl(lp, 5, logged_s("Out"), NULL, logged_s("A=%d"), 1), 0);
	ck_assert_int_eq(NetLoggerSetTag(lp, logged_s("TAG=mine")), 0);
	ck_assert_int_eq(NetLoggerSetGlobalTag(logged_s("RUN=7")), 0);
	ck_assert_int_eq(NetLoggerGTWriteString(lp, 1, 2, logged_s("Tagged"), logged_s("C=1"),
						logged_s("V=2")),
			 1);
	ck_assert_int_eq(NetLoggerFlush(lp), 0);
	ck_assert_str_eq(logged_lines(), "In: A=1i\nTagged: !TAG='mine' !RUN=7i !C=1i V=2i\n");
	ck_assert_int_eq(evfile_open(logged_path, &f, &e), 0);
	ck_assert_int_eq(evfile_next(f, &ev, &e), 1);
	ck_assert_int_eq(ev.wall_ns, INT64_C(1017436389443568000));
	ck_assert_uint_eq(ev.type->level, EV_INFO);
	evfile_close(f);
	NetLoggerSetLevel(lp, 0);
	ck_assert_int_eq(NetLoggerWrite(lp, logged_s("Off"), NULL, logged_s("A=1")), 0);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	NetLoggerSetGlobalTag(NULL);
}

TEST(the_oldest_calls_work_too)
{
	NL_Handle *lp = NetLoggerOpen(logged_s("dpss_mast"), logged_url, 0);

	ck_assert_int_eq(old_api_writes(lp), 5);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_str_eq(
		logged_lines(),
		"Old: DPSS.SES=1i DPSS.BID='15.98'\nOldGT: A=2i\nOldString: A=3i B='text'\nOldLvl: A=4i\n"
		"OldGTStringLvl: A=5i\n");
}

TEST(letters_of_the_later_calls)
{
	NL_log_T log = NL_open(logged_url);

	ck_assert_ptr_nonnull(log);
	ck_assert_int_eq(NL_set_const(log, 0, "HOST:s", "node7"), 0);
	ck_assert_int_eq(NL_write(log, NL_LVL_INFO, "program.start", "i=i l=l d=d s=s old:s", 1,
				  2LL, 0.5, "text", "too"),
			 0);
	ck_assert_int_eq(NL_write_ts(log, 1331657468.5, NL_LVL_DEBUG, "ts", ""), 0);
	NL_set_level(log, NL_LVL_ERROR);
	ck_assert_int_eq(NL_write(log, NL_LVL_INFO, "chatter", "i=i", 1), 0);
	ck_assert_int_eq(NL_write(log, NL_LVL_FATAL, "bad", "i=z", 1), -1);
	NL_close(log);
	ck_assert_str_eq(
		logged_lines(),
		"program.start: !HOST='node7' i=1i l=2l d=0.5d s='text' old='too'\nts: !HOST='node7'\n");
}

TEST(the_environment_switches_and_directs)
{
	NL_Handle *lp;

	setenv("NETLOGGER_DEST", logged_url, 1);
	setenv("NETLOGGER_ON", "no", 1);
	lp = NetLoggerOpen(logged_s("p"), logged_s("/nonexistent/x"), NL_ENV);
	ck_assert_ptr_nonnull(lp);
	ck_assert_int_eq(NetLoggerWrite(lp, logged_s("E"), NULL, logged_s("A=1")), 0);
	NetLoggerClose(lp);
	setenv("NETLOGGER_ON", "TRUE", 1);
	lp = NetLoggerOpen(logged_s("p"), NULL, NL_MEM);
	ck_assert_int_eq(NetLoggerWrite(lp, logged_s("E"), NULL, logged_s("A=1")), 1);
	NetLoggerClose(lp);
	lp = NetLoggerOpen(logged_s("p"), NULL, NL_APPEND);
	ck_assert_int_eq(NetLoggerWrite(lp, logged_s("F"), NULL, logged_s("A=2")), 1);
	NetLoggerClose(lp);
	ck_assert_str_eq(logged_lines(), "E: A=1i\nF: A=2i\n");
	ck_assert_ptr_null(NetLoggerOpen(logged_s("p"), logged_s("/nonexistent/x"), 0));
	ck_assert_ptr_null(NetLoggerOpen(logged_s("p"), logged_s("http://nowhere"), 0));
	ck_assert_int_eq(errno, EPROTONOSUPPORT);
	ck_assert_ptr_null(NetLoggerOpen(logged_s("p"), logged_s("omig-test-host"), 0));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_ne(access("omig-test-host", F_OK), 0);
	ck_assert_int_eq(NetLoggerWrite(NULL, logged_s("E"), NULL, logged_s("A=1")), -1);
	ck_assert_int_eq(NetLoggerClose(NULL), -1);
}

TEST(an_idle_program_and_its_child_are_flushed)
{
	NL_Handle *lp = NetLoggerOpen(logged_s("p"), logged_url, 0);
	pid_t child;
	int status;

	ck_assert_int_eq(NetLoggerWrite(lp, logged_s("Idle"), NULL, logged_s("A=1")), 1);
	for (int i = 0; i < 2000 && strlen(logged_lines()) == 0; i++)
		usleep(10000);
	ck_assert_str_eq(logged_lines(), "Idle: A=1i\n");
	ck_assert_int_eq(NetLoggerWrite(lp, logged_s("Parent"), NULL, logged_s("A=2")), 1);
	child = fork();
	if (!child) {
		NetLoggerWrite(lp, logged_s("Child"), NULL, logged_s("A=3"));
		_exit(NetLoggerClose(lp));
	}
	ck_assert(waitpid(child, &status, 0) == child && status == 0);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_str_eq(logged_lines(), "Idle: A=1i\nChild: A=3i\nParent: A=2i\n");
}

/* Invalid formats, and messages that are too long, are refused and counted. */
TEST(unwritable_events_are_counted_as_dropped)
{
	static char text[70000];
	NL_Handle *lp = NetLoggerOpen(logged_s("p"), logged_url, 0);
	struct evfile *f;
	struct event ev;
	struct err e = { 0 };

	memset(text, 'x', sizeof(text) - 1);
	ck_assert_int_eq(NetLoggerWrite(lp, logged_s("E"), NULL, logged_s("%s"), "A=1"), -1);
	ck_assert_int_eq(NetLoggerWrite(lp, logged_s("E"), NULL, logged_s("A=%s"), text), -1);
	ck_assert_int_eq(NetLoggerWrite(lp, logged_s("E"), NULL, logged_s("A=%n")), -1);
	ck_assert_int_eq(NetLoggerWrite(lp, logged_s("E"), NULL, logged_s("A=%*d"), 5, 5), -1);
	ck_assert_int_eq(NetLoggerWrite(lp, logged_s(""), NULL, logged_s("A=1")), -1);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_int_eq(evfile_open(logged_path, &f, &e), 0);
	ck_assert_int_eq(evfile_next(f, &ev, &e), 0);
	ck_assert_uint_eq(evfile_report(f)->dropped, 5);
	evfile_close(f);
}

/* --- what the program must not notice */

#define HANGS_S 250 /* then the test is killed: below the bound that a sanitizer's build has */

static int bytes_in(int fd)
{
	int n = 0;

	ioctl(fd, FIONREAD, &n);
	return n;
}

static void *flush(void *lp)
{
	NetLoggerFlush(lp);
	return NULL;
}

static NL_Handle *write_much(int fd) /* 8 KB */
{
	NL_Handle *lp = NetLoggerOpenFd(logged_s("p"), fd, 0);

	ck_assert_ptr_nonnull(lp);
	for (int i = 0; i < 400; i++)
		ck_assert_int_eq(NetLoggerWrite(lp, logged_s("Much"), NULL, logged_s("A=%ld"), 1L),
				 1);
	return lp;
}

/* The pipe is full and has no reader: a flush waits, and is cancelled there. */
TEST(a_cancelled_thread_leaves_no_lock_behind)
{
	int end[2];
	pthread_t t;
	char b[4096];
	NL_Handle *lp;

	alarm(HANGS_S);
	ck_assert_int_eq(pipe2(end, O_CLOEXEC), 0);
	ck_assert_int_eq(fcntl(end[0], F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_ge(fcntl(end[1], F_SETPIPE_SZ, 4096), 4096);
	lp = write_much(end[1]);
	ck_assert_int_eq(pthread_create(&t, NULL, flush, lp), 0);
	while (bytes_in(end[0]) < 4000)
		usleep(1000);
	ck_assert_int_eq(pthread_cancel(t), 0);
	while (pthread_tryjoin_np(t, NULL))
		if (read(end[0], b, sizeof(b)) < 0)
			usleep(1000);
	while (read(end[0], b, sizeof(b)) > 0)
		;
	ck_assert_int_eq(NetLoggerFlush(lp), 0);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
}

TEST(a_log_that_nothing_reads_changes_no_exit_status)
{
	const struct sigaction dfl = { .sa_handler = SIG_DFL };
	int end[2], status = -1;
	pid_t child = fork();

	if (!child) {
		if (pipe2(end, O_CLOEXEC) || sigaction(SIGPIPE, &dfl, NULL))
			_exit(1);
		close(end[0]);
		exit(NetLoggerClose(write_much(end[1])) == -1 ? 0 : 2);
	}
	ck_assert(waitpid(child, &status, 0) == child);
	ck_assert_int_eq(status, 0);
}

SUITE_WITH("netlogger", logged_set_up, logged_clean_up)
