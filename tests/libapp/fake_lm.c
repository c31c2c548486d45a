/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for an lm that was started on demand. It writes its inputs (arguments, open files,
 * environment, signals, parent) to $FAKE_LM_OUT. It holds the lock until $FAKE_LM_OUT.stop exists.
 * It writes the number of registrations to $FAKE_LM_OUT.registered, then ends. At most 20 s.
 */
#include "common/ring/seg.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LISTEN_FD 4

extern char **environ;

static void write_fds(FILE *out)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	char link[512];

	while (d && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);

		link[n > 0 ? n : 0] = 0;
		if (n > 0 && !strstr(link, "/proc/") && !strstr(link, "/fd") &&
		    strtol(e->d_name, NULL, 10) != fileno(out))
			fprintf(out, "fd %s %s\n", e->d_name, link);
	}
	if (d)
		closedir(d);
}

static void write_signals(FILE *out)
{
	sigset_t mask;
	struct sigaction a;
	int blocked = 0, other = 0;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int s = 1; s < NSIG; s++) {
		blocked += sigismember(&mask, s) == 1;
		other += sigaction(s, NULL, &a) == 0 && a.sa_handler != SIG_DFL;
	}
	fprintf(out, "signals blocked %d handled %d\n", blocked, other);
}

static bool listens(void)
{
	int is_listening = 0;
	socklen_t n = sizeof(is_listening);

	return getsockopt(LISTEN_FD, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &n) == 0 &&
	       is_listening;
}

static bool is_registration(int conn)
{
	char room[CMSG_SPACE(sizeof(int))];
	struct seg_register reg;
	struct iovec iov = { &reg, sizeof(reg) };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof(room) };

	return recvmsg(conn, &m, MSG_DONTWAIT) == sizeof(reg) && reg.magic == SEG_REGISTER_MAGIC &&
	       m.msg_controllen > 0;
}

/* Counts the registrations that are queued after the programs have ended. */
static void write_registered(const char *path)
{
	FILE *out = fopen(path, "we");
	int n = 0, conn;

	while ((conn = accept4(LISTEN_FD, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		n += is_registration(conn);
		close(conn);
	}
	if (!out)
		return;
	fprintf(out, "%d\n", n);
	fclose(out);
}

/* Writes the schedule: nothing is inherited from the rank. */
static void write_schedule(FILE *out)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	fprintf(out, "processors %s\n", CPU_COUNT(&cpus) > 1 ? "many" : "one");
	fprintf(out, "policy %s\n", sched_getscheduler(0) == SCHED_OTHER ? "normal" : "other");
}

int main(int argc, char **argv)
{
	const char *path = getenv("FAKE_LM_OUT");
	struct timespec pause = { 0, 20000000 };
	char name[4096];
	FILE *out;

	if (!path)
		return 1;
	snprintf(name, sizeof(name), "%s.tmp", path);
	out = fopen(name, "we");
	if (!out)
		return 1;
	for (int i = 0; i < argc; i++)
		fprintf(out, "arg %d %s\n", i, argv[i]);
	fprintf(out, "preload %s\n", getenv("LD_PRELOAD") ? "yes" : "no");
	fprintf(out, "session %s\n", getsid(0) == getpid() ? "own" : "shared");
	fprintf(out, "lock %s\n", flock(3, LOCK_EX | LOCK_NB) == 0 ? "held" : strerror(errno));
	fprintf(out, "pid %d\n", (int)getpid());
	fprintf(out, "listens %s\n", listens() ? "yes" : "no");
	write_signals(out);
	write_schedule(out);
	write_fds(out);
	fclose(out);
	rename(name, path);
	snprintf(name, sizeof(name), "%s.stop", path);
	for (int i = 0; i < 1000 && access(name, F_OK) != 0; i++)
		nanosleep(&pause, NULL);
	snprintf(name, sizeof(name), "%s.registered", path);
	write_registered(name);
	return 0;
}
