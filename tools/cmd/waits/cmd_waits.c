/* SPDX-License-Identifier: Apache-2.0 */
/* omig waits: which rank waits for which, and in which call. */
#include "tools/cmd/cmd.h"

#include "common/base/limits.h"
#include "tools/session/show.h"
#include "tools/cmd/waits/exchange_watch.h"
#include "tools/waits/waits_show.h"

#include <stdio.h>

struct waits_options {
	struct exchange_watch watch;
	struct term term;
	bool csv;
	int64_t shown;
};

static int show_json(const struct waits *w, Omis_reply reply)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	waits_json(j, w);
	show_coverage_json(j, reply);
	json_object_end(j);
	return show_doc_next(&d);
}

static int show_text(struct waits_options *o, const struct waits *w, Omis_reply reply)
{
	struct buf out = BUF_INIT(SHOW_MAX_BYTES);
	int rc = 0;

	if (o->shown && !o->csv)
		buf_puts(&out, "\n");
	if (o->csv)
		waits_csv(&out, w, !o->shown);
	else
		rc = waits_show(&o->term, w, &out);
	rc = rc || out.failed ? cmd_fail(CMD_FAILURE, "out of memory") : CMD_OK;
	fwrite(out.p, 1, out.n, stdout);
	if (fflush(stdout))
		rc = CMD_FAILURE;
	show_missing(&o->term, stderr, reply);
	buf_done(&out);
	return rc;
}

static int show(void *arg, const struct exchange *x, Omis_reply reply)
{
	struct waits_options *o = arg;
	struct waits w;
	int rc;

	if (!waits_make(&w, x))
		return cmd_fail(CMD_FAILURE, "out of memory");
	rc = o->watch.common.json ? show_json(&w, reply) : show_text(o, &w, reply);
	waits_done(&w);
	o->shown++;
	return rc;
}

static const char details[] =
	"Counts calls by partner for the interval, and then shows for each pair how long one rank waits\n"
	"for the other: in sends, receives, and calls that wait for requests. SHARE is of the rank's\n"
	"time. A call that waits for requests of several partners ends with the last of them, and MPI\n"
	"does not report which one that was. Its time goes to the partners that are later than the\n"
	"median rank, which are less in MPI. INFERRED is that part; the truth lies between LEAST and\n"
	"MOST. COLLECTIVE has calls that ranks make together. LAST is the rank with clearly the least\n"
	"time there, if all ranks make the call equally often. CSV and JSON have all pairs, in seconds.\n"
	"Exit status 6 when a node does not answer.";

int cmd_waits(int argc, char **argv)
{
	struct waits_options o = { .watch = EXCHANGE_WATCH_INIT };
	const struct opt table[] = {
		EXCHANGE_WATCH_OPTIONS(&o.watch),
		OPTION("csv", 0, NULL, "write CSV", OPT_FLAG, &o.csv),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig waits",
		.usage = "[OPTION...]",
		.summary = "shows which rank waits for which, how long, and in which call",
		.details = details,
		.table = table,
	};
	int exit_status = cmd_parse(&spec, argc, argv, NULL);

	if (exit_status >= 0)
		return exit_status;
	if (o.csv && o.watch.common.json)
		return cmd_usage(&spec, "--csv or --json");
	term_open(&o.term, o.watch.common.color);
	o.watch.show = show;
	o.watch.arg = &o;
	o.watch.is_quiet = o.csv;
	return exchange_watch_run(&o.watch);
}
