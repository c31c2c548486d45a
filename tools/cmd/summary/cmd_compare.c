/* SPDX-License-Identifier: Apache-2.0 */
/* omig compare: what changed between two summaries, and whether that is more than noise. */
#include "common/base/str.h"
#include "common/json/json.h"
#include "stats/student.h"
#include "tools/cmd/summary/cmd_summary.h"
#include "tools/session/show.h"
#include "tools/summary/compare.h"
#include "tools/summary/compare_parts.h"
#include "tools/term/say.h"

#include <stdio.h>

#define PART_ROWS 10 /* rows of sizes and call sites, after the calls */
#define OUT_MAX_BYTES (64u << 20) /* a line for each call of each program */

struct compare {
	struct compare_options options; /* in percent */
	bool json, csv;
	enum compare_by by;
	struct buf out;
	struct json j;
	size_t programs, sure; /* sure: of all */
};

static void put(struct compare *w, const struct comparison *c)
{
	w->programs++;
	w->sure += c->sure;
	if (w->json) {
		compare_json(c, &w->j);
	} else if (w->csv) {
		compare_csv(c, w->programs, &w->out);
	} else {
		if (w->programs > 1)
			buf_putc(&w->out, '\n');
		compare_say(c, &w->out);
		buf_puts(&w->out, "\n\n");
		if (compare_table(c, &w->out))
			w->out.failed = true;
	}
}

static size_t worlds_of(const struct summary *s)
{
	size_t n = 0;

	while (n < s->n && s->section[n].world_size)
		n++;
	return n;
}

/* Compares programs in order. Reports programs of one summary only. */
static int put_all(struct compare *w, const struct summary *a, const struct summary *b)
{
	const struct compare_options options = { w->options.level / 100, w->options.least / 100 };
	size_t of_a = worlds_of(a), of_b = worlds_of(b);

	if (of_a != of_b)
		cmd_warn("the first has %zu MPI programs, the second %zu: the last ones are not "
			 "compared",
			 of_a, of_b);
	for (size_t i = 0; i < of_a && i < of_b; i++) {
		struct comparison c;

		if (compare_sections(&a->section[i], &b->section[i], &options, &c))
			return cmd_fail(CMD_FAILURE, "out of memory");
		put(w, &c);
		compare_done(&c);
	}
	return w->programs ? CMD_OK
			   : cmd_fail(CMD_FAILURE, "there is no MPI program in both of them");
}

/* --- sizes and call sites, of whole jobs */

static const char *const names[] = { "", "calls", "sizes", "sites" };
static const char *const remedies[] = { "", "", "omig run --summary counts them with bytes",
					"omig run --summary --callsites counts them" };

/* Without an interval no change is certain. */
static int put_parts(struct compare *w, const struct summary *both[2], enum compare_by by)
{
	struct compare_parts p;

	if (compare_parts(both[0], both[1], by, &p))
		return cmd_fail(CMD_FAILURE, "out of memory");
	if (w->json) {
		json_key(&w->j, names[by]);
		compare_parts_json(&p, &w->j);
	} else if (w->csv) {
		compare_parts_csv(&p, &w->out);
	} else {
		if (w->by == COMPARE_ALL && p.n)
			buf_putc(&w->out, '\n');
		if (compare_parts_table(&p, w->by == COMPARE_ALL ? PART_ROWS : 0, &w->out))
			w->out.failed = true;
	}
	compare_parts_done(&p);
	return CMD_OK;
}

/* Data of one summary only cannot be compared, which is reported. */
static int put_known_parts(struct compare *w, const struct summary *both[2], enum compare_by by)
{
	bool has[2] = { compare_has_parts(both[0], by), compare_has_parts(both[1], by) };

	if (has[0] && has[1])
		return put_parts(w, both, by);
	if (w->by != COMPARE_ALL)
		return cmd_fail(CMD_NOTFOUND, "the %s summary has no %s: %s",
				has[0] ? "second" : "first", names[by], remedies[by]);
	if (has[0] != has[1])
		cmd_warn("the %s summary has no %s: they are not compared",
			 has[0] ? "second" : "first", names[by]);
	return CMD_OK;
}

static int put_rows(struct compare *w, const struct summary *a, const struct summary *b)
{
	const struct summary *both[2] = { a, b };
	int status = CMD_OK;

	if (w->by == COMPARE_ALL || w->by == COMPARE_BY_CALL) {
		if (w->json)
			json_key_array(&w->j, "programs");
		else if (w->csv)
			compare_csv_head(&w->out);
		status = put_all(w, a, b);
		if (w->json)
			json_array_end(&w->j);
	}
	for (enum compare_by by = COMPARE_BY_SIZE; by <= COMPARE_BY_SITE; by++)
		if (status == CMD_OK && (w->by == COMPARE_ALL ? !w->csv : w->by == by))
			status = put_known_parts(w, both, by);
	return status;
}

static int finish(struct compare *w, const struct summary *a, const struct summary *b)
{
	bool is_part = a->nnote || b->nnote;

	if (w->json) {
		json_key_bool(&w->j, "part", is_part);
		json_key_double(&w->j, "level", w->options.level / 100);
		json_object_end(&w->j);
		if (!show_json_line(&w->j, &w->out))
			return CMD_FAILURE;
	} else if (w->out.failed) {
		return cmd_fail(CMD_FAILURE, "out of memory");
	} else {
		fwrite(w->out.p, 1, w->out.n, stdout);
	}
	if (is_part)
		cmd_warn(
			"a summary does not cover all of its job: omig show reports the missing part");
	return w->sure ? CMD_CHANGED : is_part ? CMD_PARTIAL : CMD_OK;
}

static int compare(struct compare *w, const char *first, const char *second)
{
	struct summary a = { 0 }, b = { 0 };
	int status = cmd_read_summary(first, &a);

	if (status == CMD_OK)
		status = cmd_read_summary(second, &b);
	w->out = BUF_INIT(OUT_MAX_BYTES);
	json_init(&w->j, &w->out);
	if (w->json)
		json_object(&w->j);
	if (status == CMD_OK)
		status = put_rows(w, &a, &b);
	if (status == CMD_OK)
		status = finish(w, &a, &b);
	buf_done(&w->out);
	summary_done(&a);
	summary_done(&b);
	return status;
}

int cmd_compare(int argc, char **argv)
{
	struct compare w = { .options = { .level = 95, .least = 0.1 } };
	const struct opt table[] = {
		OPTION("json", 'j', NULL, "one JSON object", OPT_FLAG, &w.json),
		OPTION("csv", 0, NULL, "comma-separated values, with a head", OPT_FLAG, &w.csv),
		OPTION("by", 0, "all|call|size|site",
		       "compare these only (default all that both have; as CSV by call)",
		       OPT_CHOICE, &w.by),
		OPTION("sure", 0, "PERCENT",
		       "confidence level for all rows of a program together (default 95)",
		       OPT_DOUBLE, &w.options.level),
		OPTION("least", 0, "PERCENT",
		       "call smaller changes small, in percent of the time of a rank (default 0.1)",
		       OPT_DOUBLE, &w.options.least),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig compare",
		.usage = "[OPTION...] BEFORE AFTER",
		.summary = "shows what changed between two summaries of omig run --summary=FILE",
		.details =
			"A change is sure when it exceeds what the spread over the ranks explains, and what the\n"
			"spread over time explains. Sizes of messages and call sites have one sum each, so that\n"
			"nothing is sure there. A site is a function and its file: lines may move. Exit status 0 when no call surely changed, 7 when one did,\n"
			"6 when none did and a summary is incomplete.",
		.table = table,
	};
	int first, exit_status = cmd_parse(&spec, argc, argv, &first);

	if (exit_status >= 0)
		return exit_status;
	if (first + 2 != argc)
		return cmd_usage(&spec, "which two files?");
	if (str_eq(argv[first], "-") && str_eq(argv[first + 1], "-"))
		return cmd_usage(&spec, "standard input is one file: name the other one");
	if (w.json && w.csv)
		return cmd_usage(&spec, "--json or --csv, not both");
	if (!(w.options.level / 100 >= STUDENT_LEVEL_MIN && w.options.level / 100 <= 0.9999))
		return cmd_usage(&spec, "--sure is a percentage from 1 to 99.99");
	if (!(w.options.least >= 0 && w.options.least <= 100))
		return cmd_usage(&spec, "--least is a percentage from 0 to 100");
	return compare(&w, argv[first], argv[first + 1]);
}
