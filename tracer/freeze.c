/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/freeze.h"

#include "tracer/thread/change.h"
#include "tracer/tracees_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURN_TRIES 2
#define TURN_SLEEP_US 50
#define TURN_LATE_NS NSEC_PER_MSEC

struct frozen {
	int32_t tid;
	int status; /* of its stop */
	enum { RUNS, STOPPED, ENDED } state;
};

struct freeze {
	struct tracees *tracees;
	struct who who;
	nsec_t begin; /* of the first stop request */
	nsec_t held; /* since when a thread has been stopped, at most; 0: none has */
	nsec_t first; /* since when the first thread may have been */
	int mem; /* /proc/PID/mem, or -1: not open yet */
	size_t n;
	struct frozen v[FREEZE_THREADS_MAX];
};

bool freeze_is_transient(int rc)
{
	return rc == -ERR_AGAIN || rc == -ERR_TIMEOUT;
}

int32_t freeze_pid(const struct freeze *f)
{
	return f->who.pid;
}

size_t freeze_count(const struct freeze *f)
{
	return f->n;
}

int32_t freeze_tid(const struct freeze *f, size_t i)
{
	return f->v[i].tid;
}

static struct frozen *find(struct freeze *f, int32_t tid)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].tid == tid)
			return &f->v[i];
	return NULL;
}

/* A thread that has ended meanwhile is left out. */
static int add(struct freeze *f, int32_t tid, struct err *e)
{
	struct who w = { f->who.pid, tid, f->who.start };
	struct err why = { 0 };
	struct tracee *t;
	int rc = tracee_get(f->tracees, &w, &t, &why);

	if (rc == -ERR_NOTFOUND)
		return who_has_ended(&w) ? 0 : err_set(e, ERR_NOTFOUND, "%s", why.text);
	if (rc)
		return err_set(e, (enum err_code) - rc, "%s", why.text);
	if (t->birth)
		return err_set(e, ERR_AGAIN, "the process is being created");
	if (f->n == FREEZE_THREADS_MAX)
		return err_set(e, ERR_LIMIT, "the process has more than %d threads",
			       FREEZE_THREADS_MAX);
	f->v[f->n++] = (struct frozen){ .tid = tid };
	tracee_ask(t);
	return 0;
}

/* One scan, of all but the first thread. *found: the number of new threads. */
static int add_threads(struct freeze *f, size_t *found, struct err *e)
{
	size_t before = f->n;
	struct dirent *d;
	char path[40];
	int rc = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)f->who.pid);
	dir = opendir(path);
	if (!dir)
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	while (!rc && (d = readdir(dir))) {
		int32_t tid = (int32_t)strtol(d->d_name, NULL, 10);

		if (tid > 1 && tid != f->who.pid && !find(f, tid))
			rc = add(f, tid, e);
	}
	closedir(dir);
	*found = f->n - before;
	return rc;
}

static void poll_one(struct freeze *f, struct frozen *z)
{
	nsec_t now = clock_mono();
	pid_t got = waitpid(z->tid, &z->status, __WALL | WNOHANG);

	if (!got && z->tid == f->who.pid)
		f->first = now; /* it still ran */
	if (got == z->tid && WIFSTOPPED(z->status)) {
		z->state = STOPPED;
		f->held = f->held ? f->held : now;
	} else if (got) {
		z->state = ENDED;
		tracees_on_status(f->tracees, z->tid, got > 0 ? z->status : 0);
	}
}

static int wait_for_all(struct freeze *f, struct err *e)
{
	for (;;) {
		size_t running = 0;
		nsec_t left;

		for (size_t i = 0; i < f->n; i++) {
			if (f->v[i].state == RUNS)
				poll_one(f, &f->v[i]);
			running += f->v[i].state == RUNS;
		}
		if (!running)
			return 0;
		left = (f->held ? f->held + FREEZE_STOP_MAX_NS : f->begin + FREEZE_BEGIN_MAX_NS) -
		       clock_mono();
		if (left < 0)
			return err_set(e, ERR_TIMEOUT, "%zu of its threads did not stop in time",
				       running);
		change_wait(left);
	}
}

static void drop_ended(struct freeze *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].state == STOPPED)
			f->v[n++] = f->v[i];
	f->n = n;
}

static int stop_found(struct freeze *f, struct err *e)
{
	size_t found = 0;
	int rc;

	do {
		rc = add_threads(f, &found, e);
		if (!rc)
			rc = wait_for_all(f, e);
	} while (!rc && found);
	return rc;
}

/*
 * The first thread comes last, since most programs have their work there: it does not wait for the
 * others to stop. It may have started others meanwhile.
 */
static int stop_all(struct freeze *f, struct err *e)
{
	int rc = stop_found(f, e);

	f->first = clock_mono();
	if (!rc)
		rc = add(f, f->who.pid, e);
	if (!rc)
		rc = wait_for_all(f, e);
	if (!rc)
		rc = stop_found(f, e);
	if (rc)
		return rc;
	drop_ended(f);
	return f->n ? 0 : err_set(e, ERR_NOTFOUND, "the process has ended");
}

/*
 * Before threads are stopped: a scheduler that has given this process much time lets it wait then.
 * After a sleep that ended late it has waited enough; where processors are free none does.
 */
static void wait_for_turn(void)
{
	for (int i = 0; i < TURN_TRIES; i++) {
		nsec_t before = clock_mono();

		usleep(TURN_SLEEP_US);
		if (clock_mono() - before < TURN_LATE_NS)
			break;
	}
}

int freeze_begin(struct tracees *s, const struct who *w, struct freeze **out, struct err *e)
{
	struct freeze *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return err_nomem(e);
	f->tracees = s;
	f->who = *w;
	f->mem = -1;
	wait_for_turn();
	f->begin = f->first = clock_mono();
	rc = stop_all(f, e);
	if (rc)
		freeze_end(f);
	else
		*out = f;
	return rc;
}

/* A thread that has not stopped yet is resumed by its stop, as any without work. */
nsec_t freeze_end(struct freeze *f)
{
	nsec_t took;

	if (!f)
		return 0;
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].state == STOPPED)
			tracees_on_status(f->tracees, f->v[i].tid, f->v[i].status);
	took = clock_mono() - f->first;
	change_repeat();
	if (f->mem >= 0)
		close(f->mem);
	free(f);
	return took;
}

int freeze_read(const struct freeze *f, uint64_t addr, void *p, size_t n, struct err *e)
{
	struct iovec local = { p, n };
	/* NOLINTNEXTLINE: an address of another process */
	struct iovec remote = { (void *)(uintptr_t)addr, n };

	if (process_vm_readv(f->who.pid, &local, 1, &remote, 1, 0) == (ssize_t)n)
		return 0;
	return err_set(e, ERR_NOTFOUND, "no memory at 0x%llx", (unsigned long long)addr);
}

int freeze_write(struct freeze *f, uint64_t addr, const void *p, size_t n, struct err *e)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)f->who.pid);
	if (f->mem < 0)
		f->mem = open(path, O_WRONLY | O_CLOEXEC);
	if (f->mem < 0)
		return err_sys(e, "%s", path);
	if (pwrite(f->mem, p, n, (off_t)addr) != (ssize_t)n)
		return err_sys(e, "writing to memory at 0x%llx", (unsigned long long)addr);
	return 0;
}

/* Between two instructions, and best the first thread: its stack has room. */
static struct frozen *choose(struct freeze *f)
{
	struct frozen *any = NULL;

	for (size_t i = 0; i < f->n; i++) {
		if (f->v[i].state != STOPPED || f->v[i].status >> 16 != PTRACE_EVENT_STOP)
			continue;
		if (f->v[i].tid == f->who.pid)
			return &f->v[i];
		any = &f->v[i];
	}
	return any;
}

static int choose_place(struct freeze *f, const struct call_ways *ways, struct frozen **z,
			struct call_place *at, struct err *e)
{
	*z = choose(f);
	if (!*z)
		return err_set(e, ERR_AGAIN,
			       "no thread of the process is between two instructions");
	*at = (struct call_place){ f->who.pid, (*z)->tid, *ways };
	return 0;
}

int freeze_syscalls(struct freeze *f, const struct call_ways *ways, struct call_syscall *c,
		    size_t n, struct err *e)
{
	struct call_place at;
	struct frozen *z;
	int rc = choose_place(f, ways, &z, &at, e);

	if (rc)
		return rc;
	rc = call_syscalls(&at, c, n, e);
	if (rc == -ERR_TIMEOUT || rc == -ERR_NOTFOUND)
		z->state = RUNS; /* its next status is handled by the loop */
	return rc;
}

int freeze_enqueue(struct freeze *f, const struct call_ways *ways, const struct call_syscall *c,
		   size_t n, struct err *e)
{
	struct call_place at;
	struct frozen *z;
	int rc = choose_place(f, ways, &z, &at, e);

	if (!rc && WSTOPSIG(z->status) != SIGTRAP)
		rc = err_set(e, ERR_UNSUPPORTED, "a signal has stopped the process");
	return rc ? rc : call_enqueue(&at, c, n, e);
}
