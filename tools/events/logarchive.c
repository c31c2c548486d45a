/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/events/logarchive.h"
#include "tools/events/logplace.h"

#include "common/base/str.h"
#include "common/json/json.h"
#include "eventlog/archive/archive.h"
#include "tools/term/say.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXTS_MAX 256 /* texts with the same first event: each is compared with all before it */
#define OTHER_TEXT 1000 /* not an exit status: the stream belongs to another text */

struct loading {
	const struct logarchive_options *options;
	struct archive *a;
	uint64_t text_stream; /* stream of the file that is read; 0 = not known yet */
	uint32_t text; /* number among the texts with this beginning, from 0 */
};

/* --- reports */

static void put_counts(struct json *j, const struct archive_report *r)
{
	json_key_u64(j, "batches", r->batches);
	json_key_u64(j, "stored", r->safe);
	json_key_u64(j, "known", r->known);
}

/* Reports an acknowledgement: the events that it covers are safe once it is read. */
static int report_batch(const struct loading *l, bool is_last)
{
	const struct archive_report *r = archive_report(l->a);
	struct buf b = BUF_INIT(4096);
	struct json j;

	if (!l->options->json)
		return CMD_OK;
	json_init(&j, &b);
	json_object(&j);
	put_counts(&j, r);
	if (is_last) {
		json_key_u64(&j, "left_out", r->left_out + r->unnumbered);
		json_key_u64(&j, "fields_left_out", r->fields_left_out);
		json_key_bool(&j, "is_done", true);
	}
	json_object_end(&j);
	return cmd_json_line(&j, &b);
}

static void report(const char *text, uint64_t n)
{
	if (n)
		cmd_warn("%" PRIu64 " %s", n, text);
}

static int report_end(const struct loading *l)
{
	const struct archive_report *r = archive_report(l->a);

	report("events are of types that the archive has no room for, and were left out",
	       r->left_out);
	report("events have numbers that no archive can have, and were left out", r->unnumbered);
	report("values are of fields that the archive has no room for, and were left out",
	       r->fields_left_out);
	if (!l->options->json)
		printf("%" PRIu64 " events stored, %" PRIu64 " were there already\n", r->safe,
		       r->known);
	else if (report_batch(l, true) != CMD_OK)
		return CMD_FAILURE;
	return r->left_out || r->unnumbered || r->fields_left_out ? CMD_DAMAGED : CMD_OK;
}

/* --- events */

/*
 * Returns the stream of a text, which does not name one. It is derived from the first event. The
 * same text, also a longer version, is the same stream under any file name. Texts that continue
 * differently are counted.
 */
static int stream_of_text(const struct event *ev, uint32_t nth, uint64_t *out, struct err *e)
{
	static const struct hash_key of_text;
	struct buf b = BUF_INIT(2 * EV_RECORD_MAX_BYTES + 64);
	int rc = evtype_encode(&b, 1, ev->type, false, e);

	evtype_put_values(&b, ev->value, ev->type->nfield, false);
	buf_put_u64le(&b, (uint64_t)ev->wall_ns);
	if (nth)
		buf_put_u32le(&b, nth);
	if (!rc && b.failed)
		rc = err_nomem(e);
	if (!rc)
		*out = hash_sip13(&of_text, b.p, b.n) | 1;
	buf_done(&b);
	return rc;
}

static int put(void *arg, const struct event *ev)
{
	struct loading *l = arg;
	struct event of_text = *ev;
	struct err e = { 0 };
	int got = 0;

	if (!ev->stream) {
		if (!l->text_stream) {
			got = stream_of_text(ev, l->text, &l->text_stream, &e);
			archive_compare(l->a, true);
		}
		of_text.stream = l->text_stream;
		ev = &of_text;
	}
	got = got ? got : archive_put(l->a, ev, &e);
	if (got == -ERR_EXISTS)
		return OTHER_TEXT;
	if (got < 0)
		return logplace_fail(l->options->archive, &e);
	return got ? report_batch(l, false) : CMD_OK;
}

/* The archive itself must not be opened as a log: closing it would release SQLite's locks on it. */
static bool is_itself(const struct loading *l, const char *path)
{
	struct stat a, b;

	if (arpg_is_url(path) || arpg_is_url(l->options->archive))
		return str_eq(path, l->options->archive);
	return !stat(path, &a) && !stat(l->options->archive, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int commit(struct loading *l)
{
	struct err e = { 0 };
	int rc = archive_commit(l->a, &e);

	return rc == -ERR_EXISTS ? OTHER_TEXT
	       : rc		 ? logplace_fail(l->options->archive, &e)
				 : CMD_OK;
}

static int try_file(struct loading *l, const struct logread_options *read, const char *path)
{
	int rc, end;

	l->text_stream = 0;
	archive_compare(l->a, false);
	rc = logread_file(read, path, put, l);
	if (!l->text_stream || (rc != CMD_OK && rc != CMD_DAMAGED))
		return rc;
	end = commit(l);
	return end != CMD_OK ? end : rc;
}

static int load_file(struct loading *l, const struct logread_options *read, const char *path)
{
	int rc;

	if (is_itself(l, path))
		return cmd_fail(CMD_USAGE, "%s: an archive is not loaded into itself",
				logplace_name(path));
	for (l->text = 0; (rc = try_file(l, read, path)) == OTHER_TEXT && l->text < TEXTS_MAX &&
			  logread_can_be_read_again(path);
	     l->text++)
		;
	if (rc != OTHER_TEXT)
		return rc;
	cmd_warn(
		"%s: begins with the same event as another text that is there, and %s: nothing of it was stored",
		path, l->text == TEXTS_MAX ? "so do too many" : "cannot be read twice");
	return CMD_DAMAGED;
}

/* Damage in one file does not prevent reading the others. */
static int load_all(struct loading *l, const struct logread_options *read, char **files)
{
	char input[] = "-";
	char *only[] = { input, NULL };
	int rc, worst = CMD_OK;

	for (char **f = files[0] ? files : only; *f; f++) {
		rc = load_file(l, read, *f);
		if (rc != CMD_OK && rc != CMD_DAMAGED)
			return rc;
		worst = rc != CMD_OK ? rc : worst;
	}
	rc = commit(l);
	return rc != CMD_OK ? rc : worst;
}

int logarchive_load(const struct logarchive_options *w, const struct logread_options *read,
		    char **files)
{
	struct loading l = { .options = w };
	struct err e = { 0 };
	int rc, reported;

	if (archive_open(w->archive, AR_WRITE, 0, &l.a, &e))
		return logplace_fail(w->archive, &e);
	archive_set_batch(l.a, w->batch);
	rc = load_all(&l, read, files);
	if (rc == CMD_OK || rc == CMD_DAMAGED) {
		reported = report_end(&l);
		rc = reported != CMD_OK ? reported : rc;
	}
	archive_close(l.a);
	return rc;
}
