/* SPDX-License-Identifier: Apache-2.0 */
/* The vertices that a program writes make a whole network, as the analysis reads it. */
#include "common/base/str.h"
#include "eventlog/app/event.h"
#include "eventlog/app/interaction.h"
#include "eventlog/evfile.h"
#include "eventlog/text/evout.h"
#include "tests/suite.h"

#include <pthread.h>
#include <unistd.h>

static char path[64];

static void set_up(void)
{
	snprintf(path, sizeof(path), "/tmp/omig-interaction-%ld.olog", (long)getpid());
}

static void clean_up(void)
{
	unlink(path);
}

/* The events of the log, a line each: name and fields. */
static char text[4096];

static void add(const char *s, size_t n)
{
	size_t at = strlen(text);

	ck_assert_uint_lt(at + n + 2, sizeof(text));
	snprintf(text + at, sizeof(text) - at, "%.*s ", (int)n, s);
}

static int64_t number(const struct event *ev, const char *field)
{
	const struct evvalue *v = evattr_find(ev, field);

	return v && v->kind == EV_INT64 ? v->i64 : -1;
}

static int64_t task[8], other[8];
static unsigned nvertex;

static void read_log(void)
{
	struct evfile *file;
	struct event ev;
	struct err e = { 0 };

	text[0] = '\0';
	nvertex = 0;
	ck_assert_msg(!evfile_open(path, &file, &e), "%s", e.text);
	while (evfile_next(file, &ev, &e) == 1) {
		const struct evvalue *use = evattr_find(&ev, "use");

		add(ev.type->name + strlen("interaction."), strlen(ev.type->name) - 12);
		if (use && use->n)
			add(use->s, use->n);
		if (nvertex == ARRAY_LEN(task))
			break;
		task[nvertex] = number(&ev, "st");
		other[nvertex] = number(&ev, number(&ev, "new") >= 0 ? "new" : "with");
		nvertex++;
	}
	evfile_close(file);
}

TEST(without_a_log_nothing_begins)
{
	omig_interaction_source("request");
	ck_assert_uint_eq(omig_interaction_fork(OMIG_BY_MESSAGE).task, 0);
	ck_assert_uint_eq(omig_interaction_detach().task, 0);
	omig_interaction_begin_use("db");
	omig_interaction_sink();
}

TEST(vertices_name_their_sub_tasks)
{
	struct omig_task message;

	ck_assert_int_eq(omig_event_open(path, 0), 0);
	omig_interaction_source("request");
	message = omig_interaction_fork(OMIG_BY_MESSAGE);
	ck_assert_uint_ne(message.task, 0);
	omig_interaction_begin_use("db");
	omig_interaction_end_use("db");
	omig_interaction_begin_use("no name");
	omig_interaction_wait();
	omig_interaction_receive(message);
	omig_interaction_sink();
	omig_interaction_sink(); /* it has none now */
	ck_assert_int_eq(omig_event_close(), 0);
	read_log();
	ck_assert_str_eq(text, "source fork simple +db simple -db simple join sink ");
	for (unsigned i = 1; i < nvertex; i++)
		ck_assert_int_eq(task[i], task[0]);
	ck_assert_int_gt(task[0], 0);
	ck_assert_int_eq(other[1], (int64_t)message.task);
	ck_assert_int_eq(other[5], other[1]);
}

static void *work(void *arg)
{
	omig_interaction_receive(*(struct omig_task *)arg);
	omig_interaction_sink();
	return NULL;
}

TEST(a_thread_goes_on_as_the_message)
{
	struct omig_task message;
	pthread_t t;

	ck_assert_int_eq(omig_event_open(path, 0), 0);
	omig_interaction_source(NULL);
	message = omig_interaction_fork(OMIG_BY_THREAD);
	ck_assert_int_eq(pthread_create(&t, NULL, work, &message), 0);
	pthread_join(t, NULL);
	omig_interaction_sink();
	ck_assert_int_eq(omig_event_close(), 0);
	read_log();
	ck_assert(strstr(text, "source fork") && strstr(text, "simple sink"));
	ck_assert_uint_eq(nvertex, 5);
}

TEST(an_event_loop_leaves_its_sub_task_and_comes_back)
{
	struct omig_task first, second;

	ck_assert_int_eq(omig_event_open(path, 0), 0);
	omig_interaction_source("a");
	first = omig_interaction_detach();
	omig_interaction_source("b");
	second = omig_interaction_detach();
	ck_assert_uint_ne(first.task, second.task);
	ck_assert(first.high != second.high || first.low != second.low);
	omig_interaction_attach(first);
	omig_interaction_receive(second); /* of another interaction: the first one ends */
	omig_interaction_sink();
	ck_assert_int_eq(omig_event_close(), 0);
	read_log();
	ck_assert_str_eq(text, "source source simple sink simple sink ");
	ck_assert_int_eq(task[3], (int64_t)first.task);
	ck_assert_int_eq(task[5], (int64_t)second.task);
}

TEST(traceparent_goes_out_and_in)
{
	const struct omig_task t = { 0x0123456789abcdef, 2, 0xfedcba9876543210 };
	char out[OMIG_TRACEPARENT_BYTES];
	struct omig_task back;

	omig_interaction_export(t, out);
	ck_assert_str_eq(out, "00-0123456789abcdef0000000000000002-fedcba9876543210-01");
	back = omig_interaction_import(out);
	ck_assert(back.high == t.high && back.low == t.low && back.task == t.task);
	omig_interaction_export((struct omig_task){ 0 }, out);
	ck_assert_str_eq(out, "");
}

TEST(a_traceparent_that_breaks_the_rules_is_none)
{
	static const char *const wrong[] = {
		"",
		"00",
		"00-0123456789abcdef0000000000000002-fedcba9876543210-0",
		"00-0123456789ABCDEF0000000000000002-fedcba9876543210-01",
		"00-00000000000000000000000000000000-fedcba9876543210-01",
		"00-0123456789abcdef0000000000000002-0000000000000000-01",
		"ff-0123456789abcdef0000000000000002-fedcba9876543210-01",
		"00-0123456789abcdef0000000000000002-fedcba9876543210-01-more",
		"01-0123456789abcdef0000000000000002-fedcba9876543210-01x",
		"00_0123456789abcdef0000000000000002-fedcba9876543210-01",
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		ck_assert_msg(!omig_interaction_import(wrong[i]).task, "%s", wrong[i]);
	ck_assert(!omig_interaction_import(NULL).task);
	ck_assert(omig_interaction_import(
			  "01-0123456789abcdef0000000000000002-fedcba9876543210-01-more")
			  .task);
}

SUITE_WITH("eventlog/app/interaction", set_up, clean_up)
