/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/treebed.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_BYTES 512
#define CONN_BYTES 1024
#define READY_MAX_NS (INT64_C(60) * 1000000000)
#define READY_EACH_NS (INT64_C(100) * 1000000) /* a host enrols in a tenth of it */
#define STOP_MAX_NS (INT64_C(5) * 1000000000)

struct treebed {
	char dir[PATH_BYTES], bin[PATH_BYTES], conn[CONN_BYTES];
	pid_t mainsm;
	pid_t *lm, *below;
	unsigned n, nbelow;
};

/* The programs are in $B/bin, or beside the benchmark itself. */
static void find_programs(struct treebed *t)
{
	const char *b = getenv("B");
	char self[PATH_BYTES - 16];
	ssize_t n;

	if (b) {
		snprintf(t->bin, sizeof(t->bin), "%s/bin", b);
		return;
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0)
		bench_fail("no /proc/self/exe");
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(t->bin, sizeof(t->bin), "%s", self);
}

static void set_environment(const struct treebed *t)
{
	char runtime[PATH_BYTES + 16];

	snprintf(runtime, sizeof(runtime), "%s/run", t->dir);
	setenv("OMIG_STATE_DIR", t->dir, 1);
	setenv("OMIG_RUNTIME_DIR", runtime, 1);
	setenv("OMIG_SITE", "bench", 1);
}

static _Noreturn void run(const struct treebed *t, const char *const argv[])
{
	char path[PATH_BYTES + 32];

	snprintf(path, sizeof(path), "%s/%s", t->bin, argv[0]);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	execv(path, (char *const *)argv); /* execv() does not modify it */
	bench_fail("cannot start %s", path);
}

/* Reads the first line of output of a started program. */
static void read_line(int fd, char *out, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t used = 0;
	ssize_t n;

	while (used < size - 1 && !memchr(out, '\n', used)) {
		if (poll(&p, 1, 20000) != 1)
			bench_fail("a program was not ready in time");
		n = read(fd, out + used, size - 1 - used);
		if (n <= 0)
			bench_fail("a program did not start");
		used += (size_t)n;
	}
	out[used] = '\0';
	out[strcspn(out, "\n")] = '\0';
	close(fd);
}

/* Starts a program with its output in a pipe; *line is the first line. */
static pid_t run_for_line(const struct treebed *t, const char *const argv[], char *line,
			  size_t size)
{
	int out[2];
	pid_t pid;

	if (pipe(out))
		bench_fail("no pipe");
	pid = fork();
	if (pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		run(t, argv);
	}
	close(out[1]);
	read_line(out[0], line, size);
	return pid;
}

struct treebed *treebed_start(void)
{
	const char *argv[] = { "mainsm", "--foreground", "--log-level=error", NULL };
	struct treebed *t = calloc(1, sizeof(*t));

	if (!t)
		bench_fail("out of memory");
	snprintf(t->dir, sizeof(t->dir), "/tmp/omig-bench.XXXXXX");
	if (!mkdtemp(t->dir))
		bench_fail("no folder in /tmp");
	find_programs(t);
	set_environment(t);
	t->mainsm = run_for_line(t, argv, t->conn, sizeof(t->conn));
	setenv("OMIG_MAINSM", t->conn, 1);
	return t;
}

static void be_called(unsigned i)
{
	char host[32];
	int n = snprintf(host, sizeof(host), "bench%u", i);

	if (unshare(CLONE_NEWUTS) && unshare(CLONE_NEWUSER | CLONE_NEWUTS))
		bench_fail("no UTS namespace: many lms on one machine need a host name each");
	if (sethostname(host, (size_t)n))
		bench_fail("cannot set a host name");
}

pid_t treebed_program(const struct treebed *t, unsigned i, const char *const argv[], int in)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (in >= 0)
		dup2(in, STDIN_FILENO);
	be_called(i);
	run(t, argv);
}

static pid_t start_lm(const struct treebed *t, unsigned i)
{
	const char *argv[] = { "lm", "--foreground", "--log-level=error", "--linger=1h", NULL };

	return treebed_program(t, i, argv, -1);
}

/* The first process of a host; it ends with its lm and its programs. */
static _Noreturn void be_host(const struct treebed *t, unsigned i, const char *const argv[],
			      unsigned n)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("proc", "/proc", "proc", 0, NULL))
		bench_fail("no /proc for a host of its own");
	be_called(i);
	start_lm(t, i);
	for (unsigned k = 0; k < n; k++)
		if (fork() == 0)
			run(t, argv);
	while (wait(NULL) > 0)
		continue;
	_exit(0);
}

void treebed_host(struct treebed *t, const char *site, const char *const argv[], unsigned n)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("OMIG_SITE", site, 1);
		if (unshare(CLONE_NEWPID | CLONE_NEWNS))
			bench_fail("no PID namespace: a host sees its own processes only");
		pid = fork();
		if (pid == 0)
			be_host(t, t->n, argv, n);
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	t->lm = reallocarray(t->lm, t->n + 1, sizeof(*t->lm));
	if (!t->lm)
		bench_fail("out of memory");
	t->lm[t->n++] = pid;
}

const char *treebed_path(const struct treebed *t, const char *name)
{
	static char path[PATH_BYTES + 64];

	snprintf(path, sizeof(path), "%s/%s", t->dir, name);
	return path;
}

static pid_t start_below(const struct treebed *t)
{
	const char *argv[] = { "sm",
			       "--foreground",
			       "--log-level=error",
			       "--site=bench",
			       "--parent=site",
			       "--linger=0",
			       NULL };
	pid_t pid = fork();

	if (!pid)
		run(t, argv);
	return pid;
}

/* The number of daemons that report this many sms below them, over all. */
static unsigned sms_below(void)
{
	static const char status[] = ":site_attach([]) ; omig_status()";
	Omis_reply r = omis_request_n(status, strlen(status), NULL, NULL, 0);
	unsigned n = 0;

	for (int i = 0; r && r[i] && i < 3; i++)
		for (int k = 0; i == 2 && r[i][k].obj_list; k++) {
			const char *at =
				r[i][k].result ? strstr(r[i][k].result, "[\"sms\",") : NULL;

			n += at ? (unsigned)strtoul(at + 7, NULL, 10) : 0;
		}
	omis_reply_free(r);
	return n;
}

void treebed_stack(struct treebed *t, unsigned k)
{
	int64_t until = bench_now() + READY_MAX_NS + k * READY_EACH_NS;
	const char *argv[] = { "omig", "cert", "token", "sm", "--uses", "100", NULL };
	char token[CONN_BYTES];

	t->below = calloc(k, sizeof(*t->below));
	if (!t->below)
		bench_fail("out of memory");
	waitpid(run_for_line(t, argv, token, sizeof(token)), NULL, 0);
	setenv("OMIG_MAINSM", token, 1);
	for (; t->nbelow < k; t->nbelow++)
		t->below[t->nbelow] = start_below(t);
	setenv("OMIG_MAINSM", t->conn, 1);
	while (omis_init(NULL, NULL, NULL, NULL) != OMIS_OK)
		if (bench_now() > until)
			bench_fail("%s", omis_last_error());
	while (sms_below() < k) {
		if (bench_now() > until)
			bench_fail("only %u of %u sms stand below", sms_below(), k);
		poll(NULL, 0, 100);
	}
	omis_finalize();
}

pid_t treebed_below(const struct treebed *t, unsigned i)
{
	return t->below[i];
}

static unsigned hosts_answering(void)
{
	static const char attach[] = ":site_attach([]) node_attach([]) ; node_get_info([],1)";
	Omis_reply r = omis_request_n(attach, strlen(attach), NULL, NULL, 0);
	Omis_coverage c = { 0 };
	unsigned n = 0;

	omis_reply_coverage(r, &c);
	for (int i = 0; r && r[i] && i < 4; i++)
		for (int k = 0; i == 3 && r[i][k].obj_list; k++)
			n += r[i][k].status == OMIS_OK && *r[i][k].obj_list;
	omis_reply_free(r);
	return n;
}

int64_t treebed_wait(unsigned n)
{
	int64_t begin = bench_now(), until = begin + READY_MAX_NS + n * READY_EACH_NS;

	while (omis_init(NULL, NULL, NULL, NULL) != OMIS_OK)
		if (bench_now() > until)
			bench_fail("%s", omis_last_error());
	while (hosts_answering() < n) {
		if (bench_now() > until)
			bench_fail("only %u of %u lms answered in time", hosts_answering(), n);
		poll(NULL, 0, 50);
	}
	omis_finalize();
	return bench_now() - begin;
}

void treebed_grow(struct treebed *t, unsigned n)
{
	t->lm = reallocarray(t->lm, n, sizeof(*t->lm));
	if (!t->lm)
		bench_fail("out of memory");
	for (; t->n < n; t->n++)
		t->lm[t->n] = start_lm(t, t->n);
	treebed_wait(n);
}

pid_t treebed_lm(const struct treebed *t, unsigned i)
{
	return t->lm[i];
}

pid_t treebed_mainsm(const struct treebed *t)
{
	return t->mainsm;
}

/* True if the process is an sm of this benchmark's monitor. */
static bool is_our_sm(const struct treebed *t, const char *pid)
{
	char path[PATH_BYTES], text[64 * 1024], want[PATH_BYTES + 32];
	FILE *f;
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	f = fopen(path, "re");
	if (f) {
		n = fread(text, 1, 16, f);
		fclose(f);
	}
	if (n != 3 || memcmp(text, "sm\n", 3))
		return false;
	snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
	f = fopen(path, "re");
	n = f ? fread(text, 1, sizeof(text), f) : 0;
	if (f)
		fclose(f);
	snprintf(want, sizeof(want), "OMIG_STATE_DIR=%s", t->dir);
	return memmem(text, n, want, strlen(want) + 1);
}

static bool is_below(const struct treebed *t, pid_t pid)
{
	for (unsigned i = 0; i < t->nbelow; i++)
		if (t->below[i] == pid)
			return true;
	return false;
}

pid_t treebed_sm(const struct treebed *t)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	pid_t pid = 0;

	while (d && !pid && (e = readdir(d)))
		if (*e->d_name >= '1' && *e->d_name <= '9' && is_our_sm(t, e->d_name) &&
		    !is_below(t, (pid_t)strtol(e->d_name, NULL, 10)))
			pid = (pid_t)strtol(e->d_name, NULL, 10);
	if (d)
		closedir(d);
	return pid;
}

static int64_t thread_cpu(pid_t pid, const char *tid)
{
	char path[64];
	int64_t ns = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/schedstat", pid, tid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%" SCNd64, &ns) != 1)
		bench_fail("no processor time of %d", pid);
	if (f)
		fclose(f);
	return ns;
}

int64_t treebed_cpu(pid_t pid)
{
	struct dirent *e;
	int64_t sum = 0;
	char path[64];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d)
		bench_fail("there is no process %d", pid);
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			sum += thread_cpu(pid, e->d_name);
	closedir(d);
	return sum;
}

void treebed_connect(void)
{
	if (omis_init(NULL, NULL, NULL, NULL) != OMIS_OK)
		bench_fail("%s", omis_last_error());
}

Omis_reply treebed_ask(const char *text)
{
	Omis_reply r = omis_request_n(text, strlen(text), NULL, NULL, 0);

	if (omis_reply_status(r) >= OMIS_FIRST_ERROR)
		bench_fail("%s: %s %s", text, omis_strerror(omis_reply_status(r)),
			   r && r[0] && r[1] && r[1]->result ? r[1]->result : "");
	return r;
}

static void end_process(pid_t pid)
{
	int64_t until = bench_now() + STOP_MAX_NS;

	kill(pid, SIGTERM);
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (bench_now() > until)
			kill(pid, SIGKILL);
		poll(NULL, 0, 10);
	}
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *f)
{
	(void)s;
	(void)kind;
	(void)f;
	return remove(path);
}

static void shut_down(void)
{
	static const char request[] = ":omig_shutdown()";

	if (omis_init(NULL, NULL, NULL, NULL) != OMIS_OK)
		return;
	omis_reply_free(omis_request_n(request, strlen(request), NULL, NULL, 0));
	omis_finalize();
}

void treebed_stop(struct treebed *t)
{
	if (!t)
		return;
	shut_down();
	for (unsigned i = 0; i < t->n; i++)
		end_process(t->lm[i]);
	for (unsigned i = 0; i < t->nbelow; i++)
		end_process(t->below[i]);
	end_process(t->mainsm);
	nftw(t->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(t->lm);
	free(t->below);
	free(t);
}

double treebed_fact(const Omis_value *status, const char *name)
{
	for (size_t i = 0; i < status->n; i++) {
		const Omis_value *pair = &status->list[i];

		if (pair->kind == OMIS_VALUE_LIST && pair->n == 2 &&
		    pair->list[0].kind == OMIS_VALUE_STRING && !strcmp(pair->list[0].s, name))
			return pair->list[1].f;
	}
	return 0;
}
