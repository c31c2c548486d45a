/* SPDX-License-Identifier: Apache-2.0 */
/* omig log lifelines: shows the slow stage on a terminal, as a page or as a picture. */
#include "common/base/str.h"
#include "eventlog/lifeline/lifepage.h"
#include "eventlog/lifeline/lifewords.h"
#include "eventlog/text/evout.h"
#include "eventlog/text/evwords.h"
#include "tools/cmd/cmd.h"
#include "tools/events/logplace.h"
#include "tools/events/logread.h"
#include "tools/term/outfile.h"
#include "tools/term/table.h"
#include "tools/term/term.h"

#include <stdlib.h>
#include <string.h>

struct lifelines_options {
	struct logread_options read;
	const char *key, *stages, *where, *from, *to, *output, *form;
	struct life_options life;
	struct arevents_options part; /* of archives */
	struct evwhere conditions;
	char *words[2]; /* owned: keys and stages, cut at their commas */
};

/* Splits a copy at the commas. Returns -1 for an empty word or too many words. */
static int cut(const char *list, char **copy, const char **word, unsigned max, unsigned *n)
{
	*copy = list ? str_dup(list) : NULL;
	*n = 0;
	for (char *s = *copy, *end; s; s = end) {
		end = strchr(s, ',');
		if (end)
			*end++ = '\0';
		if (!*s || *n == max)
			return -1;
		word[(*n)++] = s;
	}
	return list && !*copy ? -1 : 0;
}

/* 90s, 1.5ms: since the first event. Else a time of the day, or seconds since 1970. */
static int read_time(const char *s, nsec_t *out, bool *is_relative)
{
	*is_relative =
		!opt_to_nsec(s, 0, LIFE_WALL_MAX_NS, out) && strspn(s, "0123456789.") != strlen(s);
	return *is_relative || evwords_iso(s, strlen(s), out) ? 0 : -1;
}

static bool holds(const void *arg, const struct event *ev)
{
	return evattr_fulfil(ev, arg);
}

static int read_options(const struct opt_spec *spec, struct lifelines_options *w)
{
	struct life_options *l = &w->life;
	struct err e = { 0 };

	l->from = INT64_MIN;
	l->to = INT64_MAX;
	if (cut(w->key, &w->words[0], l->key, LIFE_KEYS_MAX, &l->nkey))
		return cmd_usage(spec, "--key is up to %d names of fields with commas between",
				 LIFE_KEYS_MAX);
	if (cut(w->stages, &w->words[1], l->stage, LIFE_STAGES_MAX, &l->nstage))
		return cmd_usage(spec, "--stages is up to %d names of events with commas between",
				 LIFE_STAGES_MAX);
	if ((w->from && read_time(w->from, &l->from, &l->is_from_relative)) ||
	    (w->to && read_time(w->to, &l->to, &l->is_to_relative)))
		return cmd_usage(
			spec,
			"--from and --to are times like 2026-11-22T10:00:00Z, or 2s, 150ms since the first event");
	if (logread_form(&w->read, w->form))
		return cmd_usage(spec, "--form is auto, olog, ulm, bp, lite or xml");
	if (!w->where)
		return CMD_OK;
	if (evwhere_read(w->where, &w->conditions, &e))
		return cmd_usage(spec, "--where: %s", e.text);
	l->where = holds;
	l->where_arg = &w->conditions;
	return CMD_OK;
}

/* --- output */

static struct table *make_table(const struct life_model *m)
{
	static const char *const heads[] = { "STEP", "SHARE", "MEDIAN", "P95", "MOST", "N" };
	struct table *t = table_new(6, heads, "lrrrrr");
	char text[LIFEWORDS_TIME_BYTES + 8];

	for (size_t i = 0; t && i < m->nstep; i++) {
		const struct life_step *s = &m->step[i];

		table_cell(t, "%s", s->name);
		table_cell(t, "%.1f %%", s->share * 100);
		table_cell(t, "%s", lifewords_time(text, s->median));
		table_cell(t, "%s", lifewords_time(text, s->p95));
		table_cell(t, "%s", lifewords_time(text, s->max));
		table_cell(t, "%s", lifewords_count(text, s->n));
	}
	return t;
}

static int put_words(struct buf *out, const struct life_model *m, const char *key)
{
	struct buf behind = BUF_INIT(4096);
	const char *name = lifewords_verdict(m, out, &behind);
	struct table *t = m->nstep ? make_table(m) : NULL;
	int rc = 0;

	buf_printf(out, "%s%s\n", name ? name : "", buf_str(&behind));
	lifewords_facts(m, key, out);
	buf_puts(out, "\n");
	if (t)
		rc = table_print(t, 0, out);
	table_free(t);
	buf_done(&behind);
	return rc || (m->nstep && !t) ? -ERR_NOMEM : 0;
}

static bool is_named(const char *path, const char *end)
{
	size_t n = path ? strlen(path) : 0, len = strlen(end);

	return n > len && str_eq(path + n - len, end);
}

static int write_out(const struct lifelines_options *w, const struct life_model *m,
		     const char *title, const char *summary)
{
	const char *key = w->key ? w->key : "id";
	struct buf b = BUF_INIT(LIFEPAGE_MAX_BYTES);
	struct err e = { 0 };
	int rc;

	if (is_named(w->output, ".svg"))
		rc = lifepage_svg(&b, m, title, key, &e);
	else if (w->output)
		rc = lifepage_html(&b, m, &(struct lifepage_words){ title, key, summary }, &e);
	else if ((rc = put_words(&b, m, key)))
		err_set(&e, ERR_NOMEM, "out of memory");
	if (!w->output)
		term_to_locale(&b);
	rc = rc ? cmd_fail(CMD_FAILURE, "%s", e.text) : outfile_write(w->output, &b);
	buf_done(&b);
	return rc;
}

static void warn(const struct life_model *m)
{
	struct buf b = BUF_INIT(4096);

	lifewords_doubts(m, &b);
	if (b.n)
		cmd_warn("%s", buf_str(&b));
	buf_done(&b);
}

/* --- reading */

static int take(void *arg, const struct event *ev)
{
	struct err e = { 0 };

	return life_event(arg, ev, &e) ? cmd_fail(CMD_FAILURE, "%s", e.text) : CMD_OK;
}

/*
 * Chooses the part of an archive to read. Relative times are known after the first event. A log
 * among others need not contain all stages.
 */
static void choose_part(struct lifelines_options *w, char **files)
{
	const struct life_options *l = &w->life;
	bool is_known = !l->is_from_relative && !l->is_to_relative,
	     is_alone = files[0] && !files[1];

	w->part = (struct arevents_options){ .from = is_known ? l->from : INT64_MIN,
					     .to = is_known ? l->to : INT64_MAX,
					     .name = l->stage,
					     .nname = is_alone ? l->nstage : 0 };
	w->read.part = &w->part;
}

/* The names of the files, without their folders. */
static void name_log(char **files, struct buf *out)
{
	for (char **f = files; *f; f++) {
		const char *name = str_base_name(logplace_name(*f));

		buf_printf(out, "%s%s", out->n ? ", " : "", name);
	}
	if (!out->n)
		buf_puts(out, "standard input");
}

static int make(const struct lifelines_options *w, char **files, struct life *l)
{
	struct buf title = BUF_INIT(64 * 1024);
	const struct life_model *m;
	struct err e = { 0 };
	int rc = logread_files(&w->read, files, take, l), end;

	if (rc != CMD_OK && rc != CMD_DAMAGED)
		return rc;
	if (life_finish(l, &m, &e))
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	warn(m);
	name_log(files, &title);
	end = write_out(w, m, buf_str(&title),
			rc == CMD_DAMAGED
				? "Something in this log could not be read: omig log cat says what."
				: "");
	buf_done(&title);
	return end != CMD_OK ? end : rc;
}

static int run(const struct opt_spec *spec, struct lifelines_options *w, char **files)
{
	int rc = read_options(spec, w);
	struct life *l = rc == CMD_OK ? life_new(&w->life) : NULL;

	choose_part(w, files);
	if (l)
		rc = make(w, files, l);
	else if (rc == CMD_OK)
		rc = cmd_fail(CMD_FAILURE, "out of memory");
	life_free(l);
	free(w->words[0]);
	free(w->words[1]);
	return rc;
}

int cmd_lifelines(int argc, char **argv)
{
	struct lifelines_options w = { .form = "auto" };
	const struct opt table[] = {
		OPTION("key", 'k', "FIELDS",
		       "events with the same values are a line (default: guid, id, ID or a name in .id)",
		       OPT_STR, &w.key),
		OPTION("output", 'o', "FILE",
		       "write a page there, or a picture when it ends in .svg (default: a table of the steps)",
		       OPT_STR, &w.output),
		OPTION("stages", 's', "NAMES",
		       "these events in this order (default: all, as the lines have them)", OPT_STR,
		       &w.stages),
		OPTION("where", 'w', "CONDITIONS",
		       "lines with an event that fulfils them: nbytes > 65536 and host == a",
		       OPT_STR, &w.where),
		OPTION("from", 0, "TIME",
		       "events from then on: 2026-11-22T10:00:00Z, or 2s after the first", OPT_STR,
		       &w.from),
		OPTION("to", 0, "TIME", "events up to then", OPT_STR, &w.to),
		OPTION("form", 0, "FORM",
		       "form of the log: auto, olog, ulm, bp, lite or xml (default: detected)",
		       OPT_STR, &w.form),
		OPTION("quiet", 'q', NULL, "no progress on the terminal", OPT_FLAG,
		       &w.read.is_quiet),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig log lifelines",
		.usage = "[OPTION...] [FILE|ARCHIVE...]",
		.summary = "shows which stage is slow: lines of events that belong together",
		.details =
			"Without a FILE, and for -, the standard input is read. An ARCHIVE is a file of omig log load, or postgresql://... "
			"The page is one file that needs nothing else.",
		.table = table,
	};
	int first, status = cmd_parse(&spec, argc, argv, &first);

	return status >= 0 ? status : run(&spec, &w, argv + first);
}
