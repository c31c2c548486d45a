/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include "common/base/buf.h"
#include "common/json/json.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PRINTED_MAX 64 /* values of one program */

static struct {
	char name[64];
	double value;
} printed[PRINTED_MAX];
static size_t nprinted;

void bench_fail(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

int64_t bench_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t bench_now(void)
{
	return bench_clock(CLOCK_MONOTONIC);
}

void bench_add(struct bench_series *s, double sample)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 64;
		s->v = reallocarray(s->v, s->cap, sizeof(*s->v));
		if (!s->v)
			bench_fail("out of memory");
	}
	s->v[s->n++] = sample;
}

void bench_clear(struct bench_series *s)
{
	s->n = 0;
}

void bench_done(struct bench_series *s)
{
	free(s->v);
	*s = (struct bench_series){ 0 };
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_quantile(struct bench_series *s, double p)
{
	if (!s->n)
		return NAN;
	qsort(s->v, s->n, sizeof(*s->v), by_value);
	return s->v[(size_t)(p * (double)(s->n - 1) + 0.5)];
}

double bench_printed(const char *name)
{
	for (size_t i = 0; i < nprinted; i++)
		if (!strcmp(printed[i].name, name))
			return printed[i].value;
	return NAN;
}

static void remember(const char *name, double value)
{
	if (nprinted == PRINTED_MAX)
		return;
	snprintf(printed[nprinted].name, sizeof(printed[0].name), "%s", name);
	printed[nprinted++].value = value;
}

/* Four significant digits: further ones are noise. */
static void put_number(struct json *j, const char *key, double v)
{
	char text[32];

	json_key(j, key);
	snprintf(text, sizeof(text), "%.4g", v);
	json_double(j, isfinite(v) ? strtod(text, NULL) : v);
}

static void put_floor(struct json *j, const char *floor, double value)
{
	double f = bench_printed(floor);

	json_key_str(j, "floor", floor);
	put_number(j, "floor_value", f);
	put_number(j, "ratio", value / f);
}

void bench_print_quantile(const char *name, const char *unit, struct bench_series *s, double p,
			  const char *floor)
{
	double value = bench_quantile(s, p);
	struct buf b;
	struct json j;

	buf_init(&b, 4096);
	json_init(&j, &b);
	json_object(&j);
	json_key_str(&j, "name", name);
	put_number(&j, "value", value);
	json_key_str(&j, "unit", unit);
	put_number(&j, "min", s->n ? s->v[0] : NAN);
	put_number(&j, "max", s->n ? s->v[s->n - 1] : NAN);
	json_key_u64(&j, "n", s->n);
	if (floor)
		put_floor(&j, floor, value);
	json_object_end(&j);
	if (json_end(&j))
		bench_fail("out of memory");
	printf("%.*s\n", (int)b.n, (const char *)b.p);
	fflush(stdout);
	buf_done(&b);
	remember(name, value);
}

void bench_print(const char *name, const char *unit, struct bench_series *s, const char *floor)
{
	bench_print_quantile(name, unit, s, 0.5, floor);
}

void bench_print_value(const char *name, const char *unit, double value, const char *floor)
{
	struct bench_series s = { 0 };

	bench_add(&s, value);
	bench_print(name, unit, &s, floor);
	bench_done(&s);
}

void bench_build(char out[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);

	if (n <= 0)
		bench_fail("/proc/self/exe");
	out[n] = 0;
	*strrchr(out, '/') = 0;
	strrchr(out, '/')[1] = 0;
}
