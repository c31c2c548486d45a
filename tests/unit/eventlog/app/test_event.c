/* SPDX-License-Identifier: Apache-2.0 */
/* A program writes events. The file contains all of them, or they were counted as lost. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "eventlog/app/event.h"
#include "eventlog/evfile.h"
#include "tests/suite.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

OMIG_EVENT(numbered, "numbered", OMIG_INFO, (int32, n), (float, f))
OMIG_EVENT(all_kinds, "all.kinds", OMIG_DEBUG, (int32, i), (int64, l), (float, f), (double, d),
	   (string, s))
OMIG_EVENT(lengths, "lengths", OMIG_INFO, (int32, n), (string, s))
OMIG_EVENT0(tick, "tick", OMIG_INFO)
OMIG_EVENT(twelve, "twelve", OMIG_TRACE, (int32, a), (int32, b), (int32, c), (int32, d), (int32, e),
	   (int32, f), (int32, g), (int32, h), (int32, i), (int32, j), (int32, k), (string, last))

static char path[64], trigger[64];

static void set_up(void)
{
	snprintf(path, sizeof(path), "/tmp/omig-event-%ld.olog", (long)getpid());
	snprintf(trigger, sizeof(trigger), "/tmp/omig-event-%ld.trigger", (long)getpid());
}

static void clean_up(void)
{
	unlink(path);
	unlink(trigger);
}

/* --- contents of the file */

struct found {
	uint64_t events, streams_ended;
	int64_t sum; /* of the first fields */
	nsec_t first, last;
	bool goes_back;
	char names[256];
	struct evread_report report;
};

static struct found read_log(void (*see)(const struct event *ev))
{
	struct found f = { 0 };
	struct evfile *file;
	struct event ev;
	struct err e = { 0 };
	uint64_t stream = 0;

	ck_assert_msg(!evfile_open(path, &file, &e), "%s", e.text);
	while (evfile_next(file, &ev, &e) == 1) {
		if (see)
			see(&ev);
		f.sum += ev.type->nfield && ev.value[0].kind == EV_INT32 ? ev.value[0].i32 : 0;
		f.goes_back |= ev.stream == stream && ev.wall_ns < f.last;
		f.first = f.events++ ? f.first : ev.wall_ns;
		f.last = ev.wall_ns;
		stream = ev.stream;
		if (!strstr(f.names, ev.type->name))
			strncat(f.names, ev.type->name, sizeof(f.names) - strlen(f.names) - 2);
	}
	f.report = *evfile_report(file);
	evfile_close(file);
	return f;
}

static int64_t evattr(const struct event *ev, const char *name)
{
	for (unsigned i = 0; i < ev->stream_type->nconst; i++)
		if (str_eq(ev->stream_type->constant[i].name, name))
			return ev->stream_type->constant[i].value.i32;
	return -1;
}

static void see_kinds(const struct event *ev)
{
	if (str_eq(ev->type->name, "all.kinds")) {
		ck_assert_int_eq(ev->value[0].i32, INT32_MIN);
		ck_assert_int_eq(ev->value[1].i64, INT64_MAX);
		ck_assert(ev->value[2].f32 == 0.1f && ev->value[3].f64 == -0.1);
		ck_assert(ev->value[4].n == 5 && !memcmp(ev->value[4].s, "words", 5));
		ck_assert_uint_eq(ev->type->level, EV_DEBUG);
	}
	if (str_eq(ev->type->name, "twelve"))
		ck_assert(ev->value[10].i32 == 11 && ev->value[11].n == 0);
	ck_assert_int_eq(evattr(ev, "pid"), getpid());
	ck_assert_int_eq(evattr(ev, "tid"), gettid());
}

TEST(written_events_are_in_the_file)
{
	nsec_t before = clock_wall();
	struct found f;

	ck_assert(!omig_event_is_on(numbered));
	omig_event(numbered, 1, 1.0f);
	ck_assert_int_eq(omig_event_open(path, 0), 0);
	ck_assert_int_eq(omig_event_open(path, 0), -1);
	ck_assert_int_eq(errno, EBUSY);
	omig_event(all_kinds, INT32_MIN, INT64_MAX, 0.1f, -0.1, "words");
	omig_event0(tick);
	omig_event(twelve, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "");
	omig_event(twelve, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, NULL);
	ck_assert_int_eq(omig_event_close(), 0);
	omig_event0(tick);
	f = read_log(see_kinds);
	ck_assert(evread_is_clean(&f.report));
	ck_assert_uint_eq(f.events, 4);
	ck_assert(!f.goes_back);
	ck_assert_msg(f.first >= before - NSEC_PER_MSEC && f.last <= clock_wall() + NSEC_PER_MSEC,
		      "times are not now");
}

#define THREADS 4
#define EACH 300000

static void *write_many(void *arg)
{
	for (int i = 1; i <= EACH; i++)
		omig_event(numbered, i, 0.5f);
	return NULL;
}

static struct found threads_write(unsigned flags)
{
	pthread_t t[THREADS];

	ck_assert_int_eq(omig_event_open(path, flags), 0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, write_many, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	ck_assert_int_eq(omig_event_flush(), 0);
	return read_log(NULL);
}

TEST(a_writer_that_may_wait_loses_nothing)
{
	struct found f = threads_write(OMIG_EVENT_WAIT);

	ck_assert_uint_eq(omig_event_lost(), 0);
	ck_assert_uint_eq(f.events, THREADS * EACH);
	ck_assert_int_eq(f.sum, (int64_t)THREADS * EACH * (EACH + 1) / 2);
	ck_assert(evread_is_clean(&f.report) && !f.report.dropped);
	ck_assert_int_eq(omig_event_close(), 0);
}

TEST(losses_are_counted_to_the_last_event)
{
	struct found f = threads_write(0);

	ck_assert_uint_eq(f.events + omig_event_lost(), THREADS * EACH);
	ck_assert_int_eq(omig_event_close(), 0);
	f = read_log(NULL);
	ck_assert_uint_eq(f.events + f.report.dropped, THREADS * EACH);
	ck_assert(evread_is_clean(&f.report));
}

static _Atomic bool has_written;

/*
 * Records of many lengths: no record of an earlier round in a buffer begins where one of this round
 * does.
 */
static void *write_lengths(void *arg)
{
	static const char text[] = "------------------------------------------------------------";

	for (int i = 1; i <= EACH; i++)
		omig_event(lengths, i, text + i % 60);
	has_written = true;
	return NULL;
}

TEST(a_reader_that_always_polls_sees_each_event_once)
{
	pthread_t t;
	struct found f;

	ck_assert_int_eq(omig_event_open(path, OMIG_EVENT_WAIT), 0);
	ck_assert_int_eq(pthread_create(&t, NULL, write_lengths, NULL), 0);
	while (!has_written)
		ck_assert_int_eq(omig_event_flush(), 0);
	pthread_join(t, NULL);
	ck_assert_int_eq(omig_event_close(), 0);
	f = read_log(NULL);
	ck_assert_uint_eq(f.events, EACH);
	ck_assert_int_eq(f.sum, (int64_t)EACH * (EACH + 1) / 2);
	ck_assert(evread_is_clean(&f.report));
}

static bool is_written(uint64_t events)
{
	for (int i = 0; i < 2000; i++) {
		if (read_log(NULL).events == events)
			return true;
		usleep(10000);
	}
	return false;
}

TEST(an_idle_program_is_flushed_by_itself)
{
	ck_assert_int_eq(omig_event_open(path, 0), 0);
	omig_event(numbered, 1, 1.0f);
	ck_assert(is_written(1));
	omig_event(numbered, 2, 1.0f);
	ck_assert(is_written(2));
	ck_assert_int_eq(omig_event_close(), 0);
}

TEST(a_second_log_repeats_all_descriptions)
{
	for (int i = 0; i < 3; i++) {
		struct found f;

		ck_assert_int_eq(omig_event_open(path, 0), 0);
		omig_event(numbered, i, 1.0f);
		ck_assert_int_eq(omig_event_close(), 0);
		f = read_log(NULL);
		ck_assert(f.events == 1 && f.sum == i && evread_is_clean(&f.report));
	}
	ck_assert_int_eq(omig_event_open(path, OMIG_EVENT_APPEND), 0);
	omig_event(numbered, 5, 1.0f);
	ck_assert_int_eq(omig_event_close(), 0);
	ck_assert_int_eq(read_log(NULL).sum, 7);
}

/* --- ends of processes */

static int status_of(pid_t child)
{
	int status = -1;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status;
}

TEST(a_fatal_signal_writes_out_and_kills)
{
	static const int numbers[] = { SIGSEGV, SIGABRT, SIGTERM, SIGFPE, SIGHUP };

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		pid_t child = fork();
		int status;

		if (!child) {
			struct sigaction dfl = { .sa_handler = SIG_DFL };

			sigaction(numbers[i], &dfl, NULL); /* the test runner has its own */
			if (omig_event_open(path, 0))
				_exit(1);
			for (int k = 0; k < 100; k++)
				omig_event(numbered, k, 1.0f);
			raise(numbers[i]);
			_exit(2);
		}
		status = status_of(child);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == numbers[i]);
		ck_assert_uint_eq(read_log(NULL).events, 100);
	}
}

TEST(the_end_of_the_program_writes_out)
{
	pid_t child = fork();

	if (!child) {
		if (omig_event_open(path, 0))
			_exit(1);
		omig_event(numbered, 7, 1.0f);
		exit(0);
	}
	ck_assert_int_eq(status_of(child), 0);
	ck_assert_int_eq(read_log(NULL).sum, 7);
}

TEST(a_child_writes_its_own_and_nothing_of_its_parent)
{
	struct found f;
	pid_t child;

#ifdef __SANITIZE_THREAD__
	return; /* it ends every process that starts a thread after a fork */
#endif
	ck_assert_int_eq(omig_event_open(path, 0), 0);
	omig_event(numbered, 1, 1.0f);
	child = fork();
	if (!child) {
		omig_event(numbered, 10, 1.0f);
		_exit(omig_event_close());
	}
	ck_assert_int_eq(status_of(child), 0);
	omig_event(numbered, 100, 1.0f);
	ck_assert_int_eq(omig_event_close(), 0);
	f = read_log(NULL);
	ck_assert_uint_eq(f.events, 3);
	ck_assert_int_eq(f.sum, 111);
	ck_assert(evread_is_clean(&f.report));
}

static volatile sig_atomic_t in_handler;

static void on_alarm(int number)
{
	omig_event(numbered, 1, 2.0f);
	in_handler = in_handler + 1;
}

static _Atomic bool has_sent;

static void *send_many(void *to)
{
	for (int i = 0; i < 3000; i++)
		pthread_kill(*(pthread_t *)to, SIGUSR1);
	has_sent = true;
	return NULL;
}

TEST(events_in_signal_handlers_are_written_or_counted)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	pthread_t me = pthread_self(), sender;
	int mine = 0;

	ck_assert_int_eq(sigaction(SIGUSR1, &sa, NULL), 0);
	ck_assert_int_eq(omig_event_open(path, OMIG_EVENT_WAIT), 0);
	ck_assert_int_eq(pthread_create(&sender, NULL, send_many, &me), 0);
	for (; !has_sent || !in_handler; mine++)
		omig_event(numbered, 1, 1.0f);
	pthread_join(sender, NULL);
	ck_assert_int_eq(omig_event_flush(), 0);
	ck_assert_uint_eq(read_log(NULL).events + omig_event_lost(),
			  (uint64_t)mine + (uint64_t)in_handler);
	ck_assert_int_eq(omig_event_close(), 0);
}

/* --- the trigger file */

static void put_trigger(const char *text)
{
	char part[80];
	FILE *f;

	snprintf(part, sizeof(part), "%s.new", trigger);
	f = fopen(part, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(rename(part, trigger), 0);
}

static bool comes_true(unsigned *on, unsigned want)
{
	for (int i = 0; i < 2000; i++) {
		if (__atomic_load_n(on, __ATOMIC_RELAXED) == want)
			return true;
		usleep(10000);
	}
	return false;
}

TEST(a_trigger_file_switches_a_running_program)
{
	char text[100];
	struct found f;

	setenv("OMIG_EVENT_TRIGGER", trigger, 1);
	ck_assert_int_eq(omig_event_open(path, 0), 0);
	ck_assert(!omig_event_is_on(numbered) && !omig_event_is_on(tick));
	put_trigger("# comment\nnot a line\n\nnum* level=info where n > 5 and n != 8\n");
	ck_assert(comes_true(&numbered.on, 1));
	ck_assert(!omig_event_is_on(tick));
	for (int i = 0; i < 10; i++)
		omig_event(numbered, i, 1.0f);
	put_trigger("tick\nnumbered level=error\nall.kinds where f == word\n");
	ck_assert(comes_true(&tick.on, 1));
	ck_assert(!omig_event_is_on(numbered) && !omig_event_is_on(all_kinds));
	snprintf(text, sizeof(text), "all until=%lld.5\n", (long long)time(NULL) + 3600);
	put_trigger(text);
	ck_assert(comes_true(&twelve.on, 1));
	snprintf(text, sizeof(text), "all until=%lld.5\n", (long long)time(NULL) + 2);
	put_trigger(text);
	ck_assert(comes_true(&twelve.on, 0)); /* the lease ends */
	put_trigger("tick\n");
	ck_assert(comes_true(&tick.on, 1));
	unlink(trigger);
	ck_assert(comes_true(&tick.on, 0));
	ck_assert_int_eq(omig_event_close(), 0);
	f = read_log(NULL);
	ck_assert_int_eq(f.sum, 6 + 7 + 9);
	ck_assert_uint_eq(f.events, 3);
}

TEST(levels_are_chosen_by_the_environment)
{
	setenv("OMIG_EVENT_LEVEL", "info", 1);
	ck_assert_int_eq(omig_event_open(path, 0), 0);
	ck_assert(omig_event_is_on(numbered) && !omig_event_is_on(all_kinds) &&
		  !omig_event_is_on(twelve));
	ck_assert_int_eq(omig_event_close(), 0);
}

TEST(a_disk_that_is_full_is_counted)
{
	uint64_t n = 0;

	if (access("/dev/full", W_OK))
		return;
	ck_assert_int_eq(omig_event_open("file:///dev/full", OMIG_EVENT_WAIT), 0);
	for (; n < 20000; n++)
		omig_event(numbered, 1, 1.0f);
	omig_event_flush();
	ck_assert_uint_eq(omig_event_lost(), n);
	omig_event_close();
}

/* As an event in a signal handler inside another event. */
static void *lose_one(void *arg)
{
	omig_event(numbered, 1, 1.0f);
	omig_event_first(omig_event_here);
	return NULL;
}

TEST(loss_count_restarts_with_each_log)
{
	pthread_t t;
	struct found f;

	if (access("/dev/full", W_OK))
		return;
	ck_assert_int_eq(omig_event_open("/dev/full", OMIG_EVENT_WAIT), 0);
	lose_one(NULL);
	ck_assert_int_eq(pthread_create(&t, NULL, lose_one, NULL), 0);
	pthread_join(t, NULL);
	omig_event_flush();
	ck_assert_uint_eq(omig_event_lost(), 4);
	omig_event_close();
	ck_assert_int_eq(omig_event_open(path, 0), 0);
	ck_assert_uint_eq(omig_event_lost(), 0);
	omig_event(numbered, 1, 1.0f);
	ck_assert_int_eq(omig_event_close(), 0);
	f = read_log(NULL);
	ck_assert(f.events == 1 && !f.report.dropped && evread_is_clean(&f.report));
}

TEST(a_child_counts_nothing_that_its_parent_lost)
{
	pthread_t t;
	pid_t child;

#ifdef __SANITIZE_THREAD__
	return; /* it ends every process that starts a thread after a fork */
#endif
	ck_assert_int_eq(omig_event_open(path, 0), 0);
	lose_one(NULL);
	ck_assert_int_eq(pthread_create(&t, NULL, lose_one, NULL), 0);
	pthread_join(t, NULL);
	omig_event_flush();
	ck_assert_uint_eq(omig_event_lost(), 2);
	child = fork();
	if (!child)
		_exit((int)omig_event_lost());
	ck_assert_int_eq(status_of(child), 0);
	ck_assert_uint_eq(omig_event_lost(), 2);
	ck_assert_int_eq(omig_event_close(), 0);
}

SUITE_WITH("event", set_up, clean_up)
