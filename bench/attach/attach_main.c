/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_attach [RUNS]: 64 ranks that run unwatched are attached, by the code of lm-trace in this
 * process: until all slots are turned, until libomig has entered all ranks, and the longest stop
 * of any rank. The floor stops and resumes each of the same processes once, with nothing between.
 * Ranks wait most of the time, or all of them compute, on the processors that are here. With more
 * ranks than processors a stop contains the wait for one.
 */
#include "bench/bench.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "tracer/enter.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANKS 64
#define RUNS 7
#define READY_NS (60 * NSEC_PER_SEC)

struct crowd {
	char program[FILE_PATH_BYTES], library[FILE_PATH_BYTES], enough[64];
	struct loop *loop;
	struct line *line;
	struct tracees *tracees;
	int out; /* of all ranks */
	pid_t rank[RANKS];
};

struct figures {
	struct bench_series floor, floor_stop, armed, stop, entered, refused;
};

static void ignore_msg(void *arg, const struct tracer_msg *m)
{
}

static void ignore_end(void *arg, const char *why)
{
}

static void open_tracer(struct crowd *c)
{
	struct err e = { 0 };
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
		bench_fail("no socket pair");
	c->loop = loop_new();
	if (!c->loop ||
	    line_open(&(struct line_conf){ c->loop, fd[0], ignore_msg, ignore_end, NULL }, &c->line,
		      &e) ||
	    tracees_open(c->loop, c->line, &c->tracees, &e))
		bench_fail("%s", e.text);
}

static void find_files(struct crowd *c)
{
	struct err e = { 0 };

	if (file_beside_program(c->program, "../tests/system/entered", &e) ||
	    file_beside_program(c->library, "../lib/libomig.so", &e))
		bench_fail("%s", e.text);
	snprintf(c->enough, sizeof(c->enough), "/tmp/omig-bench-attach-%d", (int)getpid());
}

/* --- the ranks */

static void start_rank(struct crowd *c, int i, const char *how, int out)
{
	c->rank[i] = fork();
	if (c->rank[i] < 0)
		bench_fail("no process");
	if (c->rank[i])
		return;
	if (dup2(out, STDOUT_FILENO) >= 0)
		execl(c->program, c->program, how, c->enough, (char *)NULL);
	_exit(127);
}

/* Each rank prints a line once its libraries are relocated. */
static void wait_until_ready(int in)
{
	nsec_t end = clock_mono() + READY_NS;
	struct pollfd p = { .fd = in, .events = POLLIN };
	char some[RANKS];
	int ready = 0;

	while (ready < RANKS) {
		nsec_t left = end - clock_mono();
		ssize_t n = left > 0 && poll(&p, 1, (int)(left / NSEC_PER_MSEC)) > 0
				    ? read(in, some, sizeof(some))
				    : 0;

		if (n <= 0)
			bench_fail("a rank does not start");
		for (ssize_t i = 0; i < n; i++)
			ready += some[i] == '\n';
	}
}

static void start_ranks(struct crowd *c, const char *how)
{
	int fd[2];

	unlink(c->enough);
	if (pipe2(fd, O_CLOEXEC) < 0)
		bench_fail("no pipe");
	for (int i = 0; i < RANKS; i++)
		start_rank(c, i, how, fd[1]);
	close(fd[1]);
	wait_until_ready(fd[0]);
	c->out = fd[0];
}

/* Each rank checks its own results. */
static void end_ranks(struct crowd *c)
{
	int fd = open(c->enough, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), status;

	close(fd);
	loop_wait(c->loop, NSEC_PER_MSEC);
	for (int i = 0; i < RANKS; i++) {
		status = 0;
		if (waitpid(c->rank[i], &status, 0) == c->rank[i] && status)
			bench_fail("a rank ended with status %x", (unsigned)status);
	}
	close(c->out);
	unlink(c->enough);
}

/* --- figures */

/* Returns the time for which the process was stopped, at most. */
static int64_t stop_once(pid_t pid)
{
	int64_t begin;
	int status;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		bench_fail("the kernel does not let us trace: kernel.yama.ptrace_scope");
	begin = bench_now();
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	if (waitpid(pid, &status, __WALL) != pid)
		bench_fail("a rank has ended");
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return bench_now() - begin;
}

static void measure_floor(const struct crowd *c, struct figures *f)
{
	int64_t begin = bench_now(), longest = 0;

	for (int i = 0; i < RANKS; i++) {
		int64_t took = stop_once(c->rank[i]);

		longest = took > longest ? took : longest;
	}
	bench_add(&f->floor, (double)(bench_now() - begin) / 1e6);
	bench_add(&f->floor_stop, (double)longest / 1e6);
}

static bool is_open(const struct crowd *c, int i)
{
	const struct who w = { c->rank[i], c->rank[i], who_start(c->rank[i]) };
	struct enter_result r;

	return !enter_look(&w, &r, NULL) && r.state == GATE_OPEN;
}

static void wait_until_open(const struct crowd *c, const bool *is_armed)
{
	nsec_t end = clock_mono() + READY_NS;

	for (int i = 0; i < RANKS; i++)
		while (is_armed[i] && !is_open(c, i)) {
			if (clock_mono() > end)
				bench_fail("libomig does not enter a rank");
			loop_wait(c->loop, NSEC_PER_MSEC);
		}
}

static void measure_attach(struct crowd *c, struct figures *f)
{
	const struct enter_conf conf = { c->library, "omig1:lm:0:0123", "/nonexistent", "bench" };
	int64_t begin = bench_now(), refused = 0;
	bool is_armed[RANKS];
	nsec_t longest = 0;

	for (int i = 0; i < RANKS; i++) {
		const struct who w = { c->rank[i], c->rank[i], who_start(c->rank[i]) };
		struct enter_result r;
		struct err e = { 0 };

		is_armed[i] = !enter_arm(c->tracees, &w, &conf, &r, &e);
		refused += !is_armed[i];
		longest = r.stopped > longest ? r.stopped : longest;
	}
	bench_add(&f->armed, (double)(bench_now() - begin) / 1e6);
	wait_until_open(c, is_armed);
	bench_add(&f->entered, (double)(bench_now() - begin) / 1e6);
	bench_add(&f->stop, (double)longest / 1e6);
	bench_add(&f->refused, (double)refused);
}

static void print(const char *how, struct figures *f)
{
	char name[64], floor[64];

	snprintf(floor, sizeof(floor), "attach.%s.floor.ms", how);
	bench_print(floor, "ms", &f->floor, NULL);
	snprintf(name, sizeof(name), "attach.%s.prepared.ms", how);
	bench_print(name, "ms", &f->armed, floor);
	snprintf(name, sizeof(name), "attach.%s.entered.ms", how);
	bench_print(name, "ms", &f->entered, floor);
	snprintf(floor, sizeof(floor), "attach.%s.floor.stop.ms", how);
	bench_print(floor, "ms", &f->floor_stop, NULL);
	snprintf(name, sizeof(name), "attach.%s.stop.ms", how);
	bench_print(name, "ms", &f->stop, floor);
	snprintf(name, sizeof(name), "attach.%s.refused", how);
	bench_print(name, "ranks", &f->refused, NULL);
}

static void measure(struct crowd *c, const char *how, const char *name, long runs)
{
	struct figures f = { 0 };

	for (long i = 0; i < runs; i++) {
		start_ranks(c, how);
		measure_floor(c, &f);
		measure_attach(c, &f);
		end_ranks(c);
	}
	print(name, &f);
	bench_done(&f.floor);
	bench_done(&f.floor_stop);
	bench_done(&f.armed);
	bench_done(&f.stop);
	bench_done(&f.entered);
	bench_done(&f.refused);
}

int main(int argc, char **argv)
{
	long runs = argc > 1 ? strtol(argv[1], NULL, 10) : RUNS;
	struct crowd c = { 0 };

	find_files(&c);
	open_tracer(&c);
	measure(&c, "plain", "waiting", runs > 0 ? runs : RUNS);
	measure(&c, "computes", "computing", runs > 0 ? runs : RUNS);
	tracees_close(c.tracees);
	line_close(c.line);
	loop_free(c.loop);
	return 0;
}
