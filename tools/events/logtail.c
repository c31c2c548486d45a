/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/events/logtail.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "tools/term/say.h"

#include <poll.h>
#include <stdlib.h>

/* Between two reads. A person sees no delay; a stat() of each file costs some microseconds. Unlike
 * inotify this works on network file systems. */
#define POLL_MS 100

struct tail {
	const struct logread_options *read;
	const char *path;
	struct logread *log; /* NULL: has ended */
	uint64_t skip; /* existing events that are not shown */
	struct logwrite *to;
	int status; /* CMD_OK or CMD_DAMAGED, of files that were replaced too */
};

static int count(void *arg, const struct event *ev)
{
	(void)ev;
	++*(uint64_t *)arg;
	return CMD_OK;
}

/* Two passes: events differ in length, so the last ones are found from the front only. */
static int count_past(const struct tail *t, uint64_t *n)
{
	struct logread_options silent = *t->read;
	struct logread *log;
	int rc;

	silent.is_silent = true;
	rc = logread_follow(&silent, t->path, count, n, &log);
	if (rc != CMD_OK)
		return rc;
	rc = logread_more(log);
	logread_close(log);
	return rc;
}

static int show(void *arg, const struct event *ev)
{
	struct tail *t = arg;

	if (t->skip) {
		t->skip--;
		return CMD_OK;
	}
	return logwrite_event(t->to, ev);
}

static int begin(struct tail *t, uint64_t past)
{
	uint64_t n = 0;
	int rc = logread_can_be_read_again(t->path) ? count_past(t, &n) : CMD_OK;

	t->skip = n > past ? n - past : 0;
	return rc == CMD_OK ? logread_follow(t->read, t->path, show, t, &t->log) : rc;
}

static void end(struct tail *t)
{
	int rc = t->log ? logread_close(t->log) : CMD_OK;

	t->log = NULL;
	t->status = rc != CMD_OK ? rc : t->status;
}

/* The new file may be removed again at once: then the next turn retries. */
static int replace(struct tail *t)
{
	end(t);
	t->skip = 0;
	cmd_warn("%s: was replaced or truncated; it is read from its start", t->path);
	return logread_follow(t->read, t->path, show, t, &t->log);
}

static int turn(struct tail *t)
{
	bool is_current = logread_is_current(t->log);
	int rc = logread_more(t->log);

	if (rc == CMD_OK && logread_has_ended(t->log))
		end(t);
	else if (rc == CMD_OK && !is_current)
		rc = replace(t);
	return rc;
}

static int turn_all(struct tail *t, size_t n, bool *is_left)
{
	int rc = CMD_OK;

	*is_left = false;
	for (size_t i = 0; rc == CMD_OK && i < n; i++) {
		if (t[i].log)
			rc = turn(&t[i]);
		*is_left = *is_left || t[i].log;
	}
	return rc;
}

static int follow(struct tail *t, size_t n, const struct logtail_options *w, struct logwrite *to)
{
	nsec_t until = w->for_ns ? clock_mono() + w->for_ns : INT64_MAX;
	bool is_left = true;
	int rc = CMD_OK;

	for (;;) {
		rc = turn_all(t, n, &is_left);
		rc = rc == CMD_OK ? logwrite_flush(to) : rc;
		if (rc != CMD_OK || !is_left || *w->signal || clock_mono() >= until)
			return rc;
		poll(NULL, 0, POLL_MS);
	}
}

static int tail_all(struct tail *t, size_t n, const struct logtail_options *w, struct logwrite *to)
{
	int rc = CMD_OK, damaged = CMD_OK;

	for (size_t i = 0; rc == CMD_OK && i < n; i++)
		rc = begin(&t[i], w->past);
	rc = rc == CMD_OK ? follow(t, n, w, to) : rc;
	for (size_t i = 0; i < n; i++) {
		end(&t[i]);
		damaged = t[i].status != CMD_OK ? t[i].status : damaged;
	}
	rc = rc == CMD_OK ? logwrite_finish(to) : rc;
	return rc == CMD_OK ? damaged : rc;
}

int logtail(const struct logread_options *read, const struct logtail_options *w, char **files,
	    struct logwrite *to)
{
	char input[] = "-";
	char *only[] = { input, NULL };
	struct tail *t;
	size_t n = 0;
	int rc;

	files = files[0] ? files : only;
	while (files[n])
		n++;
	if (n > LOGTAIL_FILES_MAX)
		return cmd_fail(CMD_USAGE, "tail follows at most %d files", LOGTAIL_FILES_MAX);
	t = calloc(n, sizeof(*t));
	if (!t)
		return cmd_fail(CMD_FAILURE, "out of memory");
	for (size_t i = 0; i < n; i++)
		t[i] = (struct tail){ .read = read, .path = files[i], .to = to };
	rc = tail_all(t, n, w, to);
	free(t);
	return rc;
}
