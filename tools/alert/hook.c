/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/alert/hook.h"

#include "common/base/str.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT_MAX_BYTES 4000 /* a pipe accepts this amount at once: writing never blocks */

static const char *const names[HOOK_WORDS] = {
	"OMIG_ALERT_STATE", "OMIG_ALERT_CONDITION", "OMIG_ALERT_JOB",
	"OMIG_ALERT_VALUE", "OMIG_ALERT_RANK",	    "OMIG_ALERT_TEXT",
};

static void run(const struct hook *h, const char *const *word, int in)
{
	const struct sigaction plain = { .sa_handler = SIG_DFL };

	for (size_t i = 0; i < HOOK_WORDS; i++)
		setenv(names[i], word[i], 1);
	sigaction(SIGINT, &plain, NULL);
	sigaction(SIGTERM, &plain, NULL);
	sigaction(SIGPIPE, &plain, NULL);
	/* C ends the alert, but not the started command */
	setpgid(0, 0);
	if (dup2(in, STDIN_FILENO) >= 0)
		execl("/bin/sh", "sh", "-c", h->command, (char *)NULL);
	_exit(127);
}

static int start(struct hook *h, const char *const *word, struct err *e)
{
	size_t n = strnlen(word[HOOK_TEXT], TEXT_MAX_BYTES);
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return err_sys(e, "--exec");
	if (write(ends[1], word[HOOK_TEXT], n) != (ssize_t)n || write(ends[1], "\n", 1) != 1) {
		close(ends[0]);
		close(ends[1]);
		return err_sys(e, "--exec");
	}
	pid = fork();
	if (!pid)
		run(h, word, ends[0]);
	close(ends[0]);
	close(ends[1]);
	if (pid < 0)
		return err_sys(e, "--exec");
	h->running = pid;
	return 0;
}

/* --- the waiting command */

static void drop(struct hook *h)
{
	for (size_t i = 0; i < HOOK_WORDS; i++) {
		free(h->next[i]);
		h->next[i] = NULL;
	}
}

static bool waits(const struct hook *h)
{
	return h->next[0] != NULL;
}

static int keep(struct hook *h, const char *const *word, struct err *e)
{
	bool is_skipped = waits(h);

	drop(h);
	for (size_t i = 0; i < HOOK_WORDS; i++) {
		h->next[i] = str_dup(word[i]);
		if (h->next[i])
			continue;
		drop(h);
		return err_set(e, ERR_NOMEM, "--exec");
	}
	return is_skipped ? err_set(e, ERR_AGAIN,
				    "the command of an alert before still runs: one is skipped")
			  : 0;
}

static int start_next(struct hook *h, struct err *e)
{
	int rc = waits(h) ? start(h, (const char *const *)h->next, e) : 0;

	drop(h);
	return rc;
}

int hook_reap(struct hook *h, struct err *e)
{
	if (h->running && waitpid(h->running, NULL, WNOHANG) != 0)
		h->running = 0;
	return h->running ? 0 : start_next(h, e);
}

int hook_start(struct hook *h, const char *const word[HOOK_WORDS], struct err *e)
{
	int rc;

	if (!h->command)
		return 0;
	rc = hook_reap(h, e);
	if (rc)
		return rc;
	return h->running ? keep(h, word, e) : start(h, word, e);
}

void hook_end(struct hook *h)
{
	if (waits(h) && waitpid(h->running, NULL, 0) == h->running) {
		h->running = 0;
		start_next(h, NULL);
	}
	drop(h);
}
