/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/events/logread.h"
#include "tools/events/logplace.h"

#include "common/base/str.h"
#include "common/cli/progress.h"
#include "tools/term/say.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN_MAX 10 /* bad lines; the others are counted */
#define SHOWN_BYTES 120 /* of each */
#define PROGRESS_EVENTS 8192 /* between two looks at the clock */

struct reading {
	const struct logread_options *options;
	const char *path;
	struct evfile *file; /* NULL: an archive that is no file */
	logread_fn fn;
	void *arg;
	struct progress progress;
	uint64_t looked; /* events, for the progress */
	uint64_t bytes; /* of text that was read */
	uint64_t lines, bad, events;
};

int logread_form(struct logread_options *w, const char *name)
{
	w->is_guessed = str_eq(name, "auto");
	w->is_text = !w->is_guessed && !str_eq(name, "olog");
	return w->is_text ? evline_from_name(name, &w->form) : 0;
}

static void show_progress(struct reading *r)
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

static int hand_on(struct reading *r, const struct event *ev)
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

static int report(const struct reading *r)
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

static int read_olog(struct reading *r)
{
	struct event ev;
	struct err e = { 0 };
	int got, status = CMD_OK;

	while (status == CMD_OK && (got = evfile_next(r->file, &ev, &e)) == 1)
		status = hand_on(r, &ev);
	progress_end(&r->progress);
	if (status != CMD_OK)
		return status;
	return got < 0 ? cmd_fail(CMD_FAILURE, "%s: %s", r->path, e.text) : report(r);
}

/* --- text */

static void report_line(struct reading *r, const char *s, size_t n, const struct err *e)
{
	char shown[4 * SHOWN_BYTES];

	if (++r->bad > SHOWN_MAX)
		return;
	progress_end(&r->progress);
	cmd_warn("%s:%" PRIu64 ": %s", r->path, r->lines, e->text);
	if (n)
		fprintf(stderr, "    %s\n",
			str_escape(shown, sizeof(shown), s, n < SHOWN_BYTES ? n : SHOWN_BYTES));
}

static int report_text(const struct reading *r, const struct evline *l)
{
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

static int read_lines(struct reading *r, enum evline_form form, struct evline *l)
{
	const char *line;
	size_t n;
	struct err e = { 0 };
	int got, status = CMD_OK;

	while (status == CMD_OK &&
	       (got = evfile_line(r->file, EVLINE_MAX_BYTES, &line, &n, &e)) != 0) {
		if (got < 0 && got != -ERR_LIMIT)
			return cmd_fail(CMD_FAILURE, "%s: %s", r->path, e.text);
		r->lines++;
		if (got < 0)
			n = 0;
		else
			got = evline_read(l, form, line, n, &e);
		r->bytes += n + 1;
		if (got < 0)
			report_line(r, line, n, &e);
		if (got != 1)
			continue;
		l->event.number = r->events;
		status = hand_on(r, &l->event);
	}
	progress_end(&r->progress);
	return status == CMD_OK ? report_text(r, l) : status;
}

static int read_text(struct reading *r, enum evline_form form)
{
	struct evline *l = evline_new(r->options->fraction);
	int rc = l ? read_lines(r, form, l) : cmd_fail(CMD_FAILURE, "out of memory");

	free(l);
	return rc;
}

/* --- archives */

static int hand_on_stored(void *arg, const struct event *ev)
{
	return hand_on(arg, ev);
}

static int report_archive(const struct reading *r, const struct arevents_report *p)
{
	const char *name = logplace_name(r->path);

	warn_count(name, p->bad, "row is no event of its type",
		   "rows are no events of their types");
	warn_count(name, p->missing, "value had no room in the archive",
		   "values had no room in the archive");
	return p->bad || p->missing ? CMD_DAMAGED : CMD_OK;
}

static int read_archive(struct reading *r)
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

/* Text only when it looks like that: damaged logs of ours are read as far as they go. */
static int read_guessed(struct reading *r)
{
	enum evline_form form = EVLINE_ULM;
	struct err e = { 0 };
	const uint8_t *p;
	size_t n = 4096;

	if (evfile_peek(r->file, &p, &n, &e))
		return cmd_fail(CMD_FAILURE, "%s: %s", r->path, e.text);
	if (is_archive(p, n))
		return str_eq(r->path, "-")
			       ? cmd_fail(
					 CMD_FAILURE,
					 "an archive is read by its name, not from the standard input")
			       : read_archive(r);
	return evline_guess(p, n, &form) ? read_olog(r) : read_text(r, form);
}

static int read_file(struct reading *r)
{
	const struct logread_options *w = r->options;
	struct err e = { 0 };
	int rc = evfile_open(r->path, &r->file, &e);

	if (rc)
		return cmd_fail(rc == -ERR_NOTFOUND ? CMD_NOTFOUND
				: rc == -ERR_DENIED ? CMD_DENIED
						    : CMD_FAILURE,
				"%s", e.text);
	rc = w->is_guessed ? read_guessed(r) : w->is_text ? read_text(r, w->form) : read_olog(r);
	evfile_close(r->file);
	return rc;
}

int logread_file(const struct logread_options *w, const char *path, logread_fn fn, void *arg)
{
	struct reading r = { .options = w, .path = path, .fn = fn, .arg = arg };

	progress_begin(&r.progress, w->is_quiet);
	return arpg_is_url(path) ? read_archive(&r) : read_file(&r);
}
