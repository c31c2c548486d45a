/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cmd/log/run_record.h"

#include "common/base/clock.h"
#include "tools/cmd/log/run_board.h"
#include "tools/events/subscription.h"
#include "tools/launch/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define READY_MS 2000 /* mainsm and its hosts need milliseconds */
#define END_MAX_NS (10 * NSEC_PER_SEC) /* longest delay of the command's end */

static volatile sig_atomic_t ends;
static int ready_fd = -1;

static void on_end(int signal)
{
	(void)signal;
	ends++;
}

static void on_ready(void)
{
	if (ready_fd < 0)
		return;
	close(ready_fd); /* the reader sees the end of the pipe */
	ready_fd = -1;
}

/* The keyboard's signals are for the program; this process ends by SIGUSR1. */
static int record(const struct run_record *r)
{
	char own_events[] = "own", *names[] = { own_events, NULL };
	struct subscription_options w = { .common = CMD_COMMON_INIT,
					  .names = names,
					  .job = r->job,
					  .to = r->path,
					  .when_full = SUBSCRIPTION_WHEN_FULL,
					  .on_ready = on_ready,
					  .signals = &ends };
	struct sigaction end = { .sa_handler = on_end };
	sigset_t own;

	sigaction(SIGUSR1, &end, NULL);
	sigemptyset(&own);
	sigaddset(&own, SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &own, NULL);
	w.common.mainsm = r->mainsm;
	return subscription_run(&w);
}

static void be_recorder(const struct run_record *r, int ready, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	if (getppid() != parent)
		_exit(CMD_FAILURE);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	ready_fd = ready;
	_exit(record(r));
}

/* A log of an earlier run is replaced; anything that is not a file stays. */
static void remove_old(const char *path)
{
	struct stat st;

	if (!lstat(path, &st) && S_ISREG(st.st_mode))
		unlink(path);
}

/* Blocks until its events are on, for READY_MS at most. */
static pid_t start_recorder(const struct run_record *r)
{
	struct pollfd p = { .events = POLLIN };
	pid_t self = getpid(), pid;
	int pipe[2];

	remove_old(r->path);
	if (pipe2(pipe, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(pipe[0]);
		be_recorder(r, pipe[1], self);
	}
	close(pipe[1]);
	p.fd = pipe[0];
	if (pid > 0)
		poll(&p, 1, READY_MS);
	close(pipe[0]);
	return pid;
}

/* Blocks for END_MAX_NS at most. */
static void end_recorder(const struct run_record *r, pid_t pid)
{
	kill(pid, SIGUSR1);
	if (supervise_end_child(pid, END_MAX_NS) != CMD_OK)
		cmd_warn("%s is not complete", r->path);
}

/* The events of processes come behind all others. */
static void end_all(const struct run_record *r, pid_t recorder)
{
	if (recorder > 0)
		end_recorder(r, recorder);
	else
		cmd_warn("no interactions: no process for them");
	if (r->board)
		run_board_end(r->board, END_MAX_NS);
	if (!access(r->path, R_OK))
		fprintf(stderr, "omig: interactions: omig interaction path %s\n", r->path);
}

void run_record(const struct run_record *r, int (*become)(void *arg), void *arg)
{
	struct supervised s = { 0 };
	pid_t recorder;
	int status;

	supervise_begin(&s);
	recorder = start_recorder(r);
	if (r->board)
		run_board_start(r->board, r->job, r->path);
	if (supervise_start(&s, become, arg)) {
		cmd_warn("no interactions: %s", strerror(errno));
		end_all(r, recorder);
		return;
	}
	status = supervise_wait(&s);
	end_all(r, recorder);
	supervise_end(status);
}
