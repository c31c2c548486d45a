/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_tools [TRIGGERS [RATE]]: many real tools through lm, sm and mainsm. Each tool has a csr on
 * the same event of a real rank. The event occurs RATE times a second until TRIGGERS replies are
 * due to all tools together. The results are the delay of each reply from the event's time stamp,
 * and the number of lost replies.
 */
#include "bench/treebed.h"
#include "common/base/clock.h"
#include "tools/libomis/omis.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOOLS 64
#define TRIGGERS 1000000
#define RATE 200 /* of the event: two slow processors can serve twice as many */
#define READY_NS (INT64_C(30) * 1000000000)
#define LAST_NS (INT64_C(10) * 1000000000) /* without a reply for this time a tool ends */

/* The counts of a tool; the parent reads them when the tool has ended. */
struct seen {
	unsigned n, dropped; /* triggers; those that the monitor reports as dropped */
	float us[]; /* one for each call */
};

struct bench {
	unsigned calls;
	size_t seen_bytes;
	char *memory; /* shared: TOOLS of struct seen */
	pid_t tool[TOOLS];
	int go[2], ready[2], over[2]; /* pipes; go and over signal by being closed */
};

static struct seen *seen_of(const struct bench *b, unsigned tool)
{
	return (struct seen *)(void *)(b->memory + tool * b->seen_bytes);
}

/* --- a tool */

struct tool {
	struct seen *seen;
	unsigned calls;
	int ready;
};

static void take_trigger(struct tool *t, Omis_reply r)
{
	const char *dropped = r[0]->result ? strstr(r[0]->result, "\"dropped\",") : NULL;
	const char *time = r[1] && r[1]->result ? strchr(r[1]->result, ',') : NULL; /* "1,TIME" */
	double now = (double)clock_wall() / 1e9; /* one machine, one clock */

	if (dropped)
		t->seen->dropped += (unsigned)strtoul(dropped + strlen("\"dropped\","), NULL, 10);
	if (time && t->seen->n < t->calls)
		t->seen->us[t->seen->n++] = (float)((now - strtod(time + 1, NULL)) * 1e6);
}

static void on_enabled(Omis_reply r, void *arg)
{
	struct tool *t = arg;
	char c = 0;

	if (omis_reply_status(r) >= OMIS_FIRST_ERROR || write(t->ready, &c, 1) != 1)
		_exit(1);
	omis_reply_free(r);
}

static void on_reply(Omis_reply r, void *arg)
{
	char text[128];

	if (r[0]->status >= OMIS_FIRST_ERROR)
		_exit(1);
	if (r[0]->status == OMIS_CSR_TRIGGERED)
		take_trigger(arg, r);
	if (r[0]->status == OMIS_CSR_DEFINED) {
		snprintf(text, sizeof(text), ":csr_enable([%s])", r[0]->result);
		omis_reply_free(omis_request(text, on_enabled, arg, 0));
	}
	omis_reply_free(r);
}

static void attach_all(void)
{
	static const char text[] = ":site_attach([]) node_attach([]) proc_attach([])";

	treebed_connect();
	omis_reply_free(treebed_ask(text));
}

static _Noreturn void tool(const struct bench *b, unsigned number)
{
	char event[] = "thread_has_started_lib_call([],\"MPI_Iprobe\"): print([$time])";
	struct tool t = { seen_of(b, number), b->calls, b->ready[1] };
	struct pollfd p[2] = { { .fd = b->over[0], .events = POLLIN } };
	int64_t last = bench_now();

	close(b->go[1]);
	close(b->over[1]);
	attach_all();
	if (omis_request(event, on_reply, &t, 0))
		_exit(1);
	p[1] = (struct pollfd){ .fd = omis_fd(), .events = POLLIN };
	while (t.seen->n + t.seen->dropped < b->calls && bench_now() - last < LAST_NS) {
		unsigned before = t.seen->n;

		poll(p + (p[0].revents != 0), p[0].revents ? 1 : 2, 100);
		omis_handler();
		if (t.seen->n != before || !p[0].revents)
			last = bench_now();
	}
	omis_finalize();
	_exit(0);
}

/* --- the bench */

static void wait_for_rank(void)
{
	static const char text[] =
		":site_attach([]) node_attach([]) proc_attach([]) ; proc_get_info([],1)";
	int64_t until = bench_now() + READY_NS;

	treebed_connect();
	for (bool is_there = false; !is_there; poll(NULL, 0, 50)) {
		Omis_reply r = treebed_ask(text);

		is_there = r[0] && r[1] && r[2] && r[3] && r[4] && r[4]->result;
		omis_reply_free(r);
		if (bench_now() > until)
			bench_fail("the rank is not seen");
	}
	omis_finalize();
}

static void start_tools(struct bench *b)
{
	char c;

	for (unsigned i = 0; i < TOOLS; i++) {
		b->tool[i] = fork();
		if (b->tool[i] == 0)
			tool(b, i);
		if (read(b->ready[0], &c, 1) != 1)
			bench_fail("a tool did not start");
	}
}

static void report(const struct bench *b, double took_s)
{
	struct bench_series s = { 0 };
	double dropped = 0, due = (double)b->calls * TOOLS;

	for (unsigned i = 0; i < TOOLS; i++) {
		const struct seen *seen = seen_of(b, i);

		dropped += seen->dropped;
		for (unsigned k = 0; k < seen->n; k++)
			bench_add(&s, (double)seen->us[k] / 1e3);
	}
	bench_print_value("tools.64.triggers", "triggers", due, NULL);
	bench_print_value("tools.64.rate", "1/s", due / took_s, NULL);
	bench_print("tools.64.action.p50.ms", "ms", &s, NULL);
	bench_print_quantile("tools.64.action.p99.ms", "ms", &s, 0.99, NULL);
	bench_print_value("tools.64.limited", "triggers", dropped, NULL);
	bench_print_value("tools.64.lost", "triggers", due - (double)s.n - dropped, NULL);
	bench_done(&s);
}

static pid_t start_rank(struct bench *b, const struct treebed *t, unsigned rate)
{
	char calls[16], per_second[16];
	const char *argv[] = { "bench-rank", calls, per_second, NULL };
	pid_t pid;

	snprintf(calls, sizeof(calls), "%u", b->calls);
	snprintf(per_second, sizeof(per_second), "%u", rate);
	if (pipe2(b->go, O_CLOEXEC) || pipe(b->ready) || pipe(b->over))
		bench_fail("no pipe");
	pid = treebed_program(t, 0, argv, b->go[0]);
	wait_for_rank();
	return pid;
}

static void end_of(pid_t pid, const char *what)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		bench_fail("%s failed", what);
}

int main(int argc, char **argv)
{
	unsigned due = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : TRIGGERS;
	unsigned rate = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : RATE;
	struct bench b = { .calls = due / TOOLS };
	struct treebed *t = treebed_start();
	int64_t begin;
	pid_t rank;

	b.seen_bytes = sizeof(struct seen) + b.calls * sizeof(float);
	b.memory = mmap(NULL, TOOLS * b.seen_bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (b.memory == MAP_FAILED)
		bench_fail("out of memory");
	treebed_grow(t, 1);
	rank = start_rank(&b, t, rate);
	start_tools(&b);
	begin = bench_now();
	close(b.go[1]);
	end_of(rank, "the rank");
	begin = bench_now() - begin;
	close(b.over[1]);
	for (unsigned i = 0; i < TOOLS; i++)
		end_of(b.tool[i], "a tool");
	report(&b, (double)begin / 1e9);
	treebed_stop(t);
	return 0;
}
