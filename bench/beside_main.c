/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paper 001's event written by us, by LTTng-UST and by fprintf, in turns in one run: the time of
 * the writing thread. Ratios are medians of the ratios of neighbours in time. The program is not
 * linked with our rooms, but with the installed library.
 */
#include <omig/event.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef BENCH_LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench/lttng_events.h"
#endif

#define EVENTS 20000 /* a turn; 400 KB of a MiB */
#define TURNS 41

OMIG_EVENT(my_event, "MY_EVENT", OMIG_INFO, (int32, MY_INT), (float, MY_FLOAT))

static FILE *text;

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void ours(void)
{
	for (int i = 0; i < EVENTS; i++)
		omig_event(my_event, i, 0.5f);
}

/* The usual way: the time, the names, the values. */
static void printed(void)
{
	for (int i = 0; i < EVENTS; i++) {
		struct timespec t;

		clock_gettime(CLOCK_REALTIME, &t);
		fprintf(text, "ts=%ld.%06ld event=MY_EVENT MY_INT=%d MY_FLOAT=%f\n", (long)t.tv_sec,
			t.tv_nsec / 1000, i, 0.5);
	}
}

static void traced(void)
{
#ifdef BENCH_LTTNG
	for (int i = 0; i < EVENTS; i++)
		lttng_ust_tracepoint(omig_bench, my_event, i, 0.5f);
#endif
}

static double turn(void (*fn)(void))
{
	double begin = cpu_ns(), took;

	fn();
	took = (cpu_ns() - begin) / EVENTS;
	omig_event_flush();
	return took;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void row(const char *name, const char *unit, const double *v)
{
	double sorted[TURNS];

	for (int i = 0; i < TURNS; i++)
		sorted[i] = v[i];
	qsort(sorted, TURNS, sizeof(*sorted), by_value);
	printf("{\"name\":\"%s\",\"value\":%.4g,\"unit\":\"%s\",\"min\":%.4g,\"max\":%.4g,"
	       "\"n\":%d}\n",
	       name, sorted[TURNS / 2], unit, sorted[0], sorted[TURNS - 1], TURNS);
}

static void ratio(const char *name, const double *a, const double *b)
{
	double v[TURNS];

	for (int i = 0; i < TURNS; i++)
		v[i] = a[i] / b[i];
	row(name, "ratio", v);
}

int main(int argc, char **argv)
{
	double us[TURNS], lttng[TURNS], print[TURNS];
	int has_lttng = argc > 1 && argv[1][0] == 'l';

	text = fopen("/dev/null", "w");
	if (!text || omig_event_open("/dev/null", 0))
		return 1;
	for (int i = -1; i < TURNS; i++) {
		int k = i < 0 ? 0 : i; /* the first one warms up */

		us[k] = turn(ours);
		lttng[k] = turn(traced);
		print[k] = turn(printed);
	}
	row("event.beside.ns", "ns", us);
	row("event.fprintf.ns", "ns", print);
	ratio("event.vs_fprintf.ratio", us, print);
	if (has_lttng) {
		row("event.lttng.ns", "ns", lttng);
		ratio("event.vs_lttng.ratio", us, lttng);
	}
	omig_event_close();
	return fclose(text) != 0;
}
