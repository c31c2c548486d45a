/* SPDX-License-Identifier: Apache-2.0 */
/* Output of each call: its time, level and fields; the handles' properties; and the destination. */
#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tests/alloc_sweep.h"
#include "tests/unit/eventlog/netlogger/logged.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- time and level */

#define GIVEN_NS INT64_C(1000002000) /* 1 s and 2 us */

static char *s(const char *text)
{
	return logged_s(text);
}

/* Each way to write an event: with a level or without, with a time or without. */
static void write_all(NL_Handle *lp)
{
	NetLoggerWrite(lp, s("--"), NULL, s("A=1"));
	NetLoggerGTWrite(lp, 1, 2, s("t-"), NULL, s("A=1"));
	NetLoggerWriteLvl(lp, 3, s("-l"), NULL, s("A=1"));
	NetLoggerGTWriteLvl(lp, 1, 2, 3, s("tl"), NULL, s("A=1"));
	NetLoggerWrite_old(lp, s("--"), s("A=1"));
	NetLoggerGTWrite_old(lp, 1, 2, s("t-"), s("A=1"));
	NetLoggerWriteLvl_old(lp, 3, s("-l"), s("A=1"));
	NetLoggerFastWrite(lp, s("--"), s("A=1"));
	NetLoggerWriteString(lp, s("--"), NULL, s("A=1"));
	NetLoggerWriteStringLvl(lp, 3, s("-l"), NULL, s("A=1"));
	NetLoggerGTWriteString(lp, 1, 2, s("t-"), NULL, s("A=1"));
	NetLoggerGTWriteStringLvl(lp, 3, 1, 2, s("tl"), NULL, s("A=1"));
	NetLoggerWriteString_old(lp, s("--"), s("A=1"));
	NetLoggerWriteStringLvl_old(lp, 3, s("-l"), s("A=1"));
	NetLoggerGTWriteString_old(lp, 1, 2, s("t-"), s("A=1"));
	NetLoggerGTWriteStringLvl_old(lp, 3, 1, 2, s("tl"), s("A=1"));
	NL_write(lp, 3, "-l", "A=i", 1);
	NL_write_ts(lp, 1.000002, 3, "tl", "A=i", 1);
	NL_write_ts(lp, 1.000002, EV_NLEVELS - 1, "tmost", "A=i", 1);
	NL_write(lp, EV_NLEVELS, "-none", "A=i", 1);
}

TEST(each_call_has_its_time_and_level)
{
	nsec_t began = clock_wall();
	NL_Handle *lp = NetLoggerOpen(NULL, logged_url, 0);
	struct evfile *f;
	struct event ev;
	unsigned n = 0;

	write_all(lp);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_int_eq(evfile_open(logged_path, &f, NULL), 0);
	for (; evfile_next(f, &ev, NULL) == 1; n++) {
		const char *name = ev.type->name;
		unsigned level = str_eq(name + 1, "l")	    ? EV_WARN
				 : str_eq(name + 1, "most") ? EV_NLEVELS - 1
							    : EV_UNSAID;

		ck_assert_msg(ev.type->level == level, "event %u has level %u", n, ev.type->level);
		if (*name == 't')
			ck_assert_msg(ev.wall_ns == GIVEN_NS, "event %u: %lld", n,
				      (long long)ev.wall_ns);
		else
			ck_assert_msg(ev.wall_ns >= began - NSEC_PER_SEC &&
					      ev.wall_ns <= clock_wall() + NSEC_PER_SEC,
				      "event %u: %lld", n, (long long)ev.wall_ns);
	}
	ck_assert_uint_eq(n, 20);
	evfile_close(f);
}

TEST(times_far_away_are_refused)
{
	NL_log_T log = NL_open(logged_url);

	ck_assert_int_eq(NL_write_ts(log, 9e9, 3, "far", ""), -1);
	ck_assert_int_eq(NL_write_ts(log, -9e9, 3, "far", ""), -1);
	ck_assert_int_eq(NL_write_ts(log, strtod("nan", NULL), 3, "far", ""), -1);
	ck_assert_int_eq(NL_write_ts(log, -1.5, 3, "before", ""), 0);
	NL_close(log);
	ck_assert_str_eq(logged_lines(), "before:\n");
}

/* --- formats */

#define WRITE(...) ck_assert_int_eq(NetLoggerWrite(lp, s("E"), NULL, __VA_ARGS__), 1)
#define REFUSE(...) ck_assert_int_eq(NetLoggerWrite(lp, s("E"), NULL, __VA_ARGS__), -1)

TEST(each_conversion_and_size_is_taken)
{
	NL_Handle *lp = NetLoggerOpen(NULL, logged_url, 0);

	WRITE(s("A=%hd B=%hhd C=%zd D=%td E=%jd F=%Ld G=%qd"), 300, 5, (size_t)7, (ptrdiff_t)-8,
	      (intmax_t)-9, -10LL, -11LL);
	WRITE(s("A=%lu B=%llu C=%u D=%zu"), 1UL << 40, 1ULL << 41, 7u, (size_t)1 << 33);
	WRITE(s("A=%o B=%x C=%X D=%lx E=%#x"), 8u, 255u, 255u, 1UL << 32, 16u);
	WRITE(s("A=%e B=%g C=%a D=%F E=%Lf"), 1.5, 2.5, 0.25, 3.5, 4.5L);
	WRITE(s("A=%i B=%+05d C=%c D=%s E=%p"), -3, 4, 'x', (char *)NULL, (void *)255);
	WRITE(s("A=a%db B=%d%% C=\"%d %s\" D=\"7\" E=%d%d"), 1, 2, 3, "z", 4, 5);
	WRITE(s("\tA=1\n B=\"open"));
	WRITE(s("A=%0000000000000000000000000000d"), 6); /* 28 flags */
	REFUSE(s("A=%000000000000000000000000000000d"), 6);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_str_eq(logged_lines(), "E: A=300l B=5l C=7l D=-8l E=-9l F=-10l G=-11l\n"
					 "E: A=1099511627776l B=2199023255552l C=7l D=8589934592l\n"
					 "E: A='10' B='ff' C='FF' D='100000000' E='10'\n"
					 "E: A=1.5d B=2.5d C=0.25d D=3.5d E=4.5d\n"
					 "E: A=-3i B=4i C='x' D='(null)' E='0xff'\n"
					 "E: A='a1b' B='2%' C='3 z' D='7' E='45'\n"
					 "E: A=1i B='open'\n"
					 "E: A=6i\n");
}

TEST(an_invalid_name_with_a_value_is_refused)
{
	char name[NAME_MAX_BYTES + 3];
	NL_Handle *lp = NetLoggerOpen(NULL, logged_url, 0);

	REFUSE(s("A"));
	REFUSE(s("A B=1"));
	REFUSE(s("=1"));
	REFUSE(s("A%d=1"), 1);
	REFUSE(s("A=1 B=%w"));
	REFUSE(s("A=%"));
	memset(name, 'n', sizeof(name));
	memcpy(name + NAME_MAX_BYTES + 1, "=", 2);
	REFUSE(name);
	memcpy(name + NAME_MAX_BYTES, "=", 2);
	WRITE(name);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_uint_eq(strlen(logged_lines()), 4 + NAME_MAX_BYTES + 1 + 2);
}

TEST(a_message_has_a_limit_of_fields_and_bytes)
{
	struct buf b = BUF_INIT(1 << 17);
	NL_Handle *lp = NetLoggerOpen(NULL, logged_url, 0);
	char *text = malloc(65001);

	for (int i = 0; i < 255; i++)
		buf_printf(&b, "f%d=%d ", i, i);
	WRITE(s(buf_str(&b)));
	buf_puts(&b, "more=1");
	REFUSE(s(buf_str(&b)));
	memset(text, 'x', 65000);
	text[65000] = '\0';
	WRITE(s("A=%s"), text);
	REFUSE(s("A=%s B=%s"), text, text);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	buf_done(&b);
	free(text);
}

TEST(each_letter_has_its_kind)
{
	NL_log_T log = NL_open(logged_url);

	ck_assert_int_eq(NL_set_const(log, 2, "one=i two:s", 1, "2"), 0);
	ck_assert_int_eq(NL_set_const(log, 1, "three=d", 3.5), 0);
	ck_assert_int_eq(NL_set_const(log, 1, "four"), -1);
	ck_assert_int_eq(NL_write(log, 1, "E", " a=i\tb:l c=f\nd=d e=s f=s", -1, -2LL, 0.5, 1e300,
				  "text", (char *)NULL),
			 0);
	ck_assert_int_eq(NL_write(log, 1, "E", "a"), -1);
	ck_assert_int_eq(NL_write(log, 1, "E", "a="), -1);
	ck_assert_int_eq(NL_write(log, 1, "E", "a=x", 1), -1);
	ck_assert_int_eq(NL_write(log, 1, "E", "=i", 1), -1);
	ck_assert_int_eq(NL_write(log, 1, "E", NULL), 0);
	ck_assert_int_eq(NL_write(log, 1, NULL, ""), -1);
	NL_close(log);
	ck_assert_str_eq(logged_lines(),
			 "E: !one=1i !two='2' !three=3.5d a=-1i b=-2l c=0.5f d=1e+300d e='text' "
			 "f=''\n"
			 "E: !one=1i !two='2' !three=3.5d\n");
}

/* --- handles */

TEST(nothing_is_done_without_a_handle)
{
	ck_assert_int_eq(NL_write(NULL, 1, "E", ""), -1);
	ck_assert_int_eq(NL_write_ts(NULL, 1, 1, "E", ""), -1);
	ck_assert_int_eq(NL_set_const(NULL, 0, ""), -1);
	ck_assert_int_eq(NL_set_level(NULL, 1), -1);
	ck_assert_int_eq(NL_flush(NULL), -1);
	ck_assert_int_eq(NetLoggerFlush(NULL), -1);
	ck_assert_int_eq(NetLoggerSetTag(NULL, s("A=1")), -1);
	NetLoggerSetLevel(NULL, 1);
	NL_close(NULL);
	ck_assert_ptr_null(NL_open("/nonexistent/folder/x"));
}

static void stream_says(const char *name, const char *text, int32_t number)
{
	struct evfile *f;
	struct event ev;
	unsigned n = 0;

	ck_assert_int_eq(evfile_open(logged_path, &f, NULL), 0);
	ck_assert_int_eq(evfile_next(f, &ev, NULL), 1);
	ck_assert_ptr_nonnull(ev.stream_type);
	for (unsigned i = 0; i < ev.stream_type->nconst; i++) {
		const struct evconst *c = &ev.stream_type->constant[i];

		if (!str_eq(c->name, name))
			continue;
		n++;
		if (text)
			ck_assert_msg(c->value.n == strlen(text) &&
					      !memcmp(c->value.s, text, c->value.n),
				      "%s is %.*s", name, (int)c->value.n, c->value.s);
		else
			ck_assert_int_eq(c->value.i32, number);
	}
	ck_assert_uint_eq(n, 1);
	evfile_close(f);
}

TEST(a_stream_reports_which_program_it_is_of)
{
	char host[256] = "", pid[24];
	NL_Handle *lp = NetLoggerOpen(s("server"), logged_url, 0);

	gethostname(host, sizeof(host) - 1);
	snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	WRITE(s(""));
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	stream_says("HOST", host, 0);
	stream_says("PROG", "server", 0);
	stream_says("pid", NULL, (int32_t)getpid());
	lp = NetLoggerOpen(NULL, logged_url, 0);
	WRITE(s(""));
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	stream_says("PROG", pid, 0);
	lp = NL_open(logged_url);
	WRITE(s(""));
	NL_close(lp);
	stream_says("PROG", "test_calls", 0);
}

static off_t file_bytes(void)
{
	struct stat st;

	ck_assert_int_eq(stat(logged_path, &st), 0);
	return st.st_size;
}

TEST(a_write_is_in_the_file_after_a_flush)
{
	NL_Handle *lp = NetLoggerOpen(NULL, logged_url, 0);

	NL_flush_on = 1;
	WRITE(s("A=1"));
	ck_assert_str_eq(logged_lines(), "E: A=1i\n");
	NL_flush_on = 0;
	ck_assert_int_eq(NL_flush(lp), 0);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_int_gt(file_bytes(), 0);
}

TEST(a_log_that_takes_nothing_is_a_failure_each_time)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	NL_Handle *lp = NetLoggerOpenFd(s("p"), fd, 0);

	ck_assert_ptr_nonnull(lp);
	for (int i = 0; i < 2; i++) {
		WRITE(s("A=1"));
		ck_assert_int_eq(NetLoggerFlush(lp), -1);
	}
	NL_flush_on = 1;
	REFUSE(s("A=1"));
	NL_flush_on = 0;
	ck_assert_int_eq(NetLoggerClose(lp), -1);
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0); /* it is the caller's */
	close(fd);
}

/* Without memory a call fails, and the handle is as it was. */
TEST(memory_may_end_anywhere)
{
	NL_log_T log = NL_open(logged_url);

	alloc_sweep_arm(1);
	ck_assert_int_eq(NL_set_const(log, 1, "c=i", 1), -1);
	alloc_sweep_pause();
	ck_assert_int_eq(NL_set_const(log, 1, "c=i", 1), 0);
	NL_close(log);
	ALLOC_SWEEP (k) {
		int written = -1, closed = -1;

		log = NetLoggerOpen(NULL, logged_url, 0);
		if (log) {
			written = NetLoggerWrite(log, s("E"), NULL, s("A=%d"), 1);
			closed = NetLoggerClose(log);
		}
		alloc_sweep_pause();
		ck_assert(written == 1 || alloc_sweep_has_failed());
		ck_assert(!log || closed == 0 || alloc_sweep_has_failed());
	}
	ck_assert_str_eq(logged_lines(), "E: A=1i\n");
}

/* --- destinations */

static void put_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

TEST(a_file_is_made_emptied_or_kept)
{
	struct stat st;
	NL_Handle *lp;

	umask(0);
	NL_file_mode = 0640;
	lp = NL_open(logged_path);
	ck_assert_int_eq(NL_write(lp, 1, "A", ""), 0);
	NL_close(lp);
	ck_assert_int_eq(stat(logged_path, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0640);
	NL_file_append = 1;
	lp = NL_open(logged_path);
	ck_assert_int_eq(NL_write(lp, 1, "B", ""), 0);
	NL_close(lp);
	ck_assert_str_eq(logged_lines(), "A:\nB:\n");
	NL_file_append = 0;
	lp = NL_open(logged_path);
	ck_assert_int_eq(NL_write(lp, 1, "C", ""), 0);
	NL_close(lp);
	ck_assert_str_eq(logged_lines(), "C:\n");
}

TEST(a_file_sets_the_level)
{
	char cfg[80];
	NL_Handle *lp;

	snprintf(cfg, sizeof(cfg), "%s.cfg", logged_path);
	setenv("NL_CFG", cfg, 1);
	put_file(cfg, "2\n");
	lp = NL_open(logged_url);
	ck_assert_int_eq(NL_write(lp, 3, "Above", ""), 0);
	ck_assert_int_eq(NL_write(lp, 2, "Within", ""), 0);
	NL_close(lp);
	ck_assert_str_eq(logged_lines(), "Within:\n");
	put_file(cfg, "much\n");
	lp = NL_open(logged_url);
	ck_assert_int_eq(NL_write(lp, 8, "All", ""), 0);
	NL_close(lp);
	ck_assert_str_eq(logged_lines(), "All:\n");
	unlink(cfg);
	lp = NL_open(logged_url);
	ck_assert_int_eq(NL_write(lp, 8, "All", ""), 0);
	NL_close(lp);
	unsetenv("NL_CFG");
}

TEST(the_environment_has_an_order)
{
	NL_Handle *lp;

	ck_assert_ptr_null(NetLoggerOpen(s("p"), NULL, 0));
	ck_assert_ptr_null(NL_open(NULL));
	setenv("NETLOGGER_DEST", logged_url, 1);
	lp = NL_open(NULL);
	ck_assert_ptr_nonnull(lp);
	NL_close(lp);
	setenv("NL_DEST", "/nonexistent/x", 1);
	ck_assert_ptr_null(NL_open(NULL));
	setenv("NETLOGGER_DEST", "/nonexistent/x", 1);
	setenv("NL_DEST", logged_url, 1);
	lp = NL_open(NULL);
	ck_assert_ptr_nonnull(lp);
	NL_close(lp);
	lp = NetLoggerOpen(s("p"), logged_url, NL_MEM);
	ck_assert_ptr_nonnull(lp);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
	ck_assert_ptr_null(NetLoggerOpen(s("p"), logged_url, NL_ENV));
	unsetenv("NETLOGGER_DEST");
	lp = NetLoggerOpen(s("p"), logged_url, NL_ENV);
	ck_assert_ptr_nonnull(lp);
	ck_assert_int_eq(NetLoggerClose(lp), 0);
}

TEST(netlogger_on_takes_each_word_for_on_or_off)
{
	static const struct {
		const char *word;
		int is_on;
	} words[] = { { "1", 1 },   { "on", 1 }, { "TRUE", 1 }, { "Yes", 1 },
		      { "off", 0 }, { "", 0 },	 { "0", 0 },	{ "yes!", 0 } };

	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	for (unsigned i = 0; i < ARRAY_LEN(words); i++) {
		NL_Handle *lp;

		setenv("NETLOGGER_ON", words[i].word, 1);
		lp = NetLoggerOpenFd(NULL, fd, 0);
		ck_assert_msg(NetLoggerWrite(lp, s("E"), NULL, s("")) == words[i].is_on, "%s",
			      words[i].word);
		ck_assert_int_eq(NetLoggerClose(lp), 0);
	}
	close(fd);
}

/* Runs fn in a child whose outputs are the file. */
static int in_child(int (*fn)(void))
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		int fd = open(logged_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		close(fd);
		_exit(fn());
	}
	ck_assert(waitpid(child, &status, 0) == child);
	return status;
}

static int write_to_outputs(void)
{
	NL_log_T out = NL_open("-"), err = NL_open("&");

	if (!out || !err || NL_write(out, 1, "Out", ""))
		return 1;
	NL_close(out);
	if (NL_write(err, 1, "Err", ""))
		return 2;
	NL_close(err);
	return fcntl(STDOUT_FILENO, F_GETFD) < 0 || fcntl(STDERR_FILENO, F_GETFD) < 0 ? 3 : 0;
}

TEST(standard_outputs_are_written_and_stay_open)
{
	ck_assert_int_eq(in_child(write_to_outputs), 0);
	ck_assert_str_eq(logged_lines(), "Out:\nErr:\n");
}

static int write_and_exit(void)
{
	NL_log_T log = NL_open(logged_path);

	NL_write(log, 1, "Last", "");
	exit(0);
}

TEST(exit_writes_buffered_events)
{
	ck_assert_int_eq(in_child(write_and_exit), 0);
	ck_assert_str_eq(logged_lines(), "Last:\n");
}

/* The child has its own helper, and ends in a way that writes nothing. */
TEST(an_idle_child_is_flushed_too)
{
	NL_Handle *lp = NetLoggerOpen(s("p"), logged_url, 0);
	int status = -1;
	pid_t child;

	ck_assert_ptr_nonnull(lp);
	child = fork();
	if (!child) {
		NetLoggerWrite(lp, s("Child"), NULL, s("A=3"));
		/* The head of the file is there before the event is. */
		for (int i = 0; i < 2000 && (!file_bytes() || !*logged_lines()); i++)
			usleep(10000);
		_exit(!*logged_lines());
	}
	ck_assert(waitpid(child, &status, 0) == child);
	ck_assert_int_eq(status, 0);
	ck_assert_str_eq(logged_lines(), "Child: A=3i\n");
	ck_assert_int_eq(NetLoggerClose(lp), 0);
}

SUITE_WITH("calls", logged_set_up, logged_clean_up)
