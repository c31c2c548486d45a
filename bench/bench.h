/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of a benchmark: one JSON object a line for each measured value, with the median of its
 * samples as the value. A value may have a floor: the cost of the least that could do the job,
 * measured in the same run.
 *
 *	{"name":"request.rtt.p50.us","value":212.4,"unit":"us","min":190,"max":340,
 *	 "n":2000,"floor":"tcp.rtt","floor_value":61.2,"ratio":3.47}
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct bench_series {
	double *v; /* owned */
	size_t n, cap;
};

/* A bench that runs out of memory reports that and exits. */
void bench_add(struct bench_series *s, double sample);
void bench_clear(struct bench_series *s);
void bench_done(struct bench_series *s);

/* 0 <= p <= 1; sorts the samples. NAN without any. */
double bench_quantile(struct bench_series *s, double p);

/* Prints the series with the median as its value. floor: name of a value printed before, or NULL.
 */
void bench_print(const char *name, const char *unit, struct bench_series *s, const char *floor);

/* As bench_print(), with another quantile as the value. */
void bench_print_quantile(const char *name, const char *unit, struct bench_series *s, double p,
			  const char *floor);

/* A figure that is one number. */
void bench_print_value(const char *name, const char *unit, double value, const char *floor);

/* Value of a figure printed before by this program; NAN for another name. */
double bench_printed(const char *name);

/* CLOCK_MONOTONIC in ns. */
int64_t bench_now(void);

/* As bench_now(), by another clock: processor time is better where others use the machine. */
int64_t bench_clock(clockid_t clock);

/* Writes the build directory that contains the program build/bin/NAME, with a trailing slash. */
void bench_build(char out[PATH_MAX]);

/* Prints "NAME: text" on stderr, and exits with status 1. */
void bench_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
