/* SPDX-License-Identifier: Apache-2.0 */
/* A monitor, a scratch process, and the known facts about both. */
#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "tools/selftest/selftest.h"
#include "tools/selftest/selftest_keeper.h"
#include "tools/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define SCRATCH "../libexec/omig/omig-scratch"
#define SAID_MAX_BYTES (1u << 20)
#define OBEY_MAX_NS (20 * NSEC_PER_SEC)
#define APPEAR_MAX_NS (30 * NSEC_PER_SEC)

/* --- the scratch process */

static int set_variable(void *arg, const char *name, const char *value)
{
	(void)arg;
	return setenv(name, value, 1);
}

/*
 * Starts a program in its own session, so that signals of the terminal do not reach it. The
 * program ends at the end of its input.
 */
static int spawn(struct selftest_bed *bed, const char *path, int in, int out, struct err *e)
{
	char program[FILE_PATH_BYTES], mode[] = "scratch";
	char *argv[] = { program, mode, NULL };
	posix_spawn_file_actions_t a;
	posix_spawnattr_t attr;
	int rc;

	str_copy(program, sizeof(program), path);
	posix_spawn_file_actions_init(&a);
	posix_spawn_file_actions_adddup2(&a, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&a, out, STDOUT_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
	rc = posix_spawn(&bed->scratch, program, &a, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&a);
	if (!rc)
		return 0;
	bed->scratch = 0;
	errno = rc;
	return err_sys(e, "%s", program);
}

static int start_scratch(struct selftest_bed *bed, struct err *e)
{
	char joined[FILE_PATH_BYTES], path[PATH_MAX];
	int in[2], out[2], rc = file_join(joined, sizeof(joined), bed->launch.bin, SCRATCH, e);

	if (rc)
		return rc;
	if (!realpath(joined, path))
		return err_set(e, ERR_NOTFOUND, "%s is missing: is the installation whole?",
			       joined);
	selftest_word_set(&bed->words, "program", path);
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	bed->to_scratch = in[1];
	bed->from_scratch = out[0];
	/* The user's string may not permit tokens: a running lm accepts the program without one. */
	if (launch_ask_token(&bed->launch, NULL))
		launch_drop_token(&bed->launch);
	launch_each_variable(&bed->launch, set_variable, NULL);
	rc = spawn(bed, path, in[0], out[1], e);
	unsetenv("LD_PRELOAD");
	close(in[0]);
	close(out[1]);
	return rc;
}

/* Reads `NAME VALUE`, one word each. */
static void learn(struct selftest_bed *bed, char *line)
{
	char *value = strchr(line, ' ');

	if (!value || strchr(value + 1, ' '))
		return;
	*value++ = '\0';
	selftest_word_set(&bed->words, line, value);
}

static void learn_all(struct selftest_bed *bed, size_t from)
{
	char line[256];
	const char *at = buf_str(&bed->said) + from, *end;

	for (; (end = strchr(at, '\n')); at = end + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
		learn(bed, line);
	}
}

int selftest_bed_listen(struct selftest_bed *bed, int ms, struct err *e)
{
	struct pollfd p = { .fd = bed->from_scratch, .events = POLLIN };
	char text[4096];
	ssize_t n;

	if (poll(&p, 1, ms) <= 0)
		return 0;
	n = read(p.fd, text, sizeof(text));
	if (n < 0 && errno == EINTR)
		return 0;
	if (n <= 0)
		return err_set(e, ERR_CLOSED, "the scratch process has ended");
	return buf_put(&bed->said, text, (size_t)n) ? err_nomem(e) : 0;
}

static int await_done(struct selftest_bed *bed, size_t from, struct err *e)
{
	nsec_t until = clock_mono() + OBEY_MAX_NS;
	int rc;

	while (!strstr(buf_str(&bed->said) + from, "done\n")) {
		if (*bed->stop)
			return err_set(e, ERR_CLOSED, "interrupted");
		if (clock_mono() > until)
			return err_set(e, ERR_TIMEOUT, "the scratch process does not do it");
		rc = selftest_bed_listen(bed, 100, e);
		if (rc)
			return rc;
	}
	learn_all(bed, from);
	return 0;
}

int selftest_bed_command(struct selftest_bed *bed, const char *words, struct err *e)
{
	size_t from = bed->said.n;

	if (dprintf(bed->to_scratch, "%s\n", words) < 0)
		return err_sys(e, "the scratch process");
	return await_done(bed, from, e);
}

/* --- search in the tree */

/* Returns the entry of omig_tree with a text in place `which`; NULL when there is none. */
static const Omis_value *find_in_tree(Omis_reply r, size_t which, const char *text,
				      Omis_value **owner)
{
	for (Omis_service_result s = r[0] ? r[1] : NULL; s && s->obj_list; s++) {
		Omis_value *v = s->result ? omis_value_parse(s->result, s->result_len) : NULL;

		for (size_t i = 0; v && i < v->n; i++)
			if (str_eq(value_text(&v->list[i], which), text)) {
				*owner = v;
				return &v->list[i];
			}
		omis_value_free(v);
	}
	return NULL;
}

enum { TREE_TOKEN = 0, TREE_PARENT = 1, TREE_NAME = 2, TREE_JOB = 7 };

struct sought {
	size_t which; /* place in an entry */
	const char *text; /* in that place */
};

/* Sets two words from that entry. */
static bool note_entry(struct selftest_bed *bed, Omis_reply r, struct sought of, const char *token,
		       const char *parent)
{
	Omis_value *owner = NULL;
	const Omis_value *v = find_in_tree(r, of.which, of.text, &owner);

	if (v) {
		selftest_word_set(&bed->words, token, value_text(v, TREE_TOKEN));
		selftest_word_set(&bed->words, parent, value_text(v, TREE_PARENT));
		if (str_eq(token, "node"))
			selftest_word_set(&bed->words, "host", value_text(v, TREE_NAME));
	}
	omis_value_free(owner);
	return v != NULL;
}

static const char *word(const struct selftest_bed *bed, const char *name)
{
	const char *v = selftest_word(&bed->words, name, strlen(name));

	return v ? v : "";
}

/* Returns 1 = found, 0 = not yet, < 0: no monitor answers. */
static int is_in_tree(struct selftest_bed *bed)
{
	char text[] = ":omig_tree()";
	Omis_reply r = omis_request(text, NULL, NULL, 0);
	int found = -ERR_CLOSED;

	if (r && omis_reply_status(r) == OMIS_OK)
		found = note_entry(bed, r, (struct sought){ TREE_JOB, bed->launch.job_name },
				   "proc", "node") &&
			note_entry(bed, r, (struct sought){ TREE_TOKEN, word(bed, "node") }, "node",
				   "site");
	omis_reply_free(r);
	return found;
}

static int await_in_tree(struct selftest_bed *bed)
{
	nsec_t until = clock_mono() + APPEAR_MAX_NS;
	int got;

	while ((got = is_in_tree(bed)) == 0) {
		if (*bed->stop || clock_mono() > until)
			return cmd_fail(CMD_FAILURE,
					"the scratch process does not appear in the monitor");
		usleep(100000);
	}
	return got < 0 ? cmd_fail(CMD_UNREACHABLE, "%s", omis_last_error()) : CMD_OK;
}

/* Stores the tokens of the two threads, which the lm finds a little later. */
static bool note_threads(struct selftest_bed *bed)
{
	char text[256];
	Omis_reply r;

	snprintf(text, sizeof(text), ":thread_get_info([%s],128)", word(bed, "proc"));
	r = omis_request(text, NULL, NULL, 0);
	for (Omis_service_result s = r && r[0] ? r[1] : NULL; s && s->obj_list; s++) {
		if (s->result && str_eq(s->result, word(bed, "tid")))
			selftest_word_set(&bed->words, "thread", s->obj_list);
		if (s->result && str_eq(s->result, word(bed, "pid")))
			selftest_word_set(&bed->words, "main", s->obj_list);
	}
	omis_reply_free(r);
	return *word(bed, "thread") && *word(bed, "main");
}

static int attach(struct selftest_bed *bed)
{
	nsec_t until = clock_mono() + APPEAR_MAX_NS;
	Omis_reply r;
	int rc = await_in_tree(bed);

	if (rc == CMD_OK)
		rc = session_ask(&r, ":site_attach([]) ; node_attach([%s]) ; proc_attach([%s])",
				 word(bed, "node"), word(bed, "proc"));
	if (rc != CMD_OK)
		return rc;
	omis_reply_free(r);
	while (!note_threads(bed)) {
		if (*bed->stop || clock_mono() > until)
			return cmd_fail(CMD_FAILURE,
					"the threads of the scratch process do not appear");
		usleep(100000);
	}
	return CMD_OK;
}

/* --- all together */

/* Separates our monitor from the user's own. */
static int isolate(const char *dir, struct err *e)
{
	static const char *const unset[] = { "OMIG_MAINSM",  "OMIG_SITE",
					     "OMIG_JOB",     "OMIG_START",
					     "OMIG_DISABLE", "OMIG_THREADS",
					     "LD_PRELOAD",   NULL };
	static const char *const folder[][2] = { { "OMIG_STATE_DIR", "state" },
						 { "OMIG_RUNTIME_DIR", "run" },
						 { "XDG_CONFIG_HOME", "config" } };
	char path[FILE_PATH_BYTES];
	int rc = 0;

	for (size_t i = 0; unset[i]; i++)
		unsetenv(unset[i]);
	for (size_t i = 0; !rc && i < ARRAY_LEN(folder); i++) {
		rc = file_join(path, sizeof(path), dir, folder[i][1], e);
		if (!rc && setenv(folder[i][0], path, 1) != 0)
			rc = err_nomem(e);
	}
	return rc;
}

/* Chooses nice values that are permitted from ours on: only root may decrease them. */
static void note_priorities(struct selftest_bed *bed)
{
	int own = getpriority(PRIO_PROCESS, 0), nice = own < 16 ? own + 3 : 19;
	char text[32];

	snprintf(text, sizeof(text), "%d", nice);
	selftest_word_set(&bed->words, "nice", text);
	snprintf(text, sizeof(text), "%d", nice + 20);
	selftest_word_set(&bed->words, "priority", text);
	snprintf(text, sizeof(text), "%d", nice < 18 ? nice + 2 : 19);
	selftest_word_set(&bed->words, "nicer", text);
}

static void note_ourselves(struct selftest_bed *bed)
{
	struct utsname u;
	char text[32];

	snprintf(text, sizeof(text), "%ld", (long)getpid());
	selftest_word_set(&bed->words, "parent", text);
	snprintf(text, sizeof(text), "%ld", (long)getuid());
	selftest_word_set(&bed->words, "uid", text);
	if (uname(&u) == 0)
		selftest_word_set(&bed->words, "release", u.release);
	selftest_word_set(&bed->words, "dir", bed->dir);
	selftest_word_set(&bed->words, "job", bed->launch.job_name);
	note_priorities(bed);
}

static int find_monitor(struct selftest_bed *bed, const struct cmd_common *c, struct err *e)
{
	int rc = selftest_keeper_start(bed->dir, sizeof(bed->dir), &bed->keeper, &bed->keeper_pid,
				       e);

	bed->launch.mainsm = c->mainsm;
	bed->is_own_monitor = !c->mainsm;
	if (!rc && bed->is_own_monitor)
		rc = isolate(bed->dir, e);
	/* may put a link of the library into the state directory, which is ours now */
	rc = rc ? rc : launch_find_files(&bed->launch, e);
	if (!rc)
		rc = bed->is_own_monitor ? launch_need_mainsm(&bed->launch, e)
					 : launch_find_mainsm(&bed->launch, e);
	return rc;
}

int selftest_bed_open(struct selftest_bed *bed, const struct cmd_common *c,
		      volatile sig_atomic_t *stop)
{
	struct cmd_common own = *c;
	struct err e = { 0 };
	char job[64];
	int got;

	*bed = (struct selftest_bed){
		.to_scratch = -1, .from_scratch = -1, .keeper = -1, .stop = stop
	};
	buf_init(&bed->said, SAID_MAX_BYTES);
	snprintf(job, sizeof(job), "selftest.%ld.%lld", (long)getpid(), (long long)clock_wall());
	str_copy(bed->launch.job_name, sizeof(bed->launch.job_name), job);
	got = find_monitor(bed, c, &e);
	if (got < 0) /* with a keeper, it is the monitor that was named */
		return cmd_fail(bed->keeper >= 0 && !bed->is_own_monitor ? CMD_UNREACHABLE
									 : CMD_FAILURE,
				"%s", e.text);
	own.mainsm = bed->launch.conn;
	got = session_open(&own);
	if (got != CMD_OK)
		return got;
	note_ourselves(bed);
	got = start_scratch(bed, &e);
	if (!got)
		got = await_done(bed, 0, &e);
	if (got < 0)
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	return attach(bed);
}

bool selftest_bed_is_quiet(const struct selftest_bed *bed)
{
	return !bed->is_own_monitor || !selftest_keeper_has(bed->dir, false);
}

void selftest_bed_close(struct selftest_bed *bed)
{
	session_close();
	if (bed->to_scratch >= 0)
		close(bed->to_scratch);
	if (bed->scratch > 0) {
		kill(bed->scratch, SIGKILL);
		while (waitpid(bed->scratch, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	if (bed->from_scratch >= 0)
		close(bed->from_scratch);
	if (bed->keeper >= 0)
		selftest_keeper_end(bed->keeper, bed->keeper_pid);
	buf_done(&bed->said);
}
