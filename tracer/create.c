/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are started, and held before their first instruction. */
#include "common/base/spawn_env.h"
#include "tracer/tracees_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Input of a child; its strings are those of the message. */
struct plan {
	const char *program;
	char **argv, **envp; /* owned arrays */
	const char *const *stream;
	size_t nstream;
	int gate; /* readable when it may begin */
	int why; /* descriptor for errno */
};

static char **strings(const char *const *text, size_t n, const char *otherwise)
{
	char **v = calloc(n + 2, sizeof(*v));

	for (size_t i = 0; v && i < n; i++)
		v[i] = (char *)text[i];
	if (v && !n)
		v[0] = (char *)otherwise;
	return v;
}

static int make_plan(struct plan *p, const struct tracer_msg *m, struct err *e)
{
	size_t nargv = (size_t)m->value[0], nenv = (size_t)m->value[1];

	memset(p, 0, sizeof(*p));
	p->program = m->text[0];
	p->argv = strings(m->text + 1, nargv, p->program);
	p->envp = nenv ? strings(m->text + 1 + nargv, nenv, NULL) : NULL;
	p->stream = m->text + 1 + nargv + nenv;
	p->nstream = (size_t)m->value[2];
	if (p->argv && (p->envp || !nenv))
		return 0;
	return err_nomem(e);
}

/* --- in the child: none of these return */

static void quit(const struct plan *p)
{
	int why = errno;

	if (write(p->why, &why, sizeof(why)) < 0)
		_exit(126);
	_exit(127);
}

/* A FIFO without its other end, or a terminal, must not hold us up; a link could lead anywhere. */
static int open_stream(const char *path, int i)
{
	int how = O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, fd;

	if (!*path)
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	if (i == STDIN_FILENO)
		how |= O_RDONLY;
	else if (i <= STDERR_FILENO)
		how |= O_WRONLY | O_CREAT | O_APPEND;
	else
		how |= O_RDWR | O_CREAT;
	fd = open(path, how, 0600);
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

/* All are opened before the first takes its place: a place may be where our own pipes are. */
static void set_streams(struct plan *p)
{
	int fd[TRACER_STREAMS_MAX], n = p->nstream < 3 ? 3 : (int)p->nstream;

	p->why = fcntl(p->why, F_DUPFD_CLOEXEC, TRACER_STREAMS_MAX);
	for (int i = 0; i < n; i++) {
		int got = open_stream((size_t)i < p->nstream ? p->stream[i] : "", i);

		fd[i] = got < 0 ? -1 : fcntl(got, F_DUPFD_CLOEXEC, TRACER_STREAMS_MAX);
		if (fd[i] < 0)
			quit(p);
	}
	for (int i = 0; i < n; i++)
		if (dup2(fd[i], i) < 0)
			quit(p);
}

/* Reverts restrictions that the lm made for itself only. */
static void loosen(void)
{
	unsigned mask;
	unsigned long long files, core;
	const char *text = getenv(ENV_SPAWN);
	struct rlimit r;

	if (!text || sscanf(text, "%o %llu %llu", &mask, &files, &core) != 3)
		return;
	umask(mask & 0777);
	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && files <= r.rlim_max) {
		r.rlim_cur = files;
		setrlimit(RLIMIT_NOFILE, &r);
	}
	if (getrlimit(RLIMIT_CORE, &r) == 0 && core <= r.rlim_max) {
		r.rlim_cur = core;
		setrlimit(RLIMIT_CORE, &r);
	}
	unsetenv(ENV_SPAWN);
}

static void restore_spawn_env(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	loosen();
	setsid();
}

static void run_child(struct plan *p)
{
	const char *home = getenv("HOME");
	char word;

	restore_spawn_env();
	/* The pipe ends when lm-trace is gone: then no program is started. */
	if (read(p->gate, &word, 1) != 1)
		_exit(126);
	set_streams(p);
	if (!home || chdir(home) < 0)
		errno = 0;
	execvpe(p->program, p->argv, p->envp ? p->envp : environ);
	quit(p);
}

/* --- in the parent */

struct pipes {
	int gate[2], why[2];
};

static void close_pipes(struct pipes *p)
{
	for (int i = 0; i < 2; i++) {
		if (p->gate[i] >= 0)
			close(p->gate[i]);
		if (p->why[i] >= 0)
			close(p->why[i]);
	}
}

static int hold_child(struct tracees *s, int32_t pid, uint32_t id, struct pipes *p, struct err *e)
{
	struct tracee *t = tracee_add(s, &(struct who){ pid, pid, who_start(pid) }, e);

	if (!t)
		return -ERR_NOMEM;
	t->birth = calloc(1, sizeof(*t->birth));
	if (!t->birth) {
		tracee_forget(s, t, "");
		return err_nomem(e);
	}
	t->birth->id = id;
	t->birth->until = loop_now(s->loop) + TRACEES_BIRTH_MAX_NS;
	t->birth->why = p->why[0];
	p->why[0] = -1;
	/*
	 * If lm-trace dies, the program dies too; else it would run without a tracer. This option
	 * ends when it is released.
	 */
	if (ptrace(PTRACE_SEIZE, pid, NULL,
		   (void *)(intptr_t)(PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) == 0 &&
	    write(p->gate[1], "", 1) == 1) {
		tracees_wake_at(s, t->birth->until);
		return 0;
	}
	err_sys(e, "process %d cannot be held", (int)pid);
	tracee_forget(s, t, "");
	return -ERR_SYS;
}

static int start(struct tracees *s, const struct tracer_msg *m, struct plan *p, struct pipes *pipes,
		 struct err *e)
{
	pid_t pid;
	int rc;

	if (pipe2(pipes->gate, O_CLOEXEC) < 0 || pipe2(pipes->why, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	p->gate = pipes->gate[0];
	p->why = pipes->why[1];
	pid = fork();
	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0) {
		close(pipes->gate[1]);
		run_child(p);
	}
	rc = hold_child(s, pid, m->id, pipes, e);
	if (rc)
		kill(pid, SIGKILL);
	return rc;
}

int tracees_create(struct tracees *s, const struct tracer_msg *m, struct err *e)
{
	struct pipes pipes = { { -1, -1 }, { -1, -1 } };
	struct plan p;
	int rc = make_plan(&p, m, e);

	if (!rc)
		rc = start(s, m, &p, &pipes, e);
	close_pipes(&pipes);
	free(p.argv);
	free(p.envp);
	return rc;
}

void birth_free(struct birth *b)
{
	if (!b)
		return;
	close(b->why);
	free(b);
}

static void report_created(struct tracees *s, const struct tracee *t)
{
	struct tracer_msg *m = calloc(1, sizeof(*m));

	if (!m) {
		line_fail(s->line, t->birth->id, &(struct err){ .code = ERR_NOMEM });
		return;
	}
	m->type = TRACER_CREATED;
	m->id = t->birth->id;
	m->pid = t->who.pid;
	m->start = t->who.start;
	line_answer(s->line, m);
	free(m);
}

void birth_give_up(struct tracees *s, struct tracee *t, nsec_t now)
{
	struct err e;

	if (t->birth->is_reported || now < t->birth->until)
		return;
	t->birth->is_reported = true;
	kill(t->who.pid, SIGKILL);
	err_set(&e, ERR_TIMEOUT,
		"the program does not begin: its file or one of its streams is slow");
	line_fail(s->line, t->birth->id, &e);
}

void birth_on_stop(struct tracees *s, struct tracee *t, int status)
{
	int event = status >> 16, sig = WSTOPSIG(status);

	if (t->birth->is_reported)
		return;
	if (event != PTRACE_EVENT_EXEC) {
		ptrace(PTRACE_CONT, t->who.tid, NULL, (void *)(intptr_t)(event ? 0 : sig));
		return;
	}
	t->birth->is_reported = true;
	report_created(s, t);
}

void birth_on_end(struct tracees *s, struct tracee *t)
{
	struct err e = { 0 };
	int why = 0;

	if (t->birth->is_reported)
		return;
	if (read(t->birth->why, &why, sizeof(why)) != (ssize_t)sizeof(why))
		why = ECHILD;
	errno = why;
	err_sys(&e, "the program cannot be started");
	line_fail(s->line, t->birth->id, &e);
}

int tracees_let_go(struct tracees *s, const struct tracer_msg *m, struct err *e)
{
	struct tracee *t = map_find(&s->by_tid, (uint64_t)m->pid);

	if (!t || !t->birth || !t->birth->is_reported || t->who.start != m->start)
		return err_set(e, ERR_NOTFOUND, "no such process was created");
	if (m->what) {
		kill(t->who.pid, SIGKILL);
		return 0;
	}
	ptrace(PTRACE_DETACH, t->who.tid, NULL, NULL);
	tracee_forget(s, t, "");
	return 0;
}
