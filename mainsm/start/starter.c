/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/start/starter.h"

#include "common/base/file.h"
#include "common/base/str.h"
#include "common/container/list.h"
#include "common/loop/loop.h"
#include "mainsm/start/template.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENV_MAX 1024 /* variables that we hand on */

struct starter {
	struct starter_conf conf;
	char *sm, *listen, *listen_elsewhere, *state_dir;
	struct list running;
};

struct launched {
	struct starter *s;
	char site[SITE_NAME_MAX + 1];
	pid_t pid;
	int pidfd;
	struct loop_fd *watch;
	struct list in_running;
};

struct starter *starter_new(const struct starter_conf *conf)
{
	struct starter *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->conf = *conf;
	list_init(&s->running);
	s->sm = str_dup(conf->sm);
	s->listen = str_dup(conf->listen);
	s->listen_elsewhere = str_dup(conf->listen_elsewhere);
	s->state_dir = str_dup(conf->state_dir);
	if (s->sm && s->listen && s->listen_elsewhere && s->state_dir)
		return s;
	starter_free(s);
	return NULL;
}

static void launched_free(struct launched *l)
{
	loop_fd_free(l->watch);
	if (l->pidfd >= 0)
		close(l->pidfd);
	list_del(&l->in_running);
	free(l);
}

void starter_free(struct starter *s)
{
	if (!s)
		return;
	list_each_safe (i, &s->running)
		launched_free(list_entry(i, struct launched, in_running));
	free(s->sm);
	free(s->listen);
	free(s->listen_elsewhere);
	free(s->state_dir);
	free(s);
}

static void on_ended(void *arg, unsigned what)
{
	struct launched *l = arg;
	struct starter *s = l->s;
	char site[SITE_NAME_MAX + 1], how[FILE_PATH_BYTES + 64];
	int status = 0;

	if (waitpid(l->pid, &status, WNOHANG) == 0)
		return;
	str_copy(site, sizeof(site), l->site);
	launched_free(l);
	snprintf(how, sizeof(how), "its launcher ended with %s %d, see %s/sm-%s.log",
		 WIFSIGNALED(status) ? "signal" : "status",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), s->state_dir, site);
	s->conf.on_exit(s->conf.arg, site, how);
}

static bool is_ours(const char *variable)
{
	return str_has_prefix(variable, "OMIG_MAINSM=") || str_has_prefix(variable, "OMIG_SITE=") ||
	       str_has_prefix(variable, "OMIG_STATE_DIR=") ||
	       str_has_prefix(variable, "NOTIFY_SOCKET=");
}

/* Returns the inherited variables and ours. The caller frees the array, but not the strings. */
static char **make_env(char *const ours[], size_t nours)
{
	char **env = calloc(ENV_MAX + nours + 1, sizeof(char *));
	size_t n = 0;

	if (!env)
		return NULL;
	for (char **v = environ; *v && n < ENV_MAX; v++)
		if (!is_ours(*v))
			env[n++] = *v;
	memcpy(env + n, ours, nours * sizeof(char *));
	return env;
}

static char *variable(const char *name, const char *value)
{
	char *text = NULL;

	return asprintf(&text, "%s=%s", name, value) < 0 ? NULL : text;
}

/* A pipe with the line in it: it is small enough to fit at once. */
static int line_fd(const char *line, struct err *e)
{
	int fd[2];
	size_t n = strlen(line);

	if (pipe2(fd, O_CLOEXEC | O_NONBLOCK))
		return err_sys(e, "pipe");
	if (write(fd[1], line, n) != (ssize_t)n || write(fd[1], "\n", 1) != 1) {
		err_sys(e, "pipe");
		close(fd[0]);
		close(fd[1]);
		return -ERR_SYS;
	}
	close(fd[1]);
	fcntl(fd[0], F_SETFL, 0);
	return fd[0];
}

static int set_actions(posix_spawn_file_actions_t *a, int in, const char *log)
{
	return posix_spawn_file_actions_adddup2(a, in, STDIN_FILENO) ||
	       posix_spawn_file_actions_addopen(a, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) ||
	       posix_spawn_file_actions_addopen(a, STDERR_FILENO, log,
						O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
}

/* Uses a new session, with no signal blocked or ignored: the process may outlive mainsm. */
static int set_attributes(posix_spawnattr_t *a)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	return posix_spawnattr_setsigmask(a, &none) || posix_spawnattr_setsigdefault(a, &all) ||
	       posix_spawnattr_setflags(a, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
						   POSIX_SPAWN_SETSIGDEF);
}

struct command {
	char **argv, **env;
	int in; /* standard input */
	const char *log; /* standard error */
};

static int spawn(const struct command *c, pid_t *pid, struct err *e)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	rc = set_actions(&actions, c->in, c->log) || set_attributes(&attr) ? ENOMEM : 0;
	if (!rc)
		rc = posix_spawnp(pid, c->argv[0], &actions, &attr, c->argv, c->env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	if (!rc)
		return 0;
	errno = rc;
	return err_sys(e, "cannot run %s", c->argv[0]);
}

static int watch(struct starter *s, const struct site *site, pid_t pid, struct err *e)
{
	struct launched *l = calloc(1, sizeof(*l));

	if (!l)
		return err_nomem(e);
	l->s = s;
	l->pid = pid;
	str_copy(l->site, sizeof(l->site), site->name);
	list_push_back(&s->running, &l->in_running);
	l->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (l->pidfd >= 0)
		l->watch = loop_fd_new(
			s->conf.loop,
			&(struct loop_watch){
				.fd = l->pidfd, .what = LOOP_READ, .fn = on_ended, .arg = l },
			e);
	/* Without a watch the sm starts all the same; a failure is detected by its time-out. */
	if (!l->watch)
		launched_free(l);
	return 0;
}

static int run(struct starter *s, const struct site *site, char **argv, const char *connection,
	       struct err *e)
{
	char *ours[] = { variable("OMIG_MAINSM", connection), variable("OMIG_SITE", site->name),
			 variable("OMIG_STATE_DIR", s->state_dir) };
	char **env = ours[0] && ours[1] && ours[2] ? make_env(ours, 3) : NULL;
	char log[FILE_PATH_BYTES];
	pid_t pid = 0;
	int in = -1, rc = env ? 0 : err_nomem(e);

	snprintf(log, sizeof(log), "%s/sm-%s.log", s->state_dir, site->name);
	if (!rc) {
		in = line_fd(connection, e);
		rc = in < 0 ? in : spawn(&(struct command){ argv, env, in, log }, &pid, e);
	}
	if (in >= 0)
		close(in);
	if (ours[0])
		str_wipe(ours[0], strlen(ours[0]));
	for (size_t i = 0; i < 3; i++)
		free(ours[i]);
	free(env);
	return rc ? rc : watch(s, site, pid, e);
}

int starter_start(struct starter *s, const struct site *site, const char *launcher,
		  const char *connection, struct err *e)
{
	/* An environment reaches children of ours; a line on standard input reaches the far end of
	 * ssh too. */
	bool is_here = str_eq(launcher, "local");
	const char *const command[] = { s->sm,
					"--foreground",
					"--site",
					site->name,
					"--listen",
					site->listen[0] ? site->listen
					: is_here	? s->listen
							: s->listen_elsewhere,
					is_here ? NULL : "--mainsm-stdin",
					NULL };
	const struct template_words w = { site->name, site->host, command };
	char **argv = NULL;
	int rc = template_expand(template_named(launcher), &w, &argv, e);

	if (rc)
		return rc;
	rc = run(s, site, argv, connection, e);
	template_free(argv);
	return rc;
}
