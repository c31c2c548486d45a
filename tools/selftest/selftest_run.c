/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the steps of one row. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "tools/selftest/selftest.h"
#include "tools/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <regex.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Time-out of a hanging step: on a busy machine a host may need a part of it. */
#define STEP_MAX_NS (30 * NSEC_PER_SEC)
#define TEXT_MAX_BYTES (4u << 20)
#define CSRS_MAX 8

struct run {
	struct selftest_bed *bed;
	enum selftest_need need;
	struct buf answer, notified; /* replies to requests; replies of conditional ones */
	const char *asked; /* the last request, as in the row */
	char csr[CSRS_MAX][64];
	size_t ncsr;
	Omis_status status; /* status of the last request that failed */
	struct err e;
};

/* --- text of replies */

static void put_entry(struct buf *out, const Omis_object_result *o)
{
	if (o->status >= OMIS_FIRST_ERROR)
		buf_printf(out, "error %d ", o->status);
	else if (!o->result && !o->obj_list[0])
		return;
	buf_printf(out, "%s ", o->obj_list);
	if (o->result)
		buf_put(out, o->result, o->result_len);
	buf_putc(out, '\n');
}

/* From action `first` on. */
static void put_reply(struct buf *out, Omis_reply r, int first)
{
	for (int i = 0; r && r[i]; i++)
		for (int k = 0; i >= first && r[i][k].obj_list; k++)
			put_entry(out, &r[i][k]);
}

static const char *first_words(Omis_reply r)
{
	for (; r && *r; r++)
		for (Omis_service_result s = *r; s->obj_list; s++)
			if (s->status >= OMIS_FIRST_ERROR)
				return s->result ? s->result : omis_strerror(s->status);
	return "out of memory";
}

static const char *state_word(Omis_status s)
{
	switch (s) {
	case OMIS_CSR_DEFINED:
		return "DEFINED";
	case OMIS_CSR_ENABLED:
		return "ENABLED";
	case OMIS_CSR_DISABLED:
		return "DISABLED";
	case OMIS_CSR_DELETED:
		return "DELETED";
	default:
		return NULL;
	}
}

/* --- requests */

static int ask(struct run *run, const char *text, bool may_fail)
{
	struct buf b = BUF_INIT(TEXT_MAX_BYTES);
	Omis_reply r = NULL;
	Omis_status s;
	int rc = selftest_expand(&run->bed->words, text, false, &b, &run->e);

	buf_clear(&run->answer);
	if (!rc) {
		r = omis_request_n(buf_str(&b), b.n, NULL, NULL, 0);
		s = r ? omis_reply_status(r) : OMIS_NO_MEMORY;
		put_reply(&run->answer, r, 0);
		if (s >= OMIS_FIRST_ERROR && !may_fail) {
			run->status = s;
			rc = err_set(&run->e, ERR_INVALID, "%s: %s", buf_str(&b), first_words(r));
		}
	}
	omis_reply_free(r);
	buf_done(&b);
	return rc;
}

static void note_csr(struct run *run, const char *token)
{
	selftest_word_set(&run->bed->words, "csr", token);
	if (run->ncsr < CSRS_MAX)
		str_copy(run->csr[run->ncsr++], sizeof(run->csr[0]), token);
}

static void on_reply(Omis_reply r, void *arg)
{
	struct run *run = arg;
	const char *state = r && r[0] ? state_word(r[0]->status) : NULL;

	if (state) {
		buf_printf(&run->notified, "%s %s\n", state, r[0]->obj_list);
		if (r[0]->status == OMIS_CSR_DEFINED && r[0]->result)
			note_csr(run, r[0]->result);
	} else {
		if (r && r[0] && r[0]->status >= OMIS_FIRST_ERROR)
			run->status = r[0]->status;
		put_reply(&run->notified, r, r && r[0] && r[0]->status == OMIS_CSR_TRIGGERED);
	}
	omis_reply_free(r);
}

/* Handles events for at most ms. */
static void attend(struct run *run, int ms)
{
	struct pollfd p = { .fd = omis_fd(), .events = POLLIN };

	poll(&p, 1, ms);
	omis_handler();
}

static bool is_over(const struct run *run, nsec_t until)
{
	return *run->bed->stop || clock_mono() > until;
}

static int define(struct run *run, const char *text)
{
	nsec_t until = clock_mono() + STEP_MAX_NS;
	struct buf b = BUF_INIT(TEXT_MAX_BYTES);
	size_t before = run->ncsr;
	int rc = selftest_expand(&run->bed->words, text, false, &b, &run->e);

	run->status = OMIS_OK;
	if (!rc) {
		omis_reply_free(omis_request_n(buf_str(&b), b.n, on_reply, run, 0));
		while (run->ncsr == before && run->status == OMIS_OK && !is_over(run, until))
			attend(run, 100);
		if (run->ncsr == before)
			rc = err_set(&run->e, ERR_INVALID, "%s: %s", buf_str(&b),
				     buf_str(&run->notified));
	}
	buf_done(&b);
	return !rc ? ask(run, ":csr_enable([{csr}])", false) : rc;
}

/* --- patterns */

/* Returns 1 = matches, 0 = does not, < 0 = cannot be tested. */
static int matches(struct run *run, const char *pattern, const char *text)
{
	struct buf b = BUF_INIT(TEXT_MAX_BYTES);
	regex_t re;
	int rc = selftest_expand(&run->bed->words, pattern, true, &b, &run->e);

	if (!rc && regcomp(&re, buf_str(&b), REG_EXTENDED | REG_NOSUB) != 0)
		rc = err_set(&run->e, ERR_INTERNAL, "%s is not a pattern", pattern);
	if (!rc) {
		rc = regexec(&re, text, 0, NULL, 0) == 0;
		regfree(&re);
	}
	buf_done(&b);
	return rc;
}

static int mismatch(struct run *run, const char *pattern, const char *text)
{
	struct buf b = BUF_INIT(TEXT_MAX_BYTES);
	int rc;

	selftest_expand(&run->bed->words, pattern, true, &b, NULL);
	rc = err_set(&run->e, ERR_INVALID, "not %s: %.160s", buf_str(&b), *text ? text : "nothing");
	buf_done(&b);
	return rc;
}

/* Makes the text again until it matches the pattern. */
static int await(struct run *run, const char *pattern, const struct buf *text,
		 int (*renew)(struct run *, const char *), const char *arg)
{
	nsec_t until = clock_mono() + STEP_MAX_NS;
	int got;

	for (;;) {
		got = renew(run, arg);
		if (!got)
			got = matches(run, pattern, buf_str(text));
		if (got)
			return got < 0 ? got : 0;
		if (is_over(run, until))
			return mismatch(run, pattern, buf_str(text));
	}
}

static int renew_notified(struct run *run, const char *arg)
{
	(void)arg;
	attend(run, 20);
	return 0;
}

static int renew_said(struct run *run, const char *arg)
{
	(void)arg;
	return selftest_bed_listen(run->bed, 50, &run->e);
}

static int renew_answer(struct run *run, const char *text)
{
	usleep(20000);
	return ask(run, text, false);
}

/* Reads a file below /proc of the scratch process; a missing file is empty. */
static int renew_file(struct run *run, const char *file)
{
	struct buf path = BUF_INIT(2 * FILE_PATH_BYTES);
	int rc = selftest_expand(&run->bed->words, "/proc/{pid}/", false, &path, &run->e);

	if (!rc)
		rc = selftest_expand(&run->bed->words, file, false, &path, &run->e);
	usleep(20000);
	buf_clear(&run->answer);
	if (!rc)
		file_read_at(AT_FDCWD, buf_str(&path), TEXT_MAX_BYTES, &run->answer, NULL);
	buf_done(&path);
	return rc;
}

static int check_now(struct run *run, const char *pattern, const struct buf *text, bool want)
{
	int got = matches(run, pattern, buf_str(text));

	if (got < 0 || got == want)
		return got < 0 ? got : 0;
	return want ? mismatch(run, pattern, buf_str(text))
		    : err_set(&run->e, ERR_INVALID, "%s, which must not be: %.160s", pattern,
			      buf_str(text));
}

/* --- other steps */

/* Sets a word to a string without its quotes, or to another value unchanged. */
static int set_word(struct run *run, const char *name, const char *value, size_t n)
{
	Omis_value *v = n ? omis_value_parse(value, n) : NULL;
	char *text = v && v->n == 1 && v->list[0].kind == OMIS_VALUE_STRING ? str_dup(v->list[0].s)
									    : str_ndup(value, n);
	bool ok = text && n && selftest_word_set(&run->bed->words, name, text);

	omis_value_free(v);
	free(text);
	return ok ? 0
		  : err_set(&run->e, ERR_INVALID, "no %s in: %.160s", name, buf_str(&run->answer));
}

/* Saves NAME, or the first group of PATTERN in NAME PATTERN. */
static int save_value(struct run *run, const char *step)
{
	char name[16];
	const char *answer = buf_str(&run->answer), *pattern = strchr(step, ' '), *space;
	regmatch_t m[2];
	regex_t re;
	int rc;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(step, " "), step);
	if (!pattern) {
		space = strchr(answer, ' ');
		return space ? set_word(run, name, space + 1, strcspn(space + 1, "\n"))
			     : mismatch(run, "a value", answer);
	}
	if (regcomp(&re, pattern + 1, REG_EXTENDED) != 0)
		return err_set(&run->e, ERR_INTERNAL, "%s is not a pattern", pattern + 1);
	rc = regexec(&re, answer, 2, m, 0);
	regfree(&re);
	if (rc || m[1].rm_so < 0)
		return mismatch(run, pattern + 1, answer);
	return set_word(run, name, answer + m[1].rm_so, (size_t)(m[1].rm_eo - m[1].rm_so));
}

/* A request of another tool. */
struct other {
	const char *string; /* connection string */
	const char *state; /* its state directory */
	char *request;
};

static int spawn_other(const struct other *o, int out, pid_t *pid, struct err *e)
{
	char path[] = "/proc/self/exe", name[] = "omig", command[] = "request",
	     o1[] = "--no-attach", o2[] = "--mainsm";
	char *conn = str_dup(o->string);
	char *argv[] = { name, command, o1, o2, conn, o->request, NULL };
	posix_spawn_file_actions_t a;
	char before[FILE_PATH_BYTES] = "";
	int rc;

	str_copy(before, sizeof(before), getenv("OMIG_STATE_DIR") ? getenv("OMIG_STATE_DIR") : "");
	setenv("OMIG_STATE_DIR", o->state, 1);
	posix_spawn_file_actions_init(&a);
	posix_spawn_file_actions_adddup2(&a, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&a, out, STDERR_FILENO);
	rc = conn ? posix_spawn(pid, path, &a, NULL, argv, environ) : ENOMEM;
	posix_spawn_file_actions_destroy(&a);
	setenv("OMIG_STATE_DIR", before, 1);
	free(conn);
	errno = rc;
	return rc ? err_sys(e, "omig request") : 0;
}

/*
 * Asks as another tool, with its own state directory and identity. Only in a monitor that selftest
 * has started.
 */
static int ask_other(struct run *run, const char *text)
{
	const char *string = selftest_word(&run->bed->words, "string", 6);
	char state[FILE_PATH_BYTES], some[4096], *request = str_dup(text);
	pid_t pid = 0;
	int fd[2], rc = file_join(state, sizeof(state), run->bed->dir, "other", &run->e);
	ssize_t n;

	buf_clear(&run->answer);
	if (!rc && (!request || !string || pipe2(fd, O_CLOEXEC) < 0))
		rc = err_set(&run->e, ERR_NOMEM, "another tool cannot be started");
	if (!rc) {
		rc = spawn_other(
			&(struct other){ .string = string, .state = state, .request = request },
			fd[1], &pid, &run->e);
		close(fd[1]);
		while (!rc &&
		       ((n = read(fd[0], some, sizeof(some))) > 0 || (n < 0 && errno == EINTR)))
			buf_put(&run->answer, some, n > 0 ? (size_t)n : 0);
		close(fd[0]);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	free(request);
	return rc;
}

static int await_file(struct run *run, const char *step)
{
	char file[FILE_PATH_BYTES];

	snprintf(file, sizeof(file), "%.*s", (int)strcspn(step, " "), step);
	return await(run, step + strcspn(step, " ") + 1, &run->answer, renew_file, file);
}

static int await_quiet(struct run *run)
{
	nsec_t until = clock_mono() + STEP_MAX_NS;

	session_close();
	/* The scratch process must end, too. */
	close(run->bed->to_scratch);
	run->bed->to_scratch = -1;
	while (!selftest_bed_is_quiet(run->bed)) {
		if (is_over(run, until))
			return err_set(&run->e, ERR_TIMEOUT, "daemons of the monitor run on");
		waitpid(run->bed->scratch, NULL, WNOHANG);
		usleep(50000);
	}
	return 0;
}

static int step(struct run *run, const struct selftest_step *s)
{
	switch (s->kind) {
	case STEP_REQUEST:
	case STEP_TRY:
		run->asked = s->text;
		return ask(run, s->text, s->kind == STEP_TRY);
	case STEP_OTHER_TOOL:
		return ask_other(run, s->text);
	case STEP_CSR:
		return define(run, s->text);
	case STEP_SAVE:
		return save_value(run, s->text);
	case STEP_MATCH:
		return check_now(run, s->text, &run->answer, true);
	case STEP_AWAIT:
		return await(run, s->text, &run->answer, renew_answer, run->asked);
	case STEP_COMMAND:
		return selftest_bed_command(run->bed, s->text, &run->e);
	case STEP_OUTPUT:
		return await(run, s->text, &run->bed->said, renew_said, NULL);
	case STEP_PROC_FILE:
		return await_file(run, s->text);
	case STEP_NOTIFIED:
		return await(run, s->text, &run->notified, renew_notified, NULL);
	case STEP_NOT_NOTIFIED:
		return check_now(run, s->text, &run->notified, false);
	case STEP_QUIET:
		return await_quiet(run);
	case STEP_ELSEWHERE:
	case STEP_END:
		break;
	}
	return 0;
}

/* Removes the remains of a row before the next one. */
static void tidy(struct run *run)
{
	char text[128];

	for (size_t i = 0; i < run->ncsr; i++) {
		snprintf(text, sizeof(text), ":csr_delete([%s])", run->csr[i]);
		ask(run, text, true);
	}
	ask(run,
	    ":site_attach([]) ; node_attach([{node}]) ; proc_attach([{proc}]) ; thread_continue([{proc}])",
	    true);
	attend(run, 0);
}

static void judge(struct run *run, struct selftest_result *out)
{
	char words[200];
	const char *lack = selftest_lacks(run->need, run->bed->is_own_monitor, run->bed->launch.bin,
					  words, sizeof(words));

	out->end = SELFTEST_FAILS;
	str_copy(out->why, sizeof(out->why), run->e.text);
	if (lack) {
		out->end = SELFTEST_NOT_HERE;
		str_copy(out->why, sizeof(out->why), lack);
	} else if (run->status == OMIS_NO_PERMISSION) {
		out->end = SELFTEST_NOT_HERE;
	}
}

void selftest_row_run(struct selftest_bed *bed, const struct selftest_row *row,
		      struct selftest_result *out)
{
	struct run run = { .bed = bed, .need = row->need };
	char words[200];
	int got = 0;

	*out = (struct selftest_result){ .end = SELFTEST_OK };
	if (row->step[0].kind == STEP_ELSEWHERE) {
		out->end = SELFTEST_ELSEWHERE;
		str_copy(out->why, sizeof(out->why), row->step[0].text);
		return;
	}
	if (row->need == NEED_OWN_MONITOR &&
	    selftest_lacks(row->need, bed->is_own_monitor, "", words, sizeof(words))) {
		judge(&run, out);
		return;
	}
	buf_init(&run.answer, TEXT_MAX_BYTES);
	buf_init(&run.notified, TEXT_MAX_BYTES);
	buf_clear(&bed->said);
	for (size_t i = 0; !got && row->step[i].kind != STEP_END; i++)
		got = step(&run, &row->step[i]);
	if (got < 0)
		judge(&run, out);
	tidy(&run);
	buf_done(&run.answer);
	buf_done(&run.notified);
}
