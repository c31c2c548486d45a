/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/events/logwrite.h"

#include "common/base/rng.h"
#include "common/base/str.h"
#include "eventlog/evwrite.h"
#include "eventlog/text/evctf.h"
#include "eventlog/text/evout.h"
#include "eventlog/text/evtypes.h"
#include "tools/term/say.h"
#include "tools/events/logread.h"
#include "tools/term/outfile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECE_BYTES (256 * 1024) /* bytes that are written at once */

struct logwrite {
	enum { TO_TEXT, TO_OLOG, TO_CTF } kind;
	const char *path; /* borrowed */
	struct outfile file;
	struct evout text;
	struct evwrite olog;
	struct evtypes types;
	struct evtypes_whole whole;
	struct evctf *ctf;
};

/* --- own format: one stream, whose numbers refer to the original streams */

static int begin_stream(struct logwrite *w)
{
	uint64_t id;
	struct err e = { 0 };

	if (rng_fill_random(&id, sizeof(id), &e))
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	evwrite_init(&w->olog, id, false, 0);
	evtypes_init(&w->types);
	return CMD_OK;
}

/* Begins another stream when a stream has no number for a further type. */
static int next_stream(struct logwrite *w)
{
	struct err e = { 0 };
	int rc = evwrite_cut(&w->olog, true, &e) ? cmd_fail(CMD_FAILURE, "%s", e.text)
						 : outfile_put(&w->file, &w->olog.out, 1);

	evwrite_done(&w->olog);
	evtypes_done(&w->types);
	return rc == CMD_OK ? begin_stream(w) : rc;
}

static int put_olog(struct logwrite *w, const struct event *ev)
{
	const struct evtype *t = evtypes_whole(&w->whole, ev);
	struct err e = { 0 };
	unsigned number;
	bool is_new;
	int rc = t ? evtypes_number(&w->types, &(struct event){ .type = t }, &number, &is_new, &e)
		   : err_set(&e, ERR_LIMIT, "too many constants");

	if (rc == -ERR_LIMIT && t && w->types.n == EV_TYPE_LAST) {
		if (next_stream(w) != CMD_OK)
			return CMD_FAILURE;
		rc = evtypes_number(&w->types, &(struct event){ .type = t }, &number, &is_new, &e);
	}
	if (!rc && is_new)
		rc = evwrite_define(&w->olog, number, t, &e);
	if (!rc)
		rc = evwrite_event(&w->olog, number,
				   &(struct event){ .type = t,
						    .ticks = (uint64_t)ev->wall_ns,
						    .value = ev->value },
				   &e);
	return rc ? cmd_fail(CMD_FAILURE, "%s", e.text)
		  : outfile_put(&w->file, &w->olog.out, PIECE_BYTES);
}

static int end_olog(struct logwrite *w)
{
	struct err e = { 0 };

	if (evwrite_cut(&w->olog, true, &e))
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	return outfile_put(&w->file, &w->olog.out, 1);
}

/* --- all of them */

static int open_ctf(struct logwrite *w)
{
	struct err e = { 0 };

	if (!w->path)
		return cmd_fail(CMD_USAGE, "a CTF trace is a folder: name it with -o");
	return evctf_open(w->path, &w->ctf, &e) ? cmd_fail(CMD_FAILURE, "%s", e.text) : CMD_OK;
}

static int open_any(struct logwrite *w, const char *form)
{
	enum evout_form text;
	int rc;

	if (w->kind == TO_CTF)
		return open_ctf(w);
	if (w->kind == TO_TEXT && evout_from_name(form, &text))
		return cmd_fail(CMD_USAGE,
				"--to is olog, ulm, bp, lite, xml, json, chrome, otlp or ctf");
	if (w->kind == TO_OLOG && !w->path && isatty(1))
		return cmd_fail(CMD_USAGE,
				"an event log is not printed on a terminal: use -o FILE");
	rc = outfile_open(&w->file, w->path);
	if (rc == CMD_OK && w->kind == TO_OLOG)
		rc = begin_stream(w);
	else if (rc == CMD_OK)
		evout_begin(&w->text, text);
	return rc;
}

int logwrite_open(const char *form, const char *path, struct logwrite **out)
{
	struct logwrite *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return cmd_fail(CMD_FAILURE, "out of memory");
	w->kind = str_eq(form, "ctf") ? TO_CTF : str_eq(form, "olog") ? TO_OLOG : TO_TEXT;
	w->path = path && str_eq(path, "-") ? NULL : path;
	rc = open_any(w, form);
	if (rc == CMD_OK)
		*out = w;
	else
		logwrite_close(w);
	return rc;
}

int logwrite_event(struct logwrite *w, const struct event *ev)
{
	struct err e = { 0 };

	if (w->kind == TO_OLOG)
		return put_olog(w, ev);
	if (w->kind == TO_CTF)
		return evctf_event(w->ctf, ev, &e) ? cmd_fail(CMD_FAILURE, "%s", e.text) : CMD_OK;
	evout_event(&w->text, ev);
	return outfile_put(&w->file, &w->text.b, PIECE_BYTES);
}

int logwrite_flush(struct logwrite *w)
{
	return w->kind == TO_TEXT ? outfile_put(&w->file, &w->text.b, 1) : CMD_OK;
}

static int end_text(struct logwrite *w)
{
	evout_end(&w->text);
	return outfile_put(&w->file, &w->text.b, 1);
}

static int end_ctf(struct logwrite *w)
{
	struct err e = { 0 };
	uint64_t moved;

	if (evctf_finish(w->ctf, &moved, &e))
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	if (!moved)
		return CMD_OK;
	cmd_warn(
		"%" PRIu64
		" events have another time: a CTF trace has none before its clock, and none that goes back",
		moved);
	return CMD_DAMAGED;
}

int logwrite_finish(struct logwrite *w)
{
	int rc = w->kind == TO_TEXT ? end_text(w) : w->kind == TO_OLOG ? end_olog(w) : end_ctf(w);

	return rc == CMD_OK ? outfile_finish(&w->file) : rc;
}

void logwrite_close(struct logwrite *w)
{
	if (!w)
		return;
	outfile_close(&w->file);
	evout_done(&w->text);
	evwrite_done(&w->olog);
	evtypes_done(&w->types);
	evctf_close(w->ctf);
	free(w);
}
