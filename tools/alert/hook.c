/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/alert/hook.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT_MAX_BYTES 4000 /* a pipe takes so much at once: writing never waits */

void hook_reap(struct hook *h)
{
	if (h->running && waitpid(h->running, NULL, WNOHANG) != 0)
		h->running = 0;
}

static void run(const struct hook *h, const struct hook_event *v, int in)
{
	const char *const env[][2] = {
		{ "OMIG_ALERT_STATE", v->state }, { "OMIG_ALERT_CONDITION", v->condition },
		{ "OMIG_ALERT_JOB", v->job },	  { "OMIG_ALERT_VALUE", v->value },
		{ "OMIG_ALERT_RANK", v->rank },	  { "OMIG_ALERT_TEXT", v->text },
	};
	const struct sigaction plain = { .sa_handler = SIG_DFL };

	for (size_t i = 0; i < ARRAY_LEN(env); i++)
		setenv(env[i][0], env[i][1], 1);
	sigaction(SIGINT, &plain, NULL);
	sigaction(SIGTERM, &plain, NULL);
	sigaction(SIGPIPE, &plain, NULL);
	setpgid(0, 0); /* ^C ends the alert, and not what it has started */
	if (dup2(in, STDIN_FILENO) >= 0)
		execl("/bin/sh", "sh", "-c", h->command, (char *)NULL);
	_exit(127);
}

int hook_start(struct hook *h, const struct hook_event *v, struct err *e)
{
	size_t n = strnlen(v->text, TEXT_MAX_BYTES);
	int ends[2];
	pid_t pid;

	if (!h->command)
		return 0;
	hook_reap(h);
	if (h->running) {
		h->skipped++;
		return err_set(e, ERR_AGAIN,
			       "the command of the alert before still runs: this one is skipped");
	}
	if (pipe2(ends, O_CLOEXEC))
		return err_sys(e, "--exec");
	if (write(ends[1], v->text, n) != (ssize_t)n || write(ends[1], "\n", 1) != 1) {
		close(ends[0]);
		close(ends[1]);
		return err_sys(e, "--exec");
	}
	pid = fork();
	if (!pid)
		run(h, v, ends[0]);
	close(ends[0]);
	close(ends[1]);
	if (pid < 0)
		return err_sys(e, "--exec");
	h->running = pid;
	return 0;
}
