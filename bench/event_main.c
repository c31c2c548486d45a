/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paper 001's Table 1 and 2: an event with a time, a 32-bit integer, a 32-bit float and static
 * fields, 100,000 at a time. Values are processor time of the thread that writes, without other
 * load on the machine. The log is /dev/null, as in the paper, and the helper drains the buffers
 * meanwhile.
 */
#include "bench/bench.h"
#include "common/base/clock.h"
#include "eventlog/app/event.h"
#include "eventlog/app/log.h"
#include "eventlog/evfile.h"
#include "eventlog/text/evout.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EVENTS 100000 /* a batch */
#define BATCHES 31
#define PORTION 20000 /* 400 KB of a MiB */
#define READ_EVENTS 2000000

OMIG_EVENT(my_event, "MY_EVENT", OMIG_INFO, (int32, MY_INT), (float, MY_FLOAT))

static struct bench_series series;
static char log_path[64], trigger_path[64];

static void write_batch(int from, int n)
{
	for (int i = from; i < from + n; i++)
		omig_event(my_event, i, 0.5f);
}

/*
 * Processor time of the writing thread, per event. The helper may share its processor here. So the
 * buffers are drained between portions for which they have room, and nothing is lost.
 */
static double batch(void)
{
	double spent = 0;

	for (int from = 0; from < EVENTS; from += PORTION) {
		double t = (double)bench_clock(CLOCK_THREAD_CPUTIME_ID);

		write_batch(from, PORTION);
		spent += (double)bench_clock(CLOCK_THREAD_CPUTIME_ID) - t;
		omig_event_flush();
	}
	return spent / EVENTS;
}

static void open_log(const char *to, unsigned flags)
{
	if (omig_event_open(to, flags))
		bench_fail("%s cannot be written", to);
}

static void measure(const char *name, const char *floor)
{
	bench_clear(&series);
	batch();
	for (int i = 0; i < BATCHES; i++)
		bench_add(&series, batch());
	bench_print(name, "ns", &series, floor);
}

static void floors(void)
{
	enum ticks_source source = ticks_source_best();
	uint64_t sum = 0;

	bench_clear(&series);
	for (int b = 0; b < BATCHES; b++) {
		double t = (double)bench_clock(CLOCK_THREAD_CPUTIME_ID);

		for (int i = 0; i < EVENTS; i++)
			sum += ticks_now(source);
		bench_add(&series, ((double)bench_clock(CLOCK_THREAD_CPUTIME_ID) - t) / EVENTS);
	}
	__asm__ volatile("" : : "g"(sum));
	bench_print("floor.event_clock.ns", "ns", &series, NULL);
}

static void on_and_off(void)
{
	measure("event.off.ns", NULL);
	open_log("/dev/null", 0);
	measure("event.on.ns", "floor.event_clock.ns");
	bench_print_value("event.on.lost", "%",
			  (double)omig_event_lost() * 100 / ((BATCHES + 1) * EVENTS), NULL);
	omig_event_close();
}

/* --- a trigger file is watched; conditions are evaluated */

static void put_trigger(const char *text)
{
	FILE *f = fopen(trigger_path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		bench_fail("%s cannot be written", trigger_path);
	setenv("OMIG_EVENT_TRIGGER", trigger_path, 1);
}

/* Processor time of the whole process, draining included, for a batch without losses. */
static double whole_batch(void)
{
	double t = (double)bench_clock(CLOCK_PROCESS_CPUTIME_ID);

	write_batch(0, EVENTS);
	omig_event_flush();
	return ((double)bench_clock(CLOCK_PROCESS_CPUTIME_ID) - t) / EVENTS;
}

static double whole_median(void)
{
	bench_clear(&series);
	for (int i = 0; i < BATCHES; i++)
		bench_add(&series, whole_batch());
	return bench_quantile(&series, 0.5);
}

static void triggered(void)
{
	double with, without;

	put_trigger("all\n");
	open_log("/dev/null", 0); /* from here on the process watches its trigger file */
	measure("event.watched.ns", "event.on.ns");
	omig_event_close();
	open_log("/dev/null", OMIG_EVENT_WAIT);
	without = whole_median();
	bench_print_value("event.drained.ns", "ns", without, NULL);
	omig_event_close();
	put_trigger("MY_EVENT where MY_INT >= 0\n");
	open_log("/dev/null", OMIG_EVENT_WAIT);
	with = whole_median();
	bench_print_value("event.filter.ns", "ns", with - without, NULL);
	omig_event_close();
	put_trigger("all\n");
}

/* A trigger file of 50 entries that has changed, as the helper thread reads it. */
static void reparsed(void)
{
	struct evtrigger *t = evtrigger_new(trigger_path, 0); /* kept, as in a program */
	struct buf text = BUF_INIT(64 * 1024);

	for (int i = 0; i < 50; i++)
		buf_printf(
			&text,
			"program.part%d.* level=debug until=4102444800 where nbytes > %d and status != 0\n",
			i, i);
	bench_clear(&series);
	for (int i = 0; i < BATCHES && t; i++) {
		double begin;

		put_trigger(buf_str(&text)); /* the file has a new modification time */
		begin = (double)bench_clock(CLOCK_THREAD_CPUTIME_ID);
		if (!evtrigger_look(t, clock_wall()))
			bench_fail("%s has not changed", trigger_path);
		bench_add(&series, ((double)bench_clock(CLOCK_THREAD_CPUTIME_ID) - begin) / 1000);
	}
	bench_print("event.reparse_50.us", "us", &series, NULL);
	buf_done(&text);
}

/* --- threads: Table 2 has 1, 5 and 8, each on a separate processor */

#define THREADS_MAX 8
#define THREAD_EVENTS (20 * EVENTS)

static void *write_many(void *arg)
{
	pthread_barrier_wait(arg);
	for (int i = 0; i < 20; i++)
		write_batch(0, EVENTS);
	return NULL;
}

static void threads(int n, const char *name)
{
	pthread_t t[THREADS_MAX];
	pthread_barrier_t start;

	bench_clear(&series);
	for (int k = 0; k < 5; k++) {
		int64_t begin;

		pthread_barrier_init(&start, NULL, (unsigned)n + 1);
		for (int i = 0; i < n; i++)
			if (pthread_create(&t[i], NULL, write_many, &start))
				bench_fail("no thread");
		pthread_barrier_wait(&start);
		begin = bench_now();
		for (int i = 0; i < n; i++)
			pthread_join(t[i], NULL);
		bench_add(&series, (double)n * THREAD_EVENTS * 1e9 / (double)(bench_now() - begin));
	}
	bench_print(name, "1/s", &series, NULL);
}

/* --- reading, and bytes */

static struct evfile *open_back(void)
{
	struct err e = { 0 };
	struct evfile *f;

	if (evfile_open(log_path, &f, &e))
		bench_fail("%s", e.text);
	return f;
}

static double read_once(struct event *last)
{
	double t = (double)bench_clock(CLOCK_THREAD_CPUTIME_ID);
	struct evfile *f = open_back();
	struct err e = { 0 };
	uint64_t n = 0;

	while (evfile_next(f, last, &e) == 1)
		n++;
	evfile_close(f);
	return (double)n * 1e9 / ((double)bench_clock(CLOCK_THREAD_CPUTIME_ID) - t);
}

static void read_back(void)
{
	struct event last;
	off_t bytes;
	FILE *f;

	open_log(log_path, OMIG_EVENT_WAIT);
	for (int i = 0; i < READ_EVENTS / EVENTS; i++)
		write_batch(0, EVENTS);
	omig_event_close();
	f = fopen(log_path, "r");
	if (!f || fseeko(f, 0, SEEK_END) || (bytes = ftello(f)) < 0)
		bench_fail("%s cannot be read", log_path);
	fclose(f);
	bench_print_value("event.bytes", "B", 20, NULL); /* the record; a test checks this number */
	/* with blocks, clocks and description */
	bench_print_value("event.log_bytes", "B", (double)bytes / READ_EVENTS, NULL);
	bench_clear(&series);
	for (int i = 0; i < 5; i++)
		bench_add(&series, read_once(&last));
	bench_print("log.read.events_per_s", "1/s", &series, NULL);
}

/* --- text */

static void as_text(const char *name, enum evout_form form)
{
	struct evfile *f = open_back();
	struct err e = { 0 };
	struct event ev;
	struct evout o;

	if (evfile_next(f, &ev, &e) != 1)
		bench_fail("nothing was written");
	evout_begin(&o, form);
	bench_clear(&series);
	for (int b = 0; b < 5; b++) {
		double t = (double)bench_clock(CLOCK_THREAD_CPUTIME_ID);

		for (int i = 0; i < EVENTS; i++) {
			ev.wall_ns = clock_wall();
			evout_event(&o, &ev);
			if (o.b.n > 128 * 1024)
				buf_clear(&o.b);
		}
		bench_add(&series, ((double)bench_clock(CLOCK_THREAD_CPUTIME_ID) - t) / EVENTS);
	}
	bench_print(name, "ns", &series, NULL);
	evout_done(&o);
	evfile_close(f);
}

int main(void)
{
	snprintf(log_path, sizeof(log_path), "/tmp/omig-bench-%ld.olog", (long)getpid());
	snprintf(trigger_path, sizeof(trigger_path), "/tmp/omig-bench-%ld.trigger", (long)getpid());
	floors();
	on_and_off();
	open_log("/dev/null", OMIG_EVENT_WAIT);
	threads(1, "event.threads_1.per_s");
	threads(2, "event.threads_2.per_s");
	threads(5, "event.threads_5.per_s");
	threads(THREADS_MAX, "event.threads_8.per_s");
	bench_print_value("event.processors", "", (double)sysconf(_SC_NPROCESSORS_ONLN), NULL);
	omig_event_close();
	read_back();
	as_text("event.ulm.ns", EVOUT_ULM);
	as_text("event.xml.ns", EVOUT_XML);
	triggered();
	reparsed();
	unlink(log_path);
	unlink(trigger_path);
	bench_done(&series);
	return 0;
}
