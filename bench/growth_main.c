/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growth of the hierarchy with the number of hosts, with real daemons over TLS; takes minutes.
 * First, the cost of one request to every host: time, messages and bytes at the top, processor time
 * of the inner daemons. Then the cost of idle hosts, and the time of their return after the death
 * of their sm. Last, the cost of a tool that does not read.
 */
#include "bench/floor_tree.h"
#include "bench/treebed.h"
#include "common/base/array.h"
#include "tools/libomis/omis.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAVES 60
#define IDLE_HOSTS 2000
#define IDLE_MS 20000
#define STACKED_HOSTS 256
#define STUCK_TOOLS 4
#define STUCK_REQUESTS 20000
#define FILES_MAX 8192 /* links of the daemons, which inherit the limit */

static const char attach_all[] = ":site_attach([]) node_attach([])";
static const char one_value[] = ":node_get_info([],1)";

#define LEVELS_MAX 8

/* Traffic of the links to parents, by the counters of the sms: [1] from the sm of the site to
 * mainsm. */
struct traffic {
	double frames[LEVELS_MAX], bytes[LEVELS_MAX];
	unsigned levels; /* of sms */
};

static void connect_tool(void)
{
	treebed_connect();
	omis_request_policy(OMIS_WAIT_ALL, 0, 20000);
	omis_reply_free(treebed_ask(attach_all));
}

static void add_traffic(struct traffic *t, const Omis_object_result *o)
{
	Omis_value *v = o->result ? omis_value_parse(o->result, o->result_len) : NULL;

	if (v && v->n && v->list[0].kind == OMIS_VALUE_STRING && !strcmp(v->list[0].s, "sm")) {
		unsigned level = (unsigned)treebed_fact(v, "level");

		if (level >= LEVELS_MAX)
			bench_fail("an sm on level %u", level);
		t->frames[level] += treebed_fact(v, "parent_frames_out");
		t->bytes[level] += treebed_fact(v, "parent_bytes_out");
		t->levels = level > t->levels ? level : t->levels;
	}
	omis_value_free(v);
}

static struct traffic traffic(void)
{
	Omis_reply r = treebed_ask(":omig_status()");
	struct traffic t = { 0 };

	for (int k = 0; r[0] && r[1] && r[1][k].obj_list; k++)
		add_traffic(&t, &r[1][k]);
	omis_reply_free(r);
	return t;
}

static double wave_us(unsigned hosts)
{
	int64_t begin = bench_now(), took;
	Omis_reply r = treebed_ask(one_value);
	Omis_coverage c = { 0 };

	took = bench_now() - begin;
	omis_reply_coverage(r, &c);
	if (c.answered != hosts)
		bench_fail("%u of %u hosts answered", c.answered, hosts);
	omis_reply_free(r);
	return (double)took / 1e3;
}

static double cpu_us(pid_t pid)
{
	return (double)treebed_cpu(pid) / 1e3;
}

static const char *named(const char *what, unsigned n, const char *unit)
{
	static char name[64];

	snprintf(name, sizeof(name), "growth.%s.%u.%s", what, n, unit);
	return name;
}

static void bench_floor(unsigned n)
{
	struct floor_tree *t = floor_tree_start(n);
	struct bench_series s = { 0 };

	for (int i = 0; i < WAVES; i++)
		bench_add(&s, (double)floor_tree_wave(t) / 1e3);
	bench_print(named("floor", n, "us"), "us", &s, NULL);
	bench_done(&s);
	floor_tree_stop(t);
}

static void print_each(const char *what, unsigned n, const char *unit, double sum)
{
	bench_print_value(named(what, n, unit), unit, sum / WAVES, NULL);
}

static void bench_size(const struct treebed *t, unsigned n)
{
	pid_t top = treebed_mainsm(t), sm = treebed_sm(t);
	struct bench_series s = { 0 };
	struct traffic before, after;
	double cpu_top, cpu_sm;
	char floor[64];

	bench_floor(n);
	snprintf(floor, sizeof(floor), "%s", named("floor", n, "us"));
	connect_tool();
	wave_us(n);
	before = traffic();
	cpu_top = cpu_us(top);
	cpu_sm = cpu_us(sm);
	for (int i = 0; i < WAVES; i++)
		bench_add(&s, wave_us(n));
	cpu_top = cpu_us(top) - cpu_top;
	cpu_sm = cpu_us(sm) - cpu_sm;
	after = traffic();
	omis_finalize();
	bench_print(named("fanout.p50", n, "us"), "us", &s, floor);
	bench_print_quantile(named("fanout.p99", n, "us"), "us", &s, 0.99, NULL);
	print_each("top", n, "frames", after.frames[1] - before.frames[1]);
	print_each("top", n, "bytes", after.bytes[1] - before.bytes[1]);
	print_each("mainsm.cpu", n, "us", cpu_top);
	print_each("sm.cpu", n, "us", cpu_sm);
	bench_done(&s);
}

/* k sms below that of the site, k * k hosts below them: a request, and the death of one of
 * the k. */
static void bench_stacked(unsigned k)
{
	struct treebed *t = treebed_start();
	struct bench_series s = { 0 };
	struct traffic before, after;
	unsigned n = k * k;
	double cpu;

	treebed_stack(t, k);
	treebed_grow(t, n);
	connect_tool();
	wave_us(n);
	before = traffic();
	cpu = cpu_us(treebed_sm(t));
	for (int i = 0; i < WAVES; i++)
		bench_add(&s, wave_us(n));
	cpu = cpu_us(treebed_sm(t)) - cpu;
	after = traffic();
	omis_finalize();
	bench_print(named("stacked.fanout.p50", n, "us"), "us", &s, NULL);
	bench_done(&s);
	bench_print_value(named("stacked.levels", n, "sms"), "sms", after.levels, NULL);
	print_each("stacked.top", n, "frames", after.frames[1] - before.frames[1]);
	print_each("stacked.site", n, "frames", after.frames[2] - before.frames[2]);
	print_each("stacked.sm.cpu", n, "us", cpu);
	kill(treebed_below(t, 0), SIGKILL);
	bench_print_value(named("stacked.back_after_kill", n, "s"), "s",
			  (double)treebed_wait(n) / 1e9, NULL);
	treebed_stop(t);
}

/* Waits until all hosts answer again. mainsm restarts the sm when the first host requests one. */
static void bench_storm(const struct treebed *t, unsigned n)
{
	pid_t sm = treebed_sm(t);

	if (!sm || kill(sm, SIGKILL))
		bench_fail("there is no sm to be killed");
	bench_print_value(named("back_after_kill", n, "s"), "s", (double)treebed_wait(n) / 1e9,
			  NULL);
}

static void bench_idle(const struct treebed *t, unsigned n)
{
	pid_t top = treebed_mainsm(t), sm = treebed_sm(t);
	double cpu_top, cpu_sm, us;
	int64_t begin;

	poll(NULL, 0, 3000); /* work that the start left */
	begin = bench_now();
	cpu_top = cpu_us(top);
	cpu_sm = cpu_us(sm);
	poll(NULL, 0, IDLE_MS);
	us = (double)(bench_now() - begin) / 1e3;
	bench_print_value(named("idle.sm", n, "percent"), "%", 100 * (cpu_us(sm) - cpu_sm) / us,
			  NULL);
	bench_print_value(named("idle.mainsm", n, "percent"), "%",
			  100 * (cpu_us(top) - cpu_top) / us, NULL);
}

static double rss_mib(pid_t pid)
{
	char path[64], line[256];
	double kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmRSS:", 6))
			kib = strtod(line + 6, NULL);
	if (f)
		fclose(f);
	return kib / 1024;
}

static void on_reply_ignored(Omis_reply r, void *param)
{
	omis_reply_free(r);
}

/* After the signal the tool sends requests, and reads nothing. */
static _Noreturn void stuck_tool(int ready, int go)
{
	static const char many[] = ":node_get_info([],8191)";
	char c = 0;

	connect_tool();
	if (write(ready, &c, 1) != 1 || read(go, &c, 1) < 0)
		_exit(1);
	for (int i = 0; i < STUCK_REQUESTS; i++)
		omis_request_n(many, strlen(many), on_reply_ignored, NULL, OMIS_BUFFER_REQUEST);
	omis_request_n(many, strlen(many), on_reply_ignored, NULL, 0);
	raise(SIGSTOP);
	_exit(0);
}

static void bench_stuck(const struct treebed *t)
{
	double before, most = 0;
	pid_t pid[STUCK_TOOLS];
	int ready[2], go[2];
	char c;

	if (pipe(ready) || pipe(go))
		bench_fail("no pipe");
	for (int i = 0; i < STUCK_TOOLS; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			close(go[1]);
			stuck_tool(ready[1], go[0]);
		}
		if (read(ready[0], &c, 1) != 1)
			bench_fail("a tool did not start");
	}
	before = rss_mib(treebed_mainsm(t));
	close(go[1]);
	for (int i = 0; i < 150; i++) {
		double now = rss_mib(treebed_mainsm(t)) - before;

		most = now > most ? now : most;
		poll(NULL, 0, 100);
	}
	for (int i = 0; i < STUCK_TOOLS; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	bench_print_value("growth.stuck_tool.mib", "MiB", most / STUCK_TOOLS, NULL);
}

static void allow_many_files(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return;
	if (r.rlim_cur < FILES_MAX)
		r.rlim_cur = r.rlim_max < FILES_MAX ? r.rlim_max : FILES_MAX;
	setrlimit(RLIMIT_NOFILE, &r);
}

int main(int argc, char **argv)
{
	static const unsigned sizes[] = { 16, 64, 256, 1024 };
	unsigned most = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : IDLE_HOSTS, n = 0;
	struct treebed *t;

	allow_many_files();
	t = treebed_start();
	for (size_t i = 0; i < ARRAY_LEN(sizes) && sizes[i] <= most; i++) {
		n = sizes[i];
		treebed_grow(t, n);
		bench_size(t, n);
		if (n == 64)
			bench_stuck(t);
	}
	bench_storm(t, n);
	if (most > n)
		treebed_grow(t, most);
	bench_idle(t, most);
	treebed_stop(t);
	for (n = 4; n * n * 4 <= most && n * n * 4 <= STACKED_HOSTS;)
		n *= 2;
	bench_stacked(n);
	return 0;
}
