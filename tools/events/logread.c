/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/events/logread.h"
#include "tools/events/logplace.h"

#include "common/base/str.h"
#include "common/cli/progress.h"
#include "tools/term/say.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN_MAX 10 /* bad lines that are printed; further ones are counted */
#define SHOWN_BYTES 120 /* of each */
#define PROGRESS_EVENTS 8192 /* between two reads of the clock */

enum kind { KIND_UNKNOWN, KIND_OLOG, KIND_TEXT, KIND_ARCHIVE, KIND_JSON };

struct logread {
	const struct logread_options *options;
	const char *path;
	struct evfile *file; /* NULL: an archive that is not a file */
	struct evline *line; /* for text; else NULL */
	enum kind kind;
	enum evline_form form;
	bool has_ended;
	logread_fn fn;
	void *arg;
	struct progress progress;
	uint64_t looked; /* events that were read, for the progress */
	uint64_t bytes; /* bytes of text that were read */
	uint64_t lines, bad, events;
};

int logread_form(struct logread_options *w, const char *name)
{
	w->is_guessed = str_eq(name, "auto");
	w->is_text = !w->is_guessed && !str_eq(name, "olog");
	return w->is_text ? evline_from_name(name, &w->form) : 0;
}

static void show_progress(struct logread *r)
{
	uint64_t size, done;

	if (++r->looked % PROGRESS_EVENTS || !progress_is_due(&r->progress))
		return;
	size = r->file ? evfile_size(r->file) : 0;
	done = r->bytes || !r->file ? r->bytes : evfile_report(r->file)->bytes;
	if (size)
		progress_show(&r->progress, "%" PRIu64 " events, %u %%", r->looked,
			      (unsigned)(done * 100 / size));
	else
		progress_show(&r->progress, "%" PRIu64 " events", r->looked);
}

static int hand_on(struct logread *r, const struct event *ev)
{
	show_progress(r);
	r->events++;
	return r->fn(r->arg, ev);
}

/* --- olog */

static void warn_count(const char *path, uint64_t n, const char *one, const char *many)
{
	if (n)
		cmd_warn("%s: %" PRIu64 " %s", path, n, n == 1 ? one : many);
}

static int report_olog(const struct logread *r)
{
	const struct evread_report *p = evfile_report(r->file);
	const char *path = r->path;

	warn_count(path, p->dropped, "event was dropped by its program, which had no room",
		   "events were dropped by their program, which had no room");
	warn_count(path, p->repeated_blocks, "block is there again; its events are given out once",
		   "blocks are there again; their events are given out once");
	if (evread_is_clean(p) && p->bytes)
		return CMD_OK;
	if (!p->bytes)
		cmd_warn("%s: is empty", path);
	cmd_warn("%s: %" PRIu64 " events ok, %" PRIu64 " bad, %" PRIu64 " bytes skipped", path,
		 p->events, p->bad_records + p->undescribed, p->skipped_bytes);
	if (p->skipped_bytes)
		cmd_warn("%s: the first of them is byte %" PRIu64, path, p->first_bad);
	warn_count(path, p->torn_blocks, "block is torn", "blocks are torn");
	warn_count(path, p->future_blocks, "block is of a later version",
		   "blocks are of a later version");
	warn_count(path, p->lost_blocks, "block is missing", "blocks are missing");
	warn_count(path, p->lost_events, "event was in what is missing",
		   "events were in what is missing");
	warn_count(path, p->undescribed, "event has lost its description",
		   "events have lost their description");
	return CMD_DAMAGED;
}

static int pass_olog(struct logread *r)
{
	struct event ev;
	struct err e = { 0 };
	int got, status = CMD_OK;

	while (status == CMD_OK && (got = evfile_next(r->file, &ev, &e)) == 1)
		status = hand_on(r, &ev);
	progress_end(&r->progress);
	if (status != CMD_OK)
		return status;
	r->has_ended = !got;
	return got && got != -ERR_AGAIN ? cmd_fail(CMD_FAILURE, "%s: %s", r->path, e.text) : CMD_OK;
}

/* --- text */

static void report_line(struct logread *r, const char *s, size_t n, const struct err *e)
{
	char shown[4 * SHOWN_BYTES];

	if (++r->bad > SHOWN_MAX || r->options->is_silent)
		return;
	progress_end(&r->progress);
	cmd_warn("%s:%" PRIu64 ": %s", r->path, r->lines, e->text);
	if (n)
		fprintf(stderr, "    %s\n",
			str_escape(shown, sizeof(shown), s, n < SHOWN_BYTES ? n : SHOWN_BYTES));
}

static int report_text(const struct logread *r)
{
	const struct evline *l = r->line;

	if (l->padded)
		cmd_warn(
			"%s: %" PRIu64
			" times with fewer than six digits were read as microseconds (--fraction padded)",
			r->path, l->padded);
	if (l->plain && r->options->fraction == EVWORDS_AUTO)
		cmd_warn(
			"%s: %" PRIu64
			" times with fewer than six digits were read as fractions (--fraction decimal)",
			r->path, l->plain);
	if (!r->bad && r->lines)
		return CMD_OK;
	cmd_warn("%s: %" PRIu64 " events ok, %" PRIu64 " bad lines of %" PRIu64 " skipped", r->path,
		 r->events, r->bad, r->lines);
	return CMD_DAMAGED;
}

static int pass_text(struct logread *r)
{
	const char *line;
	size_t n;
	struct err e = { 0 };
	int got = 0, status = CMD_OK;

	while (status == CMD_OK &&
	       (got = evfile_line(r->file, EVLINE_MAX_BYTES, &line, &n, &e)) != 0) {
		if (got == -ERR_AGAIN)
			break;
		if (got < 0 && got != -ERR_LIMIT)
			return cmd_fail(CMD_FAILURE, "%s: %s", r->path, e.text);
		r->lines++;
		if (got < 0)
			n = 0;
		else
			got = evline_read(r->line, r->form, line, n, &e);
		r->bytes += n + 1;
		if (got < 0)
			report_line(r, line, n, &e);
		if (got != 1)
			continue;
		r->line->event.number = r->events;
		status = hand_on(r, &r->line->event);
	}
	r->has_ended = !got;
	progress_end(&r->progress);
	return status;
}

/* --- archives */

static int hand_on_stored(void *arg, const struct event *ev)
{
	return hand_on(arg, ev);
}

static int report_archive(const struct logread *r, const struct arevents_report *p)
{
	const char *name = logplace_name(r->path);

	warn_count(name, p->bad, "row is not an event of its type",
		   "rows are not events of their types");
	warn_count(name, p->missing, "value had no room in the archive",
		   "values had no room in the archive");
	return p->bad || p->missing ? CMD_DAMAGED : CMD_OK;
}

static int read_archive(struct logread *r)
{
	struct arevents_report p;
	struct archive *a;
	struct err e = { 0 };
	int rc;

	if (archive_open(r->path, AR_READ, 0, &a, &e))
		return logplace_fail(r->path, &e);
	rc = arevents_read(a, r->options->part, &(struct arevents_taker){ hand_on_stored, r }, &p,
			   &e);
	archive_close(a);
	progress_end(&r->progress);
	return rc ? logplace_fail(r->path, &e) : rc ? rc : report_archive(r, &p);
}

/* --- any */

/* The first bytes of every file of SQLite. */
static bool is_archive(const uint8_t *p, size_t n)
{
	static const char head[] = "SQLite format 3";

	return n >= sizeof(head) && !memcmp(p, head, sizeof(head));
}

static bool is_json(const struct logread *r, const uint8_t *p, size_t n)
{
	size_t i = 0;

	while (i < n && strchr(" \t\r\n", p[i]) && p[i])
		i++;
	return r->options->json && i < n && (p[i] == '{' || p[i] == '[');
}

/*
 * Returns a form of text only if the bytes are text: a damaged event log is read as far as
 * possible.
 */
static int guess(struct logread *r)
{
	struct err e = { 0 };
	const uint8_t *p;
	size_t n = 4096;
	int got = evfile_peek(r->file, &p, &n, &e);

	if (got == -ERR_AGAIN)
		return CMD_OK;
	if (got)
		return cmd_fail(CMD_FAILURE, "%s: %s", r->path, e.text);
	r->kind = is_archive(p, n)		 ? KIND_ARCHIVE
		  : is_json(r, p, n)		 ? KIND_JSON
		  : evline_guess(p, n, &r->form) ? KIND_OLOG
						 : KIND_TEXT;
	return CMD_OK;
}

/* The kind stays unknown while a followed file is empty. */
static int find_kind(struct logread *r)
{
	int rc = CMD_OK;

	if (r->options->is_guessed)
		rc = guess(r);
	else
		r->kind = r->options->is_text ? KIND_TEXT : KIND_OLOG;
	if (rc != CMD_OK || r->kind != KIND_TEXT)
		return rc;
	r->line = evline_new(r->options->fraction);
	return r->line ? CMD_OK : cmd_fail(CMD_FAILURE, "out of memory");
}

static int open_log(struct logread *r)
{
	struct err e = { 0 };
	int rc = evfile_open(r->path, &r->file, &e);

	r->form = r->options->form;
	progress_begin(&r->progress, r->options->is_quiet);
	if (!rc)
		return CMD_OK;
	return cmd_fail(rc == -ERR_NOTFOUND ? CMD_NOTFOUND
			: rc == -ERR_DENIED ? CMD_DENIED
					    : CMD_FAILURE,
			"%s", e.text);
}

static int report(const struct logread *r)
{
	if (r->options->is_silent || r->kind == KIND_ARCHIVE || r->kind == KIND_UNKNOWN ||
	    r->kind == KIND_JSON)
		return CMD_OK;
	return r->kind == KIND_TEXT ? report_text(r) : report_olog(r);
}

static int pass(struct logread *r)
{
	return r->kind == KIND_TEXT ? pass_text(r) : pass_olog(r);
}

static void done(struct logread *r)
{
	if (r->file)
		evfile_close(r->file);
	free(r->line);
}

static int read_file(struct logread *r)
{
	int rc = open_log(r);

	rc = rc == CMD_OK ? find_kind(r) : rc;
	if (rc == CMD_OK && r->kind == KIND_ARCHIVE && str_eq(r->path, "-"))
		rc = cmd_fail(CMD_FAILURE,
			      "an archive is read by its name, not from the standard input");
	else if (rc == CMD_OK && r->kind == KIND_ARCHIVE)
		rc = read_archive(r);
	else if (rc == CMD_OK && r->kind == KIND_JSON)
		rc = r->options->json(r->options->json_arg, r->path, r->file);
	else if (rc == CMD_OK)
		rc = pass(r);
	rc = rc == CMD_OK ? report(r) : rc;
	done(r);
	return rc;
}

int logread_file(const struct logread_options *w, const char *path, logread_fn fn, void *arg)
{
	struct logread r = { .options = w, .path = path, .fn = fn, .arg = arg };

	if (!arpg_is_url(path))
		return read_file(&r);
	progress_begin(&r.progress, w->is_quiet);
	return read_archive(&r);
}

int logread_files(const struct logread_options *w, char **files, logread_fn fn, void *arg)
{
	char input[] = "-";
	char *only[] = { input, NULL };
	int worst = CMD_OK;

	for (char **f = files[0] ? files : only; *f; f++) {
		int rc;

		if (w->on_file)
			w->on_file(arg);
		rc = logread_file(w, *f, fn, arg);
		if (rc != CMD_OK && rc != CMD_DAMAGED)
			return rc;
		worst = rc != CMD_OK ? rc : worst;
	}
	return worst;
}

bool logread_can_be_read_again(const char *path)
{
	struct stat st;

	return !str_eq(path, "-") && !stat(path, &st) && S_ISREG(st.st_mode);
}

/* --- files that grow */

int logread_follow(const struct logread_options *w, const char *path, logread_fn fn, void *arg,
		   struct logread **out)
{
	struct logread *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return cmd_fail(CMD_FAILURE, "out of memory");
	*r = (struct logread){ .options = w, .path = path, .fn = fn, .arg = arg };
	rc = open_log(r);
	if (rc != CMD_OK) {
		free(r);
		return rc;
	}
	evfile_follow(r->file);
	*out = r;
	return CMD_OK;
}

int logread_more(struct logread *r)
{
	int rc = r->kind ? CMD_OK : find_kind(r);

	if (rc != CMD_OK || !r->kind)
		return rc;
	if (r->kind == KIND_ARCHIVE)
		return cmd_fail(CMD_USAGE, "%s: an archive cannot be followed", r->path);
	return pass(r);
}

bool logread_has_ended(const struct logread *r)
{
	return r->has_ended;
}

bool logread_is_current(const struct logread *r)
{
	return evfile_is_current(r->file, r->path);
}

int logread_close(struct logread *r)
{
	int rc = report(r);

	done(r);
	free(r);
	return rc;
}
