/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_keep: events of a running program, which a tool switches on and off, and which are kept
 * until it has them. Measured by the events' own times: from the request to the first event, and
 * from the end to the last. Also measured: the delay of an event to the tool; the share that
 * arrives of more events than can; the lm's share of processor time. A real rank, lm, sm and mainsm
 * over TLS, disks as they are.
 */
#include "bench/pace.h"
#include "bench/treebed.h"
#include "common/base/clock.h"
#include "eventlog/evread.h"
#include "tools/libomis/omis.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 21
/* events a second: 0.2 ms from one to the next is the resolution of on and off */
#define CALM_RATE 5000
#define FULL_RATE 40000000 /* more than a thread can write */
#define FULL_MS 5000
#define SETTLE_MS 300
#define READY_NS (INT64_C(60) * 1000000000)
#define PLACES_MAX 64

static struct {
	struct evread *reader;
	struct { /* to be acknowledged */
		uint64_t stream, place;
	} place[PLACES_MAX];
	size_t nplace;
	uint64_t events;
	int64_t first_ns, last_ns; /* times of events, since 1970 */
	bool is_over;
	struct bench_series travel;
} got;

/* --- arriving events */

static void take_event(const struct event *ev, int64_t now)
{
	if (!got.events++)
		got.first_ns = ev->wall_ns;
	got.last_ns = ev->wall_ns > got.last_ns ? ev->wall_ns : got.last_ns;
	if (got.events % 16 == 0 && got.travel.n < 10000)
		bench_add(&got.travel, (double)(now - ev->wall_ns) / 1e6);
}

static void note_place(uint64_t stream, uint64_t place)
{
	size_t i = 0;

	while (i < got.nplace && got.place[i].stream != stream)
		i++;
	if (i == PLACES_MAX)
		bench_fail("more openings than there can be");
	got.nplace = i == got.nplace ? i + 1 : got.nplace;
	got.place[i].stream = stream;
	got.place[i].place = place;
}

static void on_events(const Omis_events *e, void *arg)
{
	int64_t now = clock_wall();
	const uint8_t *p = e->blocks;
	struct event ev;
	size_t used;

	for (size_t at = 0; at < e->len; at += used) {
		if (evread_push(got.reader, p + at, e->len - at, true, &used) != EVREAD_BLOCK)
			break;
		while (evread_next(got.reader, &ev))
			take_event(&ev, now);
	}
	if (e->len)
		note_place(e->stream, e->place);
	got.is_over |= e->end != 0;
}

static void turn(const char *name, int ms)
{
	struct pollfd p = { .fd = omis_fd(), .events = POLLIN };

	poll(&p, 1, ms);
	omis_handler();
	for (size_t i = 0; i < got.nplace; i++)
		omis_events_ack(name, got.place[i].stream, got.place[i].place);
	got.nplace = 0;
}

static void pass(const char *name, int64_t ms)
{
	int64_t until = bench_now() + ms * 1000000;

	while (bench_now() < until)
		turn(name, 5);
}

/* --- the ranks, and asking */

static void begin(const char *name)
{
	char text[160];

	got.events = 0;
	got.last_ns = 0;
	got.is_over = false;
	snprintf(text, sizeof(text),
		 ":omig_events_keep(\"%s\",[\"bench.tick\"],\"\",0,[\"mb\",256])", name);
	omis_reply_free(treebed_ask(text));
}

static void end(const char *name)
{
	int64_t until = bench_now() + READY_NS;
	char text[160];

	snprintf(text, sizeof(text), ":omig_events_unkeep(\"%s\",1)", name);
	omis_reply_free(treebed_ask(text));
	while (!got.is_over) {
		turn(name, 5);
		if (bench_now() > until)
			bench_fail("the end does not come");
	}
}

static void wait_for_event(const char *name)
{
	int64_t until = bench_now() + READY_NS;

	while (!got.events) {
		turn(name, 5);
		if (bench_now() > until)
			bench_fail("no event comes");
	}
}

/* --- measurements */

static void measure_switching(struct pace *pace)
{
	struct bench_series on = { 0 }, off = { 0 };
	char name[32];

	pace_set(pace, CALM_RATE);
	for (int i = 0; i < ROUNDS; i++) {
		int64_t asked = clock_wall();

		snprintf(name, sizeof(name), "switch%d", i);
		begin(name);
		wait_for_event(name);
		bench_add(&on, (double)(got.first_ns - asked) / 1e6);
		pass(name, SETTLE_MS);
		asked = clock_wall();
		end(name);
		bench_add(&off, (double)(got.last_ns - asked) / 1e6);
	}
	bench_print("keep.on.ms", "ms", &on, NULL);
	bench_print("keep.off.ms", "ms", &off, NULL);
	bench_print("keep.travel.p50.ms", "ms", &got.travel, NULL);
	bench_print_quantile("keep.travel.p99.ms", "ms", &got.travel, 0.99, NULL);
	bench_done(&on);
	bench_done(&off);
}

/* Finds the lm among a process and its children, in a separate namespace. 0: there is none. */
static pid_t find_lm(pid_t pid)
{
	char path[64], name[16] = "";
	pid_t found = 0;
	long child;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
	f = fopen(path, "r");
	if (!f || !fgets(name, sizeof(name), f))
		return 0;
	fclose(f);
	if (!strcmp(name, "lm\n"))
		return pid;
	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
	f = fopen(path, "r");
	while (f && !found && fscanf(f, "%ld", &child) == 1)
		found = find_lm((pid_t)child);
	if (f)
		fclose(f);
	return found;
}

static void measure_drain(struct pace *pace, pid_t lm)
{
	static const char name[] = "full";
	const struct evread_report *r = evread_report(got.reader);
	uint64_t dropped, lost;
	int64_t cpu, from;
	double s;

	begin(name);
	pass(name, SETTLE_MS);
	dropped = r->dropped;
	lost = r->lost_events;
	cpu = treebed_cpu(lm);
	from = bench_now();
	pace_set(pace, FULL_RATE);
	pass(name, FULL_MS);
	pace_set(pace, 0);
	s = (double)(bench_now() - from) / 1e9;
	cpu = treebed_cpu(lm) - cpu;
	end(name);
	bench_print_value("keep.events_per_s", "1/s", (double)got.events / s, NULL);
	bench_print_value("keep.lm.events_per_cpu_s", "1/s",
			  (double)(got.events + r->lost_events - lost) * 1e9 / (double)cpu, NULL);
	bench_print_value(
		"keep.dropped", "%",
		100.0 * (double)(r->dropped - dropped) /
			(double)(got.events + r->dropped - dropped + r->lost_events - lost),
		NULL);
	bench_print_value(
		"keep.lost", "%",
		100.0 * (double)(r->lost_events - lost) /
			(double)(got.events + r->dropped - dropped + r->lost_events - lost),
		NULL);
}

int main(void)
{
	struct treebed *t = treebed_start();
	struct pace *pace = pace_make(treebed_path(t, "pace"));
	pid_t lm;
	char path[256];
	const char *argv[] = { "bench-tick", path, NULL };

	got.reader = evread_new();
	snprintf(path, sizeof(path), "%s", treebed_path(t, "pace"));
	setenv("OMIG_RING", "1048576", 1);
	treebed_host(t, "bench", argv, 1);
	treebed_wait(1);
	pace_begin(pace);
	if (!got.reader)
		bench_fail("out of memory");
	treebed_connect();
	omis_events_handler(on_events, NULL);
	measure_switching(pace);
	lm = find_lm(treebed_lm(t, 0));
	if (!lm)
		bench_fail("no lm is seen");
	measure_drain(pace, lm);
	pace_end(pace);
	omis_finalize();
	evread_free(got.reader);
	bench_done(&got.travel);
	treebed_stop(t);
	return 0;
}
