/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hierarchy: round trips, rates, fan-out and the cost of an lm, with real daemons over TLS. The
 * reference is the same tree of bare TCP processes.
 */
#include "bench/floor_tree.h"
#include "bench/treebed.h"
#include "common/base/array.h"
#include "tools/libomis/omis.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RTT_REQUESTS 3000
#define RATE_REQUESTS 20000 /* of all tools together */
#define WAVES 300
#define CONNECTS 200
#define IDLE_NS (INT64_C(10) * 1000000000)

static const char attach_all[] = ":site_attach([]) node_attach([])";
static const char one_value[] = ":node_get_info([],1)";

static void attach(void)
{
	treebed_connect();
	omis_reply_free(treebed_ask(attach_all));
}

/* Nanoseconds of one request that must reach `hosts` hosts. */
static double one_request(const char *text, unsigned hosts)
{
	int64_t begin = bench_now(), took;
	Omis_reply r = treebed_ask(text);
	Omis_coverage c = { 0 };

	took = bench_now() - begin;
	omis_reply_coverage(r, &c);
	if (c.answered != hosts)
		bench_fail("%u of %u hosts answered", c.answered, hosts);
	omis_reply_free(r);
	return (double)took;
}

static void bench_floor_rtt(void)
{
	struct floor_tree *t = floor_tree_start(1);
	struct bench_series s = { 0 };

	for (int i = 0; i < RTT_REQUESTS; i++)
		bench_add(&s, (double)floor_tree_wave(t) / 1e3);
	floor_tree_stop(t);
	bench_print("floor.tree.1.us", "us", &s, NULL);
	bench_done(&s);
}

static void bench_rtt(void)
{
	struct bench_series s = { 0 };

	attach();
	for (int i = 0; i < 200; i++)
		one_request(one_value, 1);
	for (int i = 0; i < RTT_REQUESTS; i++)
		bench_add(&s, one_request(one_value, 1) / 1e3);
	omis_finalize();
	bench_print("request.rtt.p50.us", "us", &s, "floor.tree.1.us");
	bench_print_quantile("request.rtt.p99.us", "us", &s, 0.99, NULL);
	bench_done(&s);
}

/* A tool, which waits until `go` is closed, then sends its part of the requests. */
static _Noreturn void rate_tool(int ready, int go, unsigned requests)
{
	char c = 0;

	attach();
	if (write(ready, &c, 1) != 1 || read(go, &c, 1) < 0)
		_exit(1);
	for (unsigned i = 0; i < requests; i++)
		one_request(one_value, 1);
	omis_finalize();
	_exit(0);
}

static void bench_rate(unsigned tools)
{
	int ready[2], go[2], status;
	char name[64], c;
	int64_t begin;

	if (pipe(ready) || pipe(go))
		bench_fail("no pipe");
	for (unsigned i = 0; i < tools; i++)
		if (fork() == 0) {
			close(go[1]);
			rate_tool(ready[1], go[0], RATE_REQUESTS / tools);
		}
	close(ready[1]);
	for (unsigned i = 0; i < tools; i++)
		if (read(ready[0], &c, 1) != 1)
			bench_fail("a tool did not start");
	begin = bench_now();
	close(go[1]);
	for (unsigned i = 0; i < tools; i++)
		if (wait(&status) < 0 || status)
			bench_fail("a tool failed");
	snprintf(name, sizeof(name), "request.rate.%u", tools);
	bench_print_value(name, "1/s",
			  RATE_REQUESTS / tools * tools / ((double)(bench_now() - begin) / 1e9),
			  NULL);
	close(ready[0]);
	close(go[0]);
}

static void bench_fanout(unsigned hosts)
{
	struct floor_tree *t = floor_tree_start(hosts);
	struct bench_series ours = { 0 }, floor = { 0 };
	char name[64], floor_name[64];

	attach();
	one_request(one_value, hosts);
	for (int i = 0; i < WAVES; i++) {
		bench_add(&floor, (double)floor_tree_wave(t) / 1e3);
		bench_add(&ours, one_request(one_value, hosts) / 1e3);
	}
	omis_finalize();
	floor_tree_stop(t);
	snprintf(floor_name, sizeof(floor_name), "floor.tree.%u.us", hosts);
	snprintf(name, sizeof(name), "fanout.%u.p50.us", hosts);
	bench_print(floor_name, "us", &floor, NULL);
	bench_print(name, "us", &ours, floor_name);
	bench_done(&ours);
	bench_done(&floor);
}

/* KiB of a line of /proc/PID/smaps_rollup. */
static double memory_kib(pid_t pid, const char *key)
{
	char path[64], line[256];
	double kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			kib = strtod(line + strlen(key), NULL);
	if (!f || kib < 0)
		bench_fail("the memory of an lm cannot be read");
	fclose(f);
	return kib;
}

static void bench_memory(const struct treebed *t, unsigned n)
{
	struct bench_series pss = { 0 }, rss = { 0 };

	for (unsigned i = 0; i < n; i++) {
		bench_add(&pss, memory_kib(treebed_lm(t, i), "Pss:"));
		bench_add(&rss, memory_kib(treebed_lm(t, i), "Rss:"));
	}
	bench_print("lm.pss.kib", "KiB", &pss, NULL);
	bench_print("lm.rss.kib", "KiB", &rss, NULL);
	bench_done(&pss);
	bench_done(&rss);
}

static void bench_idle(const struct treebed *t, unsigned n)
{
	int64_t *before = calloc(n, sizeof(*before)), begin = bench_now();
	struct bench_series s = { 0 };

	if (!before)
		bench_fail("out of memory");
	for (unsigned i = 0; i < n; i++)
		before[i] = treebed_cpu(treebed_lm(t, i));
	poll(NULL, 0, (int)(IDLE_NS / 1000000));
	for (unsigned i = 0; i < n; i++)
		bench_add(&s, 100.0 * (double)(treebed_cpu(treebed_lm(t, i)) - before[i]) /
				      (double)(bench_now() - begin));
	bench_print("lm.idle.cpu_percent", "%", &s, NULL);
	bench_done(&s);
	free(before);
}

static void bench_connect(void)
{
	struct bench_series s = { 0 };

	for (int i = 0; i < CONNECTS; i++) {
		int64_t begin = bench_now();

		treebed_connect();
		omis_finalize();
		bench_add(&s, 1e9 / (double)(bench_now() - begin));
	}
	bench_print("connect.rate", "1/s", &s, NULL);
	bench_done(&s);
}

int main(void)
{
	static const unsigned fans[] = { 8, 64, 256 }, rates[] = { 1, 8, 64 };
	struct treebed *t = treebed_start();

	treebed_grow(t, 1);
	bench_floor_rtt();
	bench_rtt();
	for (size_t i = 0; i < ARRAY_LEN(rates); i++)
		bench_rate(rates[i]);
	bench_connect();
	for (size_t i = 0; i < ARRAY_LEN(fans); i++) {
		treebed_grow(t, fans[i]);
		if (fans[i] == 64) {
			bench_memory(t, 64);
			bench_idle(t, 64);
		}
		bench_fanout(fans[i]);
	}
	treebed_stop(t);
	return 0;
}
